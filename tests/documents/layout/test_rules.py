"""Layout by rules: what fonts and geometry tell."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from penstock.box import Box
from penstock.documents.layout.rules import regions_by_rules
from penstock.documents.tables.html import from_html
from penstock.engines.pdf.document import count_pages
from penstock.engines.pdf.file import PdfFile
from penstock.region import Region, TextLayer, Word
from tests.conftest import SAMPLE

WIDTH, HEIGHT = 1200, 1700
SENTENCE = (
    "Water runs down the valley and the mill turns slowly all through the night until the morning comes"
)


def line(text: str, x: float, y: float, size: float = 20.0, bold: bool = False) -> list[Word]:
    words = []
    for part in text.split():
        width = 0.5 * size * len(part)
        words.append(Word(text=part, box=(x, y, x + width, y + size), size=size, bold=bold, font="Body"))
        x += width + 0.3 * size
    return words


def paragraph(x: float, y: float, rows: int, words_a_row: int = 8, size: float = 20.0) -> list[Word]:
    parts = SENTENCE.split()
    return [
        word
        for row in range(rows)
        for word in line(
            " ".join(parts[(row + i) % len(parts)] for i in range(words_a_row)), x, y + 24 * row, size
        )
    ]


def frame(xs: list[float], ys: list[float]) -> list[Box]:
    across = [(xs[0], y, xs[-1], y + 1) for y in ys]
    return across + [(x, ys[0], x + 1, ys[-1]) for x in xs]


def labels(regions: list[Region]) -> list[str]:
    return [region.label for region in regions]


def test_titles_headings_and_paragraphs_are_told_apart() -> None:
    words = line("A history of mills", 100, 200, size=44)
    words += line("1. Water", 100, 300, bold=True) + paragraph(100, 340, 5)
    words += line("Figure 3. The mill", 300, 700) + line("12", 590, 1650)
    regions = regions_by_rules(TextLayer(words=tuple(words)), WIDTH, HEIGHT)
    assert labels(regions) == ["doc_title", "paragraph_title", "text", "figure_title", "number"]
    assert regions[0].content == "A history of mills"
    assert all(r.reader == "layer" and r.native_label for r in regions)


def test_two_columns_are_read_one_after_the_other() -> None:
    words = paragraph(100, 200, 12, 4) + paragraph(650, 200, 12, 4)
    interleaved = sorted(words, key=lambda w: (w.box[1], w.box[0]))
    regions = regions_by_rules(TextLayer(words=tuple(interleaved)), WIDTH, HEIGHT)
    assert [round(r.box[0]) for r in regions] == [100, 650]


def test_paragraphs_part_at_indents_and_gaps() -> None:
    words = paragraph(100, 200, 3) + paragraph(100, 320, 3) + line("First words of another", 130, 392)
    regions = regions_by_rules(TextLayer(words=tuple(words)), WIDTH, HEIGHT)
    assert len(regions) == 3


def test_a_ruled_table_has_cells_and_spans() -> None:
    xs, ys = [100.0, 300.0, 500.0, 700.0], [200.0, 240.0, 280.0]
    strokes = [s for s in frame(xs, ys) if not (s[0] == 300 and s[2] == 301)]
    strokes.append((300, 240, 301, 280))  # the first row's first two cells are one
    words = line("both", 110, 210) + line("c", 520, 210)
    words += line("d", 110, 250) + line("e", 310, 250) + line("f<b>", 510, 250)
    regions = regions_by_rules(TextLayer(words=tuple(words), strokes=tuple(strokes)), WIDTH, HEIGHT)
    assert labels(regions) == ["table"]
    cells = from_html(regions[0].content or "")
    assert cells is not None
    assert [(c.text, c.row, c.column, c.column_span) for c in cells] == [
        ("both", 0, 0, 2), ("c", 0, 2, 1), ("d", 1, 0, 1), ("e", 1, 1, 1), ("f<b>", 1, 2, 1),
    ]  # fmt: skip
    assert "f&lt;b&gt;" in (regions[0].content or "")


def test_a_frame_around_text_is_no_table() -> None:
    words = paragraph(120, 220, 3)
    regions = regions_by_rules(
        TextLayer(words=tuple(words), strokes=tuple(frame([100, 900], [200, 320]))), WIDTH, HEIGHT
    )
    assert labels(regions) == ["text"]


def test_short_cells_in_line_are_a_table_without_rulings() -> None:
    words = []
    for row, names in enumerate([("Name", "Year", "Tons"), ("Upper", "1901", "55"), ("Lower", "1950", "61")]):
        for column, name in enumerate(names):
            words += line(name, 100 + 250 * column, 300 + 30 * row)
    regions = regions_by_rules(TextLayer(words=(*words, *paragraph(100, 600, 4))), WIDTH, HEIGHT)
    assert labels(regions) == ["table", "text"]
    places = {(cell.row, cell.column): cell.box for cell in regions[0].cells}
    assert len(places) == 9
    assert [places[1, column][0] for column in range(3)] == [100, 350, 600]
    assert places[0, 0][3] < places[1, 0][1] < places[2, 0][1]


def test_three_columns_of_text_are_no_table() -> None:
    words = [w for x in (60, 440, 820) for w in paragraph(x, 200, 10, 4, size=16)]
    regions = regions_by_rules(TextLayer(words=tuple(words)), WIDTH, HEIGHT)
    assert "table" not in labels(regions)


def test_pictures_are_regions_and_backgrounds_are_not() -> None:
    pictures = ((100.0, 300.0, 500.0, 600.0), (0.0, 0.0, 1200.0, 1700.0), (5.0, 5.0, 9.0, 9.0))
    regions = regions_by_rules(
        TextLayer(words=tuple(paragraph(100, 700, 3)), pictures=pictures), WIDTH, HEIGHT
    )
    assert labels(regions) == ["image", "text"]


def test_bullets_stay_with_their_text() -> None:
    words = [
        w for i in range(4) for w in [*line("•", 100, 200 + 40 * i), *line(SENTENCE[:40], 140, 200 + 40 * i)]
    ]
    regions = regions_by_rules(TextLayer(words=tuple(words)), WIDTH, HEIGHT)
    assert [(r.content or "")[:7] for r in regions] == ["• Water"] * 4


def test_a_table_of_contents_keeps_its_lines() -> None:
    words = []
    for row in range(4):
        words += line(f"{row + 1}", 100, 300 + 40 * row) + line(
            "Chapter " + ". " * 30 + "7", 150, 300 + 40 * row
        )
    regions = regions_by_rules(TextLayer(words=tuple(words)), WIDTH, HEIGHT)
    assert {r.label for r in regions} == {"content"}


def test_an_empty_page_has_no_regions() -> None:
    assert regions_by_rules(TextLayer(), WIDTH, HEIGHT) == []


numbers = st.floats(0, 1200, allow_nan=False, width=32)
boxes = st.tuples(numbers, numbers, st.floats(0, 300, width=32), st.floats(0, 40, width=32)).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(boxes, st.floats(0, 50, width=32)), max_size=40), st.lists(boxes, max_size=20))
def test_every_word_is_in_one_region(found: list[tuple[Box, float]], strokes: list[Box]) -> None:
    words = tuple(Word(text=f"w{i}z", box=box, size=size) for i, (box, size) in enumerate(found))
    regions = regions_by_rules(TextLayer(words=words, strokes=tuple(strokes)), WIDTH, HEIGHT)
    said = re.findall(r"w(\d+)z", " ".join(r.content or "" for r in regions))
    assert sorted(said, key=int) == [str(i) for i in range(len(words))]
    assert [r.index for r in regions] == list(range(len(regions)))


def test_pages_of_the_sample_keep_their_characters_in_order() -> None:
    assert share_in_order(str(SAMPLE), range(3)) >= 0.97


@pytest.mark.parametrize(
    ("name", "least"),
    [("korean_text/project-history.ko.pdf", 0.99), ("mineru_demo/pdfs/demo3.pdf", 0.9)],
)
def test_real_pages_keep_their_characters_in_order(shared_data: Path, name: str, least: float) -> None:
    path = str(shared_data / name)
    assert share_in_order(path, range(count_pages(path)[0])) >= least


def share_in_order(path: str, pages: range) -> float:
    """Of the letters of a PDF's text layer, those that the regions say in the same order."""
    total = right = 0
    document = pdfium.PdfDocument(path)
    with PdfFile(path) as file:
        for index in pages:
            size = file.size(index, dpi=144, max_side=3500)
            regions = regions_by_rules(file.layer(index, size), size.width, size.height)
            expected = _letters(document[index].get_textpage().get_text_range())
            total += len(expected)
            right += LCSseq.similarity(expected, _letters(" ".join(_said(r) for r in regions)))
    document.close()
    return right / total


def _said(region: Region) -> str:
    if region.label != "table":
        return region.content or ""
    return " ".join(cell.text for cell in from_html(region.content or "") or [])


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)
