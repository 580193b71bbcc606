"""Pictures inside of files: their words are read on request, and they are kept or left out."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

import penstock
from penstock.workers.office import pictures
from tests.engines.office import made_files


def picture(*lines: str) -> bytes:
    image = Image.new("RGB", (700, 90 * len(lines) + 60), "white")
    for place, line in enumerate(lines):
        ImageDraw.Draw(image).text((30, 40 + 90 * place), line, "black", ImageFont.load_default(44))
    made = io.BytesIO()
    image.save(made, "PNG")
    return made.getvalue()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    page = "<html><body><p>Before.</p>{}<p>After.</p></body></html>"
    images = '<img src="p.png" alt="A sign"/><img src="q.png"/>'
    path = tmp_path / "a.epub"
    path.write_bytes(made_files.zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfiles><rootfile full-path="book.opf"/></rootfiles></c>',
        "book.opf": '<p><manifest><item id="1" href="one.xhtml"/></manifest><spine><itemref idref="1"/></spine></p>',
        "one.xhtml": page.format(images), "p.png": picture("Rain falls on 42 hills", "until the morning"),
        "q.png": made_files.PNG,
    }))  # fmt: skip
    return path


def test_words_in_pictures_are_read_on_request_and_say_who_read_them(book: Path) -> None:
    as_it_is = penstock.convert(book)
    assert "hills" not in as_it_is.markdown
    read = penstock.convert(book, read_pictures=True)
    before, sign, other, after = read.pages[0].regions
    assert (before.reader, after.reader) == ("structure", "structure")
    assert sign.content == "A sign\nRain falls on 42 hills\nuntil the morning"
    assert sign.reader not in ("", "structure") and sign.confidence is not None and sign.crop is not None
    assert (other.content, other.reader, other.request) == (None, "structure", None)
    assert "42 hills" in read.markdown


def test_pictures_are_left_out_where_crops_are(book: Path) -> None:
    page = penstock.convert(book, crops=False).pages[0]
    assert [region.crop for region in page.regions] == [None] * 4
    read = penstock.convert(book, crops=False, read_pictures=True).pages[0]
    assert [region.crop for region in read.regions] == [None] * 4
    assert "42 hills" in (read.regions[1].content or "")


def test_a_page_of_many_pictures_has_as_many_read_as_are_allowed(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MAX_READ_PIXELS", 1_000)
    [page] = penstock.parse(book, read_pictures=True, executor="inline")
    sign = page.regions[1]
    assert sign.content == "A sign" and "not read" in sign.note
