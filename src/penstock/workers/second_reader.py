"""The cheap reader next to a served model: it reads the same pictures, so that both can be compared."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from penstock.choices import SecondReading
from penstock.engines.image.codec import decode_rgb
from penstock.engines.ocr.reader import PageReader
from penstock.errors import Failure
from penstock.processes.part_pool import PartPool
from penstock.processes.resources import cores

DEADLINE_S = 120.0  # of one page's pictures; a page of small type takes 10 s


class SecondReader:
    """Reads pictures of regions with the built-in readers, one page after the other, on all cores.

    With "none" it reads nothing. Thread-safe; its weights are loaded with the first picture.
    """

    def __init__(self, kind: SecondReading) -> None:
        self.name = "" if kind == "none" else kind
        self._pool = PartPool(cores(), "second_reader", DEADLINE_S) if self.name else None
        self._reader: PageReader | None = None
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def read(self, pictures: Sequence[bytes]) -> list[str | None]:
        """Returns a text for each picture; None where it was not read."""
        if self._pool is None:
            return [None] * len(pictures)
        with self._turn:  # the time of a picture begins when the pages before it are read
            texts = self._pool.map([partial(self._text, picture) for picture in pictures])
        return [None if isinstance(text, Failure) else text for text in texts]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
        if self._reader is not None:
            self._reader.close()

    def _text(self, picture: bytes) -> str | None:
        pixels = decode_rgb(picture)
        if pixels is None:
            return None
        reader = self._opened()
        lines = reader.find(pixels)
        return "\n".join(line.text for line in reader.read(pixels, lines, reader.script(pixels, lines)))

    def _opened(self) -> PageReader:
        with self._lock:
            if self._reader is None:
                self._reader = PageReader(effort="fast")
            return self._reader
