"""Tells what a file is by its first bytes, never by its name."""

from __future__ import annotations

import struct
from typing import Literal

from penstock.errors import BadInput

READABLE = "Penstock reads PDF, PNG, JPEG, TIFF, WebP, BMP, GIF, AVIF, HEIC, Arrow and Parquet."
Kind = Literal["pdf", "png", "jpeg", "tiff", "webp", "bmp", "gif", "avif", "heic", "arrow", "parquet"]

HEAD_BYTES = 1024  # a PDF may begin with this much junk (PDF Reference 1.7, appendix H)
TABLES = frozenset({"arrow", "parquet"})
MULTI_FRAME = frozenset({"tiff", "gif", "webp"})
TABLE_SUFFIXES = (".parquet", ".arrow")
# a file with one of these suffixes claims to be readable, and is reported if it is not
SUFFIXES = (
    ".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".avif", ".heic", ".heif",
    *TABLE_SUFFIXES,
)  # fmt: skip

PICTURE_SIGNATURES: tuple[tuple[bytes, Kind], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "tiff"),  # BigTIFF
    (b"MM\0+", "tiff"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)
BRANDS: dict[bytes, Kind] = {  # of ISO media files, after their size and "ftyp"
    **dict.fromkeys((b"avif", b"avis"), "avif"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"), "heic"),
}
BMP_HEADER_SIZES = (12, 16, 40, 52, 56, 64, 108, 124)
MAX_SCHEMA_BYTES = 1 << 26  # of an Arrow stream's first message; more is not Arrow


class NoPictures(BadInput):
    """The table can be read and has no column of pictures."""


def sniff(head: bytes) -> Kind | None:
    """Returns the kind of a file that begins with `head` (its first HEAD_BYTES, or all of it)."""
    if picture := sniff_picture(head):
        return picture
    if head.startswith(b"ARROW1\0\0") or _is_arrow_stream(head):
        return "arrow"
    if head.startswith(b"PAR1"):
        return "parquet"
    return "pdf" if b"%PDF-" in head else None


def sniff_picture(head: bytes) -> Kind | None:
    """Returns the picture format of these bytes; 18 bytes are enough."""
    for signature, kind in PICTURE_SIGNATURES:
        if head.startswith(signature):
            return kind
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    if head[4:8] == b"ftyp":
        return BRANDS.get(head[8:12])
    # two letters are a weak signature: the header after them must have a size that exists
    if (
        head.startswith(b"BM")
        and len(head) >= 18
        and head[14] in BMP_HEADER_SIZES
        and head[15:18] == b"\0\0\0"
    ):
        return "bmp"
    return None


def _is_arrow_stream(head: bytes) -> bool:
    if len(head) < 8 or not head.startswith(b"\xff\xff\xff\xff"):
        return False
    return bool(0 < struct.unpack_from("<i", head, 4)[0] < MAX_SCHEMA_BYTES)
