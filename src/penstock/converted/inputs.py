"""What may be given to `convert`, and the file that each becomes.

Paths stay where they are. Everything else is written to the workspace, so that a page of it is read in a
process that can be killed, like a page of any file.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from penstock.errors import UsageError
from penstock.sources import formats
from penstock.sources.files import FileInspector
from penstock.sources.folders import Dataset
from penstock.sources.formats import READABLE
from penstock.sources.inputs import FoundFile, expand
from penstock.sources.names.safe import safe_name
from penstock.sources.remote.download import downloaded, is_url
from penstock.store.atomic_files import store_errors

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Image.Image | NDArray[Any]

MAX_STREAM_BYTES = 1 << 32  # a stream may never end
CHUNK_BYTES = 1 << 20
PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
GIVE = "Give a path, an http(s) address, bytes, a binary stream, a PIL image or a numpy array, or a list."


def one_file(source: Any, folder: Path) -> str:
    """Returns the one file that a source is. Raises UsageError for what may be many documents."""
    text = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    if isinstance(text, str) and not is_url(text) and not os.path.lexists(text):
        if glob.has_magic(text) or text.startswith("@") or text == "-":
            raise UsageError(f"{text!r} may be many documents.", f"Give a list: convert([{text!r}]).")
    elif isinstance(text, str) and Path(text).is_dir():
        return _only_document(text)
    return as_file(source, folder)


def _only_document(folder: str) -> str:
    """Returns the one document of a folder. Raises UsageError where there are several."""
    inspect = FileInspector(None)
    files = list(islice(_documents_in(folder, inspect), 2))
    if len(files) == 1 and isinstance(files[0], FoundFile):
        return str(files[0].path)
    if files:
        advice = f"For all of them: convert([{folder!r}]). For one page after the other: parse({folder!r})."
        raise UsageError(f"{folder} is a folder of several documents.", advice)
    return folder  # the listing says what it lacks


def _documents_in(folder: str, inspect: FileInspector) -> Iterator[FoundFile | Dataset]:
    for entry in expand([folder]):
        if isinstance(entry, Dataset) or (isinstance(entry, FoundFile) and inspect(entry) is not None):
            yield entry


def as_file(source: Any, folder: Path) -> str:
    """Returns the path of a source, written below `folder` if it has none. Its name is the document's."""
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        return _downloaded(text, folder) if isinstance(text, str) and is_url(text) else os.fsdecode(text)
    if isinstance(source, bytes | bytearray | memoryview):
        return _written(io.BytesIO(source), folder, "")
    if isinstance(source, Image.Image):
        return _png(source, folder)
    if isinstance(source, np.ndarray):
        return _png(_from_array(source), folder)
    if hasattr(source, "read"):
        name = getattr(source, "name", "")
        return _written(source, folder, Path(name).stem if isinstance(name, str) else "")
    raise UsageError(f"A {type(source).__name__} is no document.", GIVE)


def _downloaded(url: str, folder: Path) -> str:
    with store_errors(folder):
        return str(downloaded(url, folder))


def _written(stream: IO[bytes], folder: Path, stem: str) -> str:
    """Copies a stream. Raises UsageError where it is no document, before more than its head is read."""
    head = stream.read(formats.HEAD_BYTES)
    if isinstance(head, str):
        raise UsageError("The stream was opened as text.", 'Open it with open(path, "rb").')
    kind = formats.sniff(head)
    if kind is None:
        what = "are not of a kind that Penstock reads" if head else "are empty"
        raise UsageError(f"The bytes {what}.", READABLE)
    part = folder / "part"
    with store_errors(folder):
        folder.mkdir(parents=True)
        file = part.open("wb")
    with file:
        for chunk in _bounded(head, stream):
            with store_errors(part):
                file.write(chunk)
    return _named(part, stem, kind)


def _bounded(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    size, chunk = 0, head
    while chunk:
        size += len(chunk)
        if size > MAX_STREAM_BYTES:
            raise UsageError(f"The stream has more than {MAX_STREAM_BYTES:,} bytes.")
        yield chunk
        chunk = stream.read(CHUNK_BYTES)


def _named(part: Path, stem: str, kind: formats.Kind) -> str:
    path = part.with_name(f"{safe_name(stem) if stem else 'document'}.{kind}")
    with store_errors(path):
        return str(part.replace(path))


def _png(picture: Image.Image, folder: Path) -> str:
    """Writes a picture upright and without loss."""
    upright = _upright(picture)
    path = folder / "image.png"
    dpi = picture.info.get("dpi")
    known = isinstance(dpi, tuple) and len(dpi) == 2 and all(0 < float(value) < 1e4 for value in dpi)
    with store_errors(path):
        folder.mkdir(parents=True)
        upright.save(path, "PNG", compress_level=1, **({"dpi": dpi} if known else {}))
    return str(path)


def _upright(picture: Image.Image) -> Image.Image:
    try:
        upright = ImageOps.exif_transpose(picture)
        return upright if upright.mode in PNG_MODES else upright.convert("RGB")
    except (OSError, ValueError, SyntaxError) as exc:  # its file is opened now: cut off, or closed before
        raise UsageError(f"The picture cannot be read: {exc}.") from exc


def _from_array(array: NDArray[Any]) -> Image.Image:
    """Returns an array as a picture: rows, columns, and 1, 3 (red, green, blue) or 4 channels."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    fits = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if not fits or not array.size:
        raise UsageError(
            f"An array of shape {array.shape} is no picture.",
            "Give rows x columns, or rows x columns x 3 in the order red, green, blue.",
        )
    if array.dtype == np.bool_:
        array = array.astype(np.uint8) * 255
    if array.dtype != np.uint8:
        raise UsageError(f"An array of {array.dtype} is no picture.", "Give uint8, from 0 to 255.")
    return Image.fromarray(np.ascontiguousarray(array))
