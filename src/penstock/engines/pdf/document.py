"""Opens PDFs and counts their pages, with PDFium.

Apart from `file`, since who only counts needs no arrays: numpy takes longer to load than a PDF to open.
"""

from __future__ import annotations

import contextlib
import logging
import os

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from penstock.errors import BadInput

logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns of XFA forms, which we draw as they are
ENCRYPTED_ADVICE = "Give its password with --password."
MAX_DAMAGED = 16  # pages in a row that are broken in a file whose later pages are there


def open_document(path: str, password: str | None) -> pdfium.PdfDocument:
    """Raises BadInput with the reason if it cannot be opened."""
    if not os.access(path, os.R_OK):
        raise BadInput("the file is gone or may not be read.", "Check its permissions.")
    try:
        document = pdfium.PdfDocument(path, password=password)
    except pdfium.PdfiumError as exc:
        raise _refusal(exc, password) from exc
    with contextlib.suppress(pdfium.PdfiumError):  # pages without form fields are better than no pages
        document.init_forms()
    return document


def _refusal(exc: pdfium.PdfiumError, password: str | None) -> BadInput:
    if exc.err_code == raw.FPDF_ERR_PASSWORD:
        wrong = "the password does not open it." if password else "it is encrypted."
        return BadInput(wrong, ENCRYPTED_ADVICE)
    if exc.err_code == raw.FPDF_ERR_SECURITY:
        return BadInput("it is encrypted in a way PDFium does not know.", "Save it without protection.")
    if exc.err_code == raw.FPDF_ERR_SUCCESS:
        return BadInput("the PDF has no pages.")
    return BadInput(
        "the PDF is damaged beyond repair, or not a PDF.", "Open it in a viewer and save it again."
    )


def count_pages(path: str, password: str | None = None) -> tuple[int, int]:
    """How many pages the file has, and how many it says it has. Raises BadInput if it cannot be opened.

    The count is written in the file: one kilobyte can claim a million, and each would become a failed row.
    """
    document = open_document(path, password)
    try:
        return _last_page(document) + 1, len(document)
    finally:
        document.close()


def has_page(document: pdfium.PdfDocument, index: int) -> bool:
    """Returns whether the tree of pages holds it, without reading the page."""
    return bool(raw.FPDF_GetPageSizeByIndexF(document.raw, index, raw.FS_SIZEF()))


def _last_page(document: pdfium.PdfDocument) -> int:
    """Returns the last page that is there, found by halving what is left; -1 if none is."""
    claimed = len(document)
    if has_page(document, claimed - 1):
        return claimed - 1
    low, high = 0, claimed
    while low < high:
        middle = (low + high) // 2
        if any(has_page(document, index) for index in range(middle, min(middle + MAX_DAMAGED, claimed))):
            low = middle + 1
        else:
            high = middle
    return low - 1
