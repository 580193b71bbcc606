"""Reads the size of a JPEG or PNG from its header, without decoding it."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from penstock.errors import BadInput

PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class JpegShape:
    width: int
    height: int
    channels: int


def jpeg_shape(data: bytes) -> JpegShape:
    """Size and channels from a JPEG's frame header. Raises BadInput for other bytes."""
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or 0xD0 <= marker <= 0xD7 or marker == 0x01:  # fill bytes and bare markers
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width, channels = struct.unpack(">HHB", data[at + 5 : at + 10])
            return JpegShape(width, height, channels)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    raise BadInput("the picture of a page is not a JPEG.")


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height of a JPEG or PNG. Raises BadInput for other bytes."""
    if data.startswith(PNG) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    shape = jpeg_shape(data)
    return shape.width, shape.height
