"""Small files that ask for gigabytes, written by hand: no library that we read with made them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

MEGABYTE = 1 << 20


def far_gif(x: int = 29_990, y: int = 29_990) -> bytes:
    """Three frames of 10 x 10 pixels on a screen of that size; the second lies far outside of it."""
    screen = b"GIF89a" + struct.pack("<HHBBB", 10, 10, 0x80, 0, 0) + bytes(3) + b"\xff\xff\xff"
    frames = [_frame(0, 0), _frame(x, y), _frame(0, 0)]
    return screen + b"".join(frames) + b";"


def _frame(x: int, y: int) -> bytes:
    # codes of three bits, cleared (4) before the table grows a fourth: pixels in pairs, then the end (5)
    codes = [code for _ in range(50) for code in (4, 0, 1)] + [5]
    bits = sum(code << (3 * place) for place, code in enumerate(codes))
    data = bits.to_bytes((3 * len(codes) + 7) // 8, "little")
    return b"," + struct.pack("<HHHHB", x, y, 10, 10, 0) + b"\x02" + bytes([len(data)]) + data + b"\0"


def flated_pdf(size_mb: int, filters: int) -> bytes:
    """One page whose content unfolds to `size_mb` megabytes of spaces."""
    stream = unfolding(size_mb)
    for _ in range(filters - 1):
        stream = zlib.compress(stream, 9)
    names = "/FlateDecode " * filters
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R >>",
        f"<< /Length {len(stream)} /Filter [{names}] >>\nstream\n".encode() + stream + b"\nendstream",
    ]
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.7\n" + body + b"trailer << /Size 5 /Root 1 0 R >>\n%%EOF\n"


def unfolding(size_mb: int) -> bytes:
    """A zlib stream of spaces (RFC 1950, 1951): one compressed megabyte, repeated."""
    press = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = press.compress(b" " * MEGABYTE) + press.flush(zlib.Z_FULL_FLUSH)
    checksum, count = 1, size_mb * MEGABYTE
    low = (1 + 32 * count) % 65521
    high = (count + 32 * (count * (count + 1) // 2)) % 65521
    checksum = (high << 16) | low
    return b"\x78\xda" + block * size_mb + b"\x03\x00" + struct.pack(">I", checksum)


def equal_cells(path: Path, size_mb: int, rows: int = 16) -> None:
    """A table of equal pictures, of which the file holds one."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(size_mb * MEGABYTE)
    values = pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array([picture], pa.binary())
    )
    table = pa.table({"image": values})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 31, store_schema=False)


def tiff(*pages: tuple[int, int], then: int = 0) -> bytes:
    """A TIFF of grey pages that claim these widths and heights and share one byte of data.

    After the last page comes the one at place `then`, counted from 1: a loop; 0 is the end.
    """
    entries, start = 9, 9
    size = 2 + entries * 12 + 4
    places = [start + size * number for number in range(len(pages))]
    following = [*places[1:], places[then - 1] if then else 0]
    body = b"".join(_directory(*page, place) for page, place in zip(pages, following, strict=True))
    return b"II*\0" + struct.pack("<I", start) + b"\x7f" + body


def _directory(width: int, height: int, following: int) -> bytes:
    tags = {256: width, 257: height, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: height, 279: 1}
    rows = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    return struct.pack("<H", len(tags)) + rows + struct.pack("<I", following)


def claiming_avif(avif: bytes, width: int, height: int) -> bytes:
    """Returns an AVIF that claims another size than its data has."""
    place = avif.index(b"ispe") + 8
    return avif[:place] + struct.pack(">II", width, height) + avif[place + 8 :]
