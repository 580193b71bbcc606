"""Prints HWP and HWPX with rhwp. Runs in a child that can be killed and may write nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pypdfium2 as pdfium

from penstock.engines.office.hwp import rhwp_errors, rhwp_package
from penstock.errors import BadInput, install_advice

PRINTED = frozenset({"hwp", "hwpx"})
FONT_ADVICE = "Install a Korean font (apt-get install fonts-noto-cjk), or read it with --office structure."
LOOKED_AT = 5  # pages: one that is only pictures has no letter
MIN_LETTERS = 20
# rhwp draws a page as a form of the size one by one, and scales it up
_PAGE = re.compile(rb"/Contents (\d+) 0 R\s+/Resources <<\s+/XObject <<\s+/\w+ (\d+) 0 R")
_SCALE = rb"\b%s 0 obj\n<<[^>]*>>\s*stream\n(([\d.]+) 0 0 ([\d.]+) 0 0) cm"
_MATRIX = rb"\b%s 0 obj\n<<[^>]*?/Matrix \[(([\d.]+) 0 0 ([\d.]+) 0 0)\]"


def open_hwp_printer() -> Callable[[str], bytes]:
    """Returns, in the child, what makes a PDF of the file at a path."""
    return _printed


def _printed(path: str) -> bytes:
    """Raises BadInput where it cannot be printed, and where no font shows its text."""
    rhwp = rhwp_package()
    if rhwp is None:
        raise BadInput("could not be printed: rhwp-python is not installed.", install_advice("hwp"))
    with rhwp_errors("is encrypted.", "could not be printed"):
        document = rhwp.parse(path)
        letters = len("".join(document.extract_text().split()))
        data = bytes(document.render_pdf())
    if letters >= MIN_LETTERS and not _has_letters(data):
        raise BadInput("could not be printed: no font of this machine shows its text.", FONT_ADVICE)
    return in_points(data)


def _has_letters(data: bytes) -> bool:
    with pdfium.PdfDocument(data) as document:
        return any(
            document[index].get_textpage().count_chars() for index in range(min(LOOKED_AT, len(document)))
        )


def in_points(data: bytes) -> bytes:
    """Returns a PDF of rhwp with forms in points: PDFium leaves out letters narrower than 0.01 of a form."""
    made = bytearray(data)
    for page in _PAGE.finditer(data):
        scale = re.search(_SCALE % page[1], data)
        matrix = re.search(_MATRIX % page[2], data)
        if scale is None or matrix is None:
            continue
        across, down = (float(scale[place]) * float(matrix[place]) for place in (2, 3))
        for match, text in ((scale, b"1 0 0 1 0 0"), (matrix, b"%.6g 0 0 %.6g 0 0" % (across, down))):
            if len(text) <= len(match[1]):  # all offsets of the file stay as they are
                made[match.start(1) : match.end(1)] = text.ljust(len(match[1]))
    return bytes(made)
