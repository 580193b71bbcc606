"""Renders the pages of a PDF and reads what they say of themselves, with PDFium.

PDFium is not thread-safe and parses bytes we did not make: call this only in a process that can
be killed, from one thread at a time. Files are opened and counted next door in `document`, words read in
`text`, drawn lines and pictures in `drawing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from penstock.engines.pdf.calls import Placement
from penstock.engines.pdf.document import has_page, open_document
from penstock.engines.pdf.drawing import read_drawing
from penstock.engines.pdf.form_fields import read_fields, words_of
from penstock.engines.pdf.text import read_words
from penstock.errors import BadInput
from penstock.region import FormField, TextLayer

if TYPE_CHECKING:
    from penstock.box import Pixels

POINTS_PER_INCH = 72.0
REOPEN_AFTER = 256  # pages; PDFium keeps every object it has parsed until the document closes


class PageSize(NamedTuple):
    """The picture a page makes: pixels, and how many of them an inch of paper has."""

    width: int
    height: int
    dpi: float


class PdfFile:
    """One open PDF. Close it, or use it in a `with`.

    with PdfFile("report.pdf") as file:
        pixels = file.render(0, file.size(0, dpi=200, max_side=3500))
    """

    def __init__(self, path: str, password: str | None = None) -> None:
        self._path = path
        self._password = password
        self._document = open_document(path, password)
        self._page: tuple[int, pdfium.PdfPage] | None = None
        self._loaded = 0

    def __enter__(self) -> PdfFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def num_pages(self) -> int:
        return len(self._document)

    def has_page(self, index: int) -> bool:
        """Returns whether the tree of pages holds it, without reading the page."""
        return has_page(self._document, index)

    def size(self, index: int, *, dpi: float, max_side: int) -> PageSize:
        """The picture at `dpi`, or smaller where its long side would pass `max_side`."""
        width, height = self._load(index).get_size()
        if not (width > 0 and height > 0):
            raise BadInput(f"page {index + 1} has no area ({width:g} x {height:g} points).")
        scale = min(dpi / POINTS_PER_INCH, max_side / max(width, height))
        pixels = (max(1, round(width * scale)), max(1, round(height * scale)))
        return PageSize(*pixels, dpi=scale * POINTS_PER_INCH)

    def render(self, index: int, size: PageSize) -> Pixels:
        """The page as a reader shows it: turned, cropped, with annotations and forms, on white."""
        page = self._load(index)
        pixels = np.full((size.height, size.width, 3), 255, np.uint8)
        # PDFium draws into our own array: no copy, and nothing to keep alive but the result
        bitmap = raw.FPDFBitmap_CreateEx(
            size.width, size.height, raw.FPDFBitmap_BGR, pixels.ctypes.data, pixels.strides[0]
        )
        if not bitmap:
            raise BadInput(f"page {index + 1} could not be drawn at {size.width} x {size.height} pixels.")
        try:
            flags = raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER
            area = (0, 0, size.width, size.height, 0)
            raw.FPDF_RenderPageBitmap(bitmap, page.raw, *area, flags)
            if page.formenv:
                raw.FPDF_FFLDraw(page.formenv.raw, bitmap, page.raw, *area, flags)
        finally:
            raw.FPDFBitmap_Destroy(bitmap)
        return pixels

    def layer(self, index: int, size: PageSize) -> TextLayer:
        """What the page says of itself, in pixels of its picture."""
        page = self._load(index)
        place = _placement(page, size)
        strokes, pictures = read_drawing(page.raw, place)
        words = (*read_words(page.raw, place), *words_of(self.form(index, size), place))
        return TextLayer(words=words, strokes=strokes, pictures=pictures)

    def form(self, index: int, size: PageSize) -> tuple[FormField, ...]:
        """What the fields on the page hold, in pixels of its picture; none of those that are empty."""
        page = self._load(index)
        return tuple(read_fields(page, _placement(page, size)))

    def close(self) -> None:
        self._drop_page()
        self._document.close()

    def _load(self, index: int) -> pdfium.PdfPage:
        """Opens a page and keeps it until another is asked for: size, picture and layer share one parse."""
        if self._page is not None and self._page[0] == index:
            return self._page[1]
        self._drop_page()
        if self._loaded >= REOPEN_AFTER:
            self._document.close()
            self._document = open_document(self._path, self._password)
            self._loaded = 0
        if not 0 <= index < len(self._document):
            raise BadInput(f"page {index + 1} does not exist; the file has {len(self._document)}.")
        try:
            page = self._document[index]
        except pdfium.PdfiumError as exc:
            raise BadInput(f"page {index + 1} is damaged and cannot be opened.") from exc
        self._page, self._loaded = (index, page), self._loaded + 1
        return page

    def _drop_page(self) -> None:
        if self._page is not None:
            self._page[1].close()
            self._page = None


def _placement(page: pdfium.PdfPage, size: PageSize) -> Placement:
    box = raw.FS_RECTF()
    if not raw.FPDF_GetPageBoundingBox(page.raw, box):
        raise BadInput("the page has no bounding box.")
    rotation = raw.FPDFPage_GetRotation(page.raw)
    return Placement.of((box.left, box.bottom, box.right, box.top), rotation, size.width, size.height)
