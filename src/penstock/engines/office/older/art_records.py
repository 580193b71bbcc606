"""Records that hold others, as PPT is made of them, and drawings in DOC and XLS."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEAD_BYTES = 8
CONTAINER = 0xF  # the version of a record that holds others


class ArtRecord(NamedTuple):
    """A record. One that holds others has no bytes of its own: what it holds follows."""

    kind: int
    instance: int
    body: bytes = b""


def art_records(data: bytes, start: int = 0, end: int | None = None, opened: int = 0) -> Iterator[ArtRecord]:
    """Yields all records in their order. Records of the kind `opened` hold others without saying so."""
    end = len(data) if end is None else min(end, len(data))
    while start + HEAD_BYTES <= end:
        head, kind, size = struct.unpack_from("<HHI", data, start)
        start += HEAD_BYTES
        if head & 0xF == CONTAINER or kind == opened:
            yield ArtRecord(kind, head >> 4)
        else:
            yield ArtRecord(kind, head >> 4, data[start : min(start + size, end)])
            start += size


def art_record_at(data: bytes, start: int, opened: int = 0) -> Iterator[ArtRecord]:
    """Yields the record that begins at a place, and all that it holds."""
    size = int.from_bytes(data[start + 4 : start + HEAD_BYTES], "little")
    return art_records(data, start, start + HEAD_BYTES + size, opened)
