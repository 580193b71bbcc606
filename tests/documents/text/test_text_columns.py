"""Columns of running text among lines, for pages on which no block was seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.box import Box
from penstock.documents.reading.running_text import without_running_text
from penstock.documents.text.text_columns import text_columns
from penstock.page import Page
from penstock.region import LineBox, Region
from tests.documents.reading.steps import give_lines

HEIGHT, STEP = 12.0, 14.0


def column(left: float, top: float, *widths: float) -> list[Box]:
    return [
        (left, top + STEP * row, left + width, top + STEP * row + HEIGHT) for row, width in enumerate(widths)
    ]


def test_columns_a_narrow_gutter_apart_are_two() -> None:
    left, right = column(0, 0, *[100.0] * 6), column(105, 3, *[100.0] * 6)
    assert [len(lines) for lines in text_columns([*left, *right])] == [6, 6]


def test_a_line_across_columns_is_in_neither() -> None:
    title: list[Box] = [(0, -STEP, 205, -STEP + HEIGHT)]
    found = text_columns([*title, *column(0, 0, *[100.0] * 6), *column(105, 0, *[100.0] * 6)])
    assert [0] not in found
    assert sorted(len(lines) for lines in found) == [6, 6]


def test_figures_and_names_in_a_table_are_no_columns_of_text() -> None:
    figures = column(200, 0, *[30.0] * 8)
    names = column(0, 0, 40, 90, 35, 150, 20, 45, 60, 30)
    assert text_columns([*names, *figures]) == []


boxes = st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(1, 90), st.integers(1, 20)).map(
    lambda v: (float(v[0]), float(v[1]), float(v[0] + v[2]), float(v[1] + v[3]))
)


@given(st.lists(boxes, max_size=40))
def test_no_line_is_in_two_columns(found: list[Box]) -> None:
    placed = [index for lines in text_columns(found) for index in lines]
    assert len(placed) == len(set(placed))


def test_a_page_of_columns_taken_for_a_table_is_read_as_columns() -> None:
    lines = [LineBox(box) for x in (0, 105, 210) for box in column(x, 0, *[100.0] * 12)]
    page = Page(id="p", document="p", uri="p.png", width=320, height=180)
    table = Region(label="table", native_label="table", box=(0, 0, 320, 170))
    assert without_running_text(table, [line.box for line in lines], page) == []
    drafts = give_lines([], lines)
    assert [len(draft.lines) for draft in drafts] == [12, 12, 12]
    assert [draft.region.box[0] for draft in drafts] == [0, 105, 210]


def test_a_table_with_paragraphs_beside_it_is_cut_down_to_its_cells() -> None:
    prose = column(0, 0, *[200.0] * 14)
    cells = [box for x in (0, 60, 120, 180) for box in column(x, 220, *[20.0] * 5)]
    aside: list[Box] = [(230, 234, 300, 246)]
    page = Page(id="p", document="p", uri="p.png", width=320, height=400)
    table = Region(label="table", native_label="table", box=(0, 0, 310, 300))
    regions = without_running_text(table, [*prose, *cells, *aside], page)
    assert [(region.label, region.box) for region in regions] == [("table", (0, 220, 200, 288))]


def test_a_table_with_sentences_in_its_cells_stays_whole() -> None:
    sentences = column(0, 0, *[120.0] * 14)
    cells = [box for x in (130, 180, 230, 280) for box in column(x, 0, *[20.0] * 14)]
    page = Page(id="p", document="p", uri="p.png", width=320, height=400)
    table = Region(label="table", native_label="table", box=(0, 0, 310, 200))
    assert without_running_text(table, [*sentences, *cells], page) == [table]


def test_a_table_that_the_model_did_not_see_is_known_by_its_rows() -> None:
    heading: list[Box] = [(0, 0, 150, 12)]
    cells = [box for x in (0, 80, 160) for box in column(x, 20, *[30.0] * 5)]
    drafts = give_lines([], [LineBox(box) for box in [*heading, *cells]])
    assert [(draft.region.label, len(draft.lines)) for draft in drafts] == [("table", 15), ("text", 1)]


def test_names_with_amounts_are_no_table() -> None:
    names, amounts = column(0, 0, 90, 60, 120, 80, 100), column(200, 0, *[30.0] * 5)
    drafts = give_lines([], [LineBox(box) for box in [*names, *amounts]])
    assert all(draft.region.label == "text" for draft in drafts)
