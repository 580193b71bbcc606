"""Scans with words hidden behind them: believed where they are what the scan shows, and only there."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw
import pytest
from PIL import Image, ImageDraw, ImageFont

import penstock
from penstock.exports.page_rows import result_row

SHOWN = (
    "The penstock carries water down to the turbine.",
    "Every spring the intake screens are cleaned by hand.",
    "Pressure rises with the height of the lake above.",
    "Three valves close within ninety seconds of an alarm.",
)
OTHER = (
    "Invoices of the second quarter were paid on Monday.",
    "Please return this form before the end of October.",
    "Members receive the yearly bulletin without charge.",
    "Additional copies may be ordered from our library.",
)
SIZE, DPI = (1240, 1754), 150
INVISIBLE = 3  # text render mode of ISO 32000-1


def scan(path: Path, hidden: tuple[str, ...]) -> Path:
    """A page that shows SHOWN as one picture, with lines behind it that nobody sees."""
    picture = Image.new("RGB", SIZE, "white")
    font = ImageFont.load_default(38)
    for place, line in enumerate(SHOWN):
        ImageDraw.Draw(picture).text((120, 200 + 90 * place), line, "black", font)
    document = pdfium.PdfDocument.new()
    page = document.new_page(SIZE[0] * 72 / DPI, SIZE[1] * 72 / DPI)
    drawn = pdfium.PdfImage.new(document)
    drawn.set_bitmap(pdfium.PdfBitmap.from_pil(picture))
    drawn.set_matrix(pdfium.PdfMatrix().scale(*page.get_size()))
    page.insert_obj(drawn)
    for place, line in enumerate(hidden):
        text = raw.FPDFPageObj_NewTextObj(document, b"Helvetica", 38 * 72 / DPI * 0.98)
        raw.FPDFText_SetText(text, ctypes.cast((line + "\0").encode("utf-16-le"), raw.FPDF_WIDESTRING))
        raw.FPDFTextObj_SetTextRenderMode(text, INVISIBLE)
        left, top = 120 * 72 / DPI, (200 + 90 * place + 36) * 72 / DPI
        raw.FPDFPageObj_Transform(text, 1, 0, 0, 1, left, page.get_height() - top)
        raw.FPDFPage_InsertObject(page, text)
    page.gen_content()
    document.save(path)
    return path


@pytest.mark.parametrize(("hidden", "reader"), [(SHOWN, "layer"), (OTHER, "ppocr")])
def test_words_behind_a_scan_are_believed_if_the_scan_shows_them(
    tmp_path: Path, hidden: tuple[str, ...], reader: str
) -> None:
    [page] = penstock.parse([scan(tmp_path / "scan.pdf", hidden)], out=tmp_path / "out")
    assert all(line in " ".join(page.markdown.split()) for line in SHOWN)
    assert {region.reader for region in page.regions} == {reader}
    told = "The text hidden behind the scan is not what the scan shows, so the scan was read."
    [kept] = penstock.read(tmp_path / "out")
    assert result_row(kept).get("layer_fault", "") == (told if reader == "ppocr" else "")
