"""Searchable PDFs, read back with PDFium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from PIL import Image

from penstock.documents.formats.jpeg import jpeg_shape
from penstock.documents.formats.searchable_pdf import PictureOfPage, write_searchable_pdf
from penstock.errors import BadInput
from penstock.region import Line
from penstock.store.atomic_files import replacing
from penstock.store.ownership import MARK

LINES = [
    Line(text="안녕하세요 세계, Hello world", box=(100, 100, 700, 140)),
    Line(text="둘째 줄입니다 漢字 かな 🎉", box=(100, 160, 500, 200)),
    Line(text="sideways text", box=(900, 200, 930, 600)),
]


def jpeg(mode: str = "RGB", size: tuple[int, int] = (1000, 1400)) -> bytes:
    stream = io.BytesIO()
    Image.new(mode, size, "white" if mode != "CMYK" else 0).save(stream, "JPEG")
    return stream.getvalue()


def written(path: Path, pages: list[PictureOfPage]) -> pdfium.PdfDocument:
    with path.open("wb") as file:
        assert write_searchable_pdf(file, pages) == len(pages)
    return pdfium.PdfDocument(path)


def test_text_comes_back_in_order_korean_and_latin(tmp_path: Path) -> None:
    document = written(tmp_path / "a.pdf", [PictureOfPage(jpeg=jpeg(), lines=LINES, dpi=100)])
    text = document[0].get_textpage().get_text_range()
    assert text.split("\r\n") == [line.text for line in LINES]
    document.close()


def test_text_is_found_where_it_stands(tmp_path: Path) -> None:
    document = written(tmp_path / "a.pdf", [PictureOfPage(jpeg=jpeg(), lines=LINES, dpi=100)])
    page = document[0].get_textpage()
    first, _ = page.search("Hello").get_next()
    left, bottom, _, top = (v * 100 / 72 for v in page.get_charbox(first, loose=True))
    assert 300 < left < 520  # the line runs from 100 to 700, Hello after eleven of its wide characters
    assert (1400 - top, 1400 - bottom) == pytest.approx((100, 140), abs=3)
    document.close()


def test_pages_keep_the_picture_and_its_size(tmp_path: Path) -> None:
    pages = [PictureOfPage(jpeg=jpeg(mode), lines=LINES, dpi=200) for mode in ("RGB", "L", "CMYK")]
    document = written(tmp_path / "a.pdf", pages)
    assert document[0].get_size() == pytest.approx((360, 504))
    for page in document:
        assert page.render().to_numpy().min() > 250  # white, and the text is not seen
    document.close()


def test_pages_are_taken_one_at_a_time() -> None:
    def pages() -> Iterator[PictureOfPage]:
        for number in range(3):
            sizes.append(file.tell())
            yield PictureOfPage(jpeg=jpeg(), lines=[Line(text=f"쪽 {number}", box=(0, 0, 90, 20))] * 2000)

    file, sizes = io.BytesIO(), list[int]()
    assert write_searchable_pdf(file, pages()) == 3
    assert sizes[2] > sizes[1] > sizes[0]  # what came before is written already


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    pages = [PictureOfPage(jpeg=jpeg(), lines=LINES), PictureOfPage(jpeg=b"\x89PNG", lines=[])]
    with pytest.raises(BadInput, match="not a JPEG"), replacing(tmp_path / "a.pdf", tmp_path) as file:
        write_searchable_pdf(file, pages)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and MARK not in path.parts] == []


def test_odd_lines_do_no_harm(tmp_path: Path) -> None:
    lines = [
        Line(text="  ", box=(0, 0, 10, 10)),
        Line(text="no box", box=(5, 5, 5, 5)),
        Line(text="tab\tand\nbreak", box=(10, 10, 200, 30)),
    ]
    document = written(tmp_path / "a.pdf", [PictureOfPage(jpeg=jpeg(), lines=lines)])
    assert "tab and break" in document[0].get_textpage().get_text_range()
    document.close()


@pytest.mark.parametrize("data", [b"", b"\xff\xd8", b"\xff\xd8\xff\xe0\x00\x10", b"\xff\xd8\xff\xc0\x00"])
def test_a_truncated_jpeg_is_a_sentence(data: bytes) -> None:
    with pytest.raises(BadInput):
        jpeg_shape(data)
