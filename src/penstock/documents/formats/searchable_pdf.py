"""Writes page pictures as a PDF whose text can be searched and copied.

Each page is its JPEG as it is, with invisible text over it, one run a line, stretched to the line's
box. The font has no shapes: one width for narrow and one for wide characters, and a
table back to Unicode for every character the document uses, Hangul and all. Pages are written as
they come, one in memory at a time.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import IO

from penstock.documents.formats.glyphless_font import CIDS, NARROW, WIDE, font_objects
from penstock.documents.formats.jpeg import JpegShape, jpeg_shape
from penstock.errors import BadInput
from penstock.region import Line

POINTS_PER_INCH = 72.0
BASELINE = 0.2  # of a line's height, from its foot: where most scripts' descenders end
CATALOG, PAGES, FONT, RESERVED = 1, 2, 3, 8  # object numbers; the font takes 3 to 8
MAX_CHARACTERS = CIDS - 1
TALL = 2.0  # a line higher than this times its width is set from top to bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureOfPage:
    """One page: an encoded JPEG and the lines on it, in its pixels."""

    jpeg: bytes = field(repr=False)
    lines: Sequence[Line]
    dpi: float = 200.0  # gives the page its size on paper


def write_searchable_pdf(file: IO[bytes], pages: Iterable[PictureOfPage]) -> int:
    """Writes the PDF and returns how many pages it has. Lines keep their order.

    with open("scan.pdf", "wb") as file:
        write_searchable_pdf(file, [PictureOfPage(jpeg=data, lines=region.lines, dpi=200)])
    """
    writer = _PdfWriter(file)
    for page in pages:
        writer.page(page)
    writer.finish()
    return len(writer.kids)


@dataclass(slots=True)
class _PdfWriter:
    """The PDF as far as it is written: offsets of objects, pages, and characters met."""

    stream: IO[bytes]
    offsets: dict[int, int] = field(default_factory=dict)
    kids: list[int] = field(default_factory=list)
    cids: dict[str, int] = field(default_factory=dict)
    position: int = 0
    last: int = RESERVED

    def __post_init__(self) -> None:
        self._write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")

    def page(self, page: PictureOfPage) -> None:
        shape = jpeg_shape(page.jpeg)
        scale = POINTS_PER_INCH / (page.dpi if page.dpi > 0 else 200.0)
        width, height = shape.width * scale, shape.height * scale
        picture = self._stream(_picture_entries(shape), page.jpeg)
        content = self._stream(
            b"/Filter /FlateDecode", zlib.compress(self._content(page.lines, width, height, scale))
        )
        resources = b"/XObject << /P %d 0 R >> /Font << /F %d 0 R >>" % (picture, FONT)
        self.kids.append(
            self._object(
                b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %s %s] /Resources << %s >> /Contents %d 0 R >>"
                % (PAGES, _number(width), _number(height), resources, content)
            )
        )

    def finish(self) -> None:
        kids = b" ".join(b"%d 0 R" % kid for kid in self.kids)
        self._object(b"<< /Type /Catalog /Pages %d 0 R >>" % PAGES, CATALOG)
        self._object(b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(self.kids), kids), PAGES)
        widths = {cid: _advance(char) for char, cid in self.cids.items()}
        for number, body in font_objects(FONT, self.cids, widths):
            self._object(body, number)
        self._cross_references()

    def _content(self, lines: Sequence[Line], width: float, height: float, scale: float) -> bytes:
        parts = [b"q %s 0 0 %s 0 0 cm /P Do Q" % (_number(width), _number(height)), b"BT 3 Tr"]
        parts += [self._run(line, height, scale) for line in lines if line.text.strip()]
        return b"\n".join([*parts, b"ET"])

    def _run(self, line: Line, height: float, scale: float) -> bytes:
        x0, y0, x1, y1 = (v * scale for v in line.box)
        text = " ".join(line.text.split())
        upright = y1 - y0 > TALL * (x1 - x0) and len(text) > 1
        size, length = (x1 - x0, y1 - y0) if upright else (y1 - y0, x1 - x0)
        size = max(size, 0.1)
        natural = sum(_advance(char) for char in text) / 1000 * size
        stretch = max(length, 0.1) / natural * 100
        if upright:
            matrix = b"0 -1 1 0 %s %s Tm" % (_number(x0 + BASELINE * size), _number(height - y0))
        else:
            matrix = b"1 0 0 1 %s %s Tm" % (_number(x0), _number(height - y1 + BASELINE * size))
        codes = "".join(f"{self._cid(char):04X}" for char in text).encode()
        return b"%s /F %s Tf %s Tz <%s> Tj" % (matrix, _number(size), _number(stretch), codes)

    def _cid(self, char: str) -> int:
        """Returns the character's number in the font; a document with too many shares the last."""
        found = self.cids.get(char)
        if found is None:
            found = len(self.cids) + 1
            if found > MAX_CHARACTERS:
                return MAX_CHARACTERS
            self.cids[char] = found
        return found

    def _stream(self, entries: bytes, data: bytes) -> int:
        return self._object(b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data))

    def _object(self, body: bytes, number: int | None = None) -> int:
        if number is None:
            self.last += 1
            number = self.last
        self.offsets[number] = self.position
        self._write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        return number

    def _cross_references(self) -> None:
        start = self.position
        size = self.last + 1
        self._write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
        for number in range(1, size):
            self._write(b"%010d 00000 n \n" % self.offsets[number])
        self._write(
            b"trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, CATALOG, start)
        )

    def _write(self, data: bytes) -> None:
        self.stream.write(data)
        self.position += len(data)


def _number(value: float) -> bytes:
    return f"{value:.3f}".rstrip("0").rstrip(".").encode()


def _advance(char: str) -> int:
    return WIDE if unicodedata.east_asian_width(char) in "WF" else NARROW


def _picture_entries(shape: JpegShape) -> bytes:
    spaces = {1: b"/DeviceGray", 3: b"/DeviceRGB", 4: b"/DeviceCMYK"}
    if shape.channels not in spaces or not shape.width or not shape.height:
        raise BadInput(f"the JPEG of a page has {shape.channels} channels, {shape.width} x {shape.height}.")
    inverted = b" /Decode [1 0 1 0 1 0 1 0]" if shape.channels == 4 else b""  # as Adobe writes them
    return (
        b"/Type /XObject /Subtype /Image /Filter /DCTDecode /BitsPerComponent 8"
        b" /ColorSpace %s /Width %d /Height %d%s"
        % (spaces[shape.channels], shape.width, shape.height, inverted)
    )
