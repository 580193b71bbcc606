"""Workbooks of Excel 97 made by hand, record by record."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.support.made_ole import art

PICTURE_HEAD = 17  # bytes before a PNG: its hash, and one


def record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def text(words: str, count: str = "<H") -> bytes:
    return struct.pack(count, len(words)) + b"\1" + words.encode("utf-16-le")


def shared_text(row: int, column: int, number: int) -> bytes:
    return record(0xFD, struct.pack("<HHHI", row, column, 0, number))


def double(row: int, column: int, style: int, number: float) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, style, number))


def comment(row: int, column: int, shape: int, words: str) -> bytes:
    drawn = record(0x5D, struct.pack("<HHHH", 0x15, 0x12, 0x19, shape) + bytes(14))
    head = record(0x1B6, bytes(10) + struct.pack("<HH", len(words), 0) + bytes(4))
    said = record(0x3C, b"\1" + words.encode("utf-16-le"))
    return drawn + head + said + record(0x1C, struct.pack("<4H", row, column, 0, shape) + text("Kim"))


def kept_picture(png: bytes) -> bytes:
    entry = art(0xF007, bytes(36) + art(0xF01E, bytes(PICTURE_HEAD) + png, 0x6E0 << 4), 0x62)
    return record(0xEB, art(0xF000, art(0xF001, entry, 0x1F), 0xF))


def shown_picture(number: int) -> bytes:
    named = art(0xF00B, struct.pack("<HI", 0x4104, number), 1 << 4 | 3)
    return record(0xEC, art(0xF002, art(0xF004, named, 0xF), 0xF))


def made_stream(
    sheets: Sequence[tuple[str, int, bytes]],
    strings: bytes = b"",
    formats: Sequence[str] = (),
    more: bytes = b"",
) -> bytes:
    """Returns a workbook of sheets: name, how it is hidden, records. Style n has format n, from 1."""
    styles = record(0xE0, struct.pack("<HH", 0, 0))
    styles += b"".join(record(0xE0, struct.pack("<HH", 0, 164 + place)) for place in range(len(formats)))
    forms = (record(0x41E, struct.pack("<H", 164 + place) + text(form)) for place, form in enumerate(formats))
    head = begin(0x05) + b"".join(forms) + styles + strings + more
    size = len(head) + sum(len(record(0x85, bytes(6) + text(name, "<B"))) for name, _, _ in sheets) + 4
    listed, parts = b"", b""
    for name, hidden, body in sheets:
        listed += record(0x85, struct.pack("<IBB", size + len(parts), hidden, 0) + text(name, "<B"))
        parts += begin(0x10) + body + record(0x0A)
    return head + listed + record(0x0A) + parts


def begin(kind: int) -> bytes:
    return record(0x809, struct.pack("<HH", 0x600, kind) + bytes(12))
