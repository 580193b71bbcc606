"""HWP 3 files from scratch, by the description of the format: no sample with a free licence was to be had."""

from __future__ import annotations

import struct
from collections.abc import Sequence

SIGNATURE = b"HWP Document File V3.00 \x1a\x01\x02\x03\x04\x05"
A4 = (21047, 14882, 1400, 1400, 1400, 1400, 700, 700, 0)  # height, width, margins; 1,800 to an inch
LANGUAGES = 7  # each has a list of fonts
PARAGRAPH_END = 13


def made_hwp3(paragraphs: Sequence[str]) -> bytes:
    """Returns a file that is not packed: a header, a list of fonts, no styles, paragraphs."""
    page = bytes(6) + struct.pack("<9H", *A4)
    fonts = (struct.pack("<H", 1) + b"Font".ljust(40, b"\0")) * LANGUAGES
    body = b"".join(_paragraph(text, place == 0) for place, text in enumerate(paragraphs))
    no_styles, end, no_more = bytes(2), bytes(43), bytes(8)
    return SIGNATURE + page.ljust(128, b"\0") + bytes(1008) + fonts + no_styles + body + end + no_more


def _paragraph(text: str, is_first: bool) -> bytes:
    letters = [*map(_code, text), PARAGRAPH_END]
    head = struct.pack("<BHHBB", not is_first, len(letters), 1, 0, 0) + bytes(36)
    shape = bytes(187) if is_first else b""  # the others have that of the one before
    return head + shape + bytes(14) + struct.pack(f"<{len(letters)}H", *letters)


def _code(letter: str) -> int:
    """Returns a letter in Johab."""
    return int.from_bytes(letter.encode("johab"), "big")
