"""The records of a workbook's stream (BIFF 8): their kinds, their bytes, and the texts in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTINUE = 0x3C
HEAD_BYTES = 4
WIDE, PHONETIC, RICH = 1, 4, 8  # flags of a text: two bytes a letter; what stands behind its letters


class BiffRecord(NamedTuple):
    """A record. Its parts are its own bytes and those of the records that go on with it."""

    kind: int
    parts: tuple[bytes, ...]

    @property
    def body(self) -> bytes:
        return self.parts[0]


def records_of(data: bytes, start: int = 0) -> Iterator[BiffRecord]:
    """Yields the records. A last one that is cut off is left out."""
    kind, parts = -1, list[bytes]()
    while start + HEAD_BYTES <= len(data):
        found, size = struct.unpack_from("<HH", data, start)
        start += HEAD_BYTES
        if start + size > len(data):
            break
        if found == CONTINUE and parts:
            parts.append(data[start : start + size])
        else:
            if parts:
                yield BiffRecord(kind, tuple(parts))
            kind, parts = found, [data[start : start + size]]
        start += size
    if parts:
        yield BiffRecord(kind, tuple(parts))


def small(body: bytes, at: int) -> int:
    """Returns a number of two bytes; 0 beyond the end."""
    return int.from_bytes(body[at : at + 2], "little")


def long(body: bytes, at: int) -> int:
    """Returns a number of four bytes; 0 beyond the end."""
    return int.from_bytes(body[at : at + 4], "little")


class BiffTexts:
    """Reads texts one after another. A text that goes on in the next part says its width anew."""

    def __init__(self, parts: Sequence[bytes], at: int = 0) -> None:
        self._parts = parts
        self._part, self._at = 0, at

    @property
    def is_at_end(self) -> bool:
        self._step()
        return self._part >= len(self._parts)

    def next(self, count_bytes: int = 2) -> str:
        """Returns the next text, as far as it is there. Its length is said in so many bytes."""
        count, flags = self._number(count_bytes), self._number(1)
        runs = self._number(2) if flags & RICH else 0
        more = self._number(4) if flags & PHONETIC else 0
        text = self._letters(count, flags)
        self._take(4 * runs + more)
        return text

    def letters(self, count: int) -> str:
        """Returns a text whose length is said elsewhere, or as much of it as is left."""
        return self._letters(count, self._number(1))

    def _letters(self, count: int, flags: int) -> str:
        found = list[str]()
        while count > 0 and self._part < len(self._parts):
            left = len(self._parts[self._part]) - self._at
            if left <= 0:
                self._step()
                flags = self._number(1)
                continue
            size = 2 if flags & WIDE else 1
            taken = min(count, max(1, left // size))
            raw = self._parts[self._part][self._at : self._at + taken * size]
            found.append(raw.decode("utf-16-le" if size == 2 else "latin-1", "replace"))
            self._at += taken * size
            count -= taken
        return "".join(found).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")

    def _step(self) -> None:
        while self._part < len(self._parts) and self._at >= len(self._parts[self._part]):
            self._part, self._at = self._part + 1, 0

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def _take(self, size: int) -> bytes:
        taken = b""
        self._step()
        while len(taken) < size and self._part < len(self._parts):
            more = self._parts[self._part][self._at : self._at + size - len(taken)]
            taken += more
            self._at += len(more)
            self._step()
        return taken
