"""The table engine: spans are found, every line lands in a cell, nothing is lost."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.box import Box
from penstock.documents.tables import fill as filling
from penstock.documents.tables.fill import from_lines
from penstock.documents.tables.html import to_html
from penstock.engines.table.slanet import SlanetTable, decode
from penstock.errors import EngineError, MissingModel
from penstock.region import Line, TableCell, TableGrid

TOKENS = ["sos", "<tr>", "</tr>", "<td", ">", "</td>", ' colspan="2"', ' rowspan="3"', "<td></td>", "eos"]


def line(text: str, box: Box) -> Line:
    return Line(text=text, box=box)


@pytest.fixture(scope="module")
def slanet() -> Iterator[SlanetTable]:
    try:
        opened = SlanetTable()
    except MissingModel as exc:
        pytest.skip(str(exc))
    yield opened
    opened.close()


def fill(grid: TableGrid, lines: Sequence[Line]) -> str:
    return to_html(filling.fill(grid, lines))


def empty(found: TableGrid) -> str:
    """The grid as HTML without text."""
    return to_html(cell._replace(is_header=cell.row < found.head) for cell in found.cells)


def grid(rows: int, cols: int) -> TableGrid:
    cells = [
        TableCell(r, c, box=(100.0 * c, 40.0 * r, 100.0 * c + 100, 40.0 * r + 40))
        for r in range(rows)
        for c in range(cols)
    ]
    return TableGrid(rows, cols, tuple(cells))


def texts(table: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", table)
    return [[html.unescape(t) for t in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def drawn(rows: int, cols: int) -> tuple[np.ndarray, list[Line]]:
    """A ruled table whose last row is one cell wide, and its lines."""
    picture = np.full((40 * (rows + 1) + 20, 150 * cols + 20, 3), 255, np.uint8)
    lines = []
    for row in range(rows + 1):
        for col in range(cols if row < rows else 1):
            x, y = 10 + 150 * col, 10 + 40 * row
            right = 10 + 150 * (cols if row == rows else col + 1)
            cv2.rectangle(picture, (x, y), (right, y + 40), (0, 0, 0), 1)
            text = f"item {row}{col}" if row < rows else "all of these taken together"
            cv2.putText(picture, text, (x + 10, y + 27), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 1)
            lines.append(line(text, (x + 10, y + 10, x + 10 + 12 * len(text), y + 30)))
    return picture, lines


def steps(*tokens: str) -> tuple[np.ndarray, np.ndarray]:
    odds = np.zeros((len(tokens), len(TOKENS)), np.float32)
    odds[range(len(tokens)), [TOKENS.index(token) for token in tokens]] = 1.0
    return np.zeros((len(tokens), 8), np.float32), odds


def test_a_drawn_table_with_a_wide_row_comes_back_as_html(slanet: SlanetTable) -> None:
    picture, lines = drawn(4, 4)
    table = fill(slanet.structure(picture), lines)
    assert texts(table) == [[f"item {r}{c}" for c in range(4)] for r in range(4)] + [
        ["all of these taken together"]
    ]
    assert '<td colspan="4">all of these' in table


def test_cell_boxes_lie_where_the_cells_are(slanet: SlanetTable) -> None:
    picture, _ = drawn(4, 4)
    found = slanet.structure(picture)
    corner = next(cell for cell in found.cells if (cell.row, cell.column) == (2, 3))
    centre = (corner.box[0] + corner.box[2]) / 2, (corner.box[1] + corner.box[3]) / 2
    assert np.allclose(centre, (535, 110), atol=25)


def test_published_tables_have_the_published_structure(slanet: SlanetTable, shared_data: Path) -> None:
    folder = shared_data / "pubtabnet_examples" / "examples"
    records = [json.loads(row) for row in (folder / "PubTabNet_Examples.jsonl").read_text().splitlines()]
    exact = 0
    for record in records[:8]:
        tokens = record["html"]["structure"]["tokens"]  # with those of its head
        picture = np.ascontiguousarray(cv2.imread(str(folder / record["filename"]))[:, :, ::-1])
        exact += empty(slanet.structure(picture)) == f"<table>{''.join(tokens)}</table>"
    assert exact >= 7


@pytest.mark.parametrize("shape", [(1, 1), (2, 900), (900, 2), (488, 488)])
def test_a_picture_without_a_table_is_borne(slanet: SlanetTable, shape: tuple[int, int]) -> None:
    structure = slanet.structure(np.full((*shape, 3), 255, np.uint8))
    assert fill(structure, [line("a", (0, 0, 1, 1))]).count("a</td>") == 1


def test_a_picture_without_pixels_is_a_sentence(slanet: SlanetTable) -> None:
    with pytest.raises(EngineError, match="not one of 5 x 0 pixels"):
        slanet.structure(np.zeros((0, 5, 3), np.uint8))


def test_spans_push_later_cells_aside() -> None:
    wide = ("<td", ' colspan="2"', ' rowspan="3"', ">", "</td>")
    rows = ("<tr>", *wide, "<td></td>", "</tr>", "<tr>", "<td></td>", "</tr>")
    made = decode(*steps(*rows, "eos", "<tr>"), TOKENS, (100, 100))
    assert [(c.row, c.column, c.row_span, c.column_span) for c in made.cells] == [
        (0, 0, 2, 2),
        (0, 2, 1, 1),
        (1, 2, 1, 1),
    ]
    assert (made.rows, made.columns) == (2, 3)


def test_the_networks_heading_is_the_tables_head() -> None:
    row = ("<tr>", "<td></td>", "<td></td>", "</tr>")
    tokens = ("<thead>", *row, "</thead>", "<tbody>", *row, *row, "</tbody>", "eos")
    known = ("sos", *dict.fromkeys(tokens[:-1]), "eos")
    odds = np.zeros((len(tokens), len(known)), dtype=np.float32)
    for step, token in enumerate(tokens):
        odds[step, known.index(token)] = 1.0
    found = decode(np.zeros((len(tokens), 8), dtype=np.float32), odds, known, (100, 100))
    assert (found.rows, found.head) == (3, 1)
    assert empty(found).startswith("<table><thead><tr><td></td><td></td></tr></thead><tbody><tr>")


def test_a_table_cut_off_before_its_end_is_not_believed() -> None:
    assert decode(*steps(*["<tr>", "<td></td>", "</tr>"] * 167), TOKENS, (100, 100)).cells == ()


def test_lines_of_a_cell_are_joined_in_reading_order() -> None:
    lines = [
        line("second", (10, 22, 80, 36)),
        line("of it", (60, 3, 90, 18)),
        line("first", (10, 2, 50, 18)),
        line("옆", (110, 10, 150, 30)),
    ]
    assert texts(fill(grid(1, 2), lines)) == [["first of it second", "옆"]]


def test_chinese_lines_are_joined_without_a_space_and_korean_with_one() -> None:
    lines = [line("图表", (0, 0, 50, 15)), line("数据", (0, 20, 50, 35))]
    assert texts(fill(grid(1, 1), lines)) == [["图表数据"]]
    lines = [line("조사", (0, 0, 50, 15)), line("결과", (0, 20, 50, 35))]
    assert texts(fill(grid(1, 1), lines)) == [["조사 결과"]]


def test_text_is_escaped() -> None:
    assert fill(grid(1, 2), [line('<b> & "x"', (5, 5, 90, 30))]).startswith(
        '<table><tr><td>&lt;b&gt; &amp; "x"</td>'
    )


def test_an_empty_wide_first_row_goes_and_one_with_text_stays() -> None:
    head = TableCell(0, 0, column_span=2, box=(0, 0, 200, 10))
    rest = tuple(TableCell(1, c, box=(100.0 * c, 12, 100.0 * c + 100, 40)) for c in range(2))
    ghost = TableGrid(2, 2, (head, *rest))
    body = [line("a", (5, 15, 20, 35)), line("b", (105, 15, 120, 35))]
    assert fill(ghost, body) == "<table><tr><td>a</td><td>b</td></tr></table>"
    titled = fill(ghost, [line("Title", (50, 1, 150, 9)), *body])
    assert titled.startswith('<table><tr><td colspan="2">Title</td></tr>')


def test_a_row_of_numbers_read_as_one_line_is_split_and_a_phrase_is_not() -> None:
    assert texts(fill(grid(1, 3), [line("12.5 300 47%", (10, 10, 290, 30))])) == [["12.5", "300", "47%"]]
    assert texts(fill(grid(1, 3), [line("sum of all parts", (10, 10, 290, 30))]))[0].count("") == 2


def test_a_line_outside_every_cell_goes_to_the_nearest() -> None:
    assert texts(fill(grid(2, 2), [line("note", (150, 300, 190, 320))])) == [["", ""], ["", "note"]]


def test_without_a_structure_the_lines_make_the_grid() -> None:
    lines = [line("A title over all of the table", (0, 0, 300, 15))]
    lines += [
        line(f"{r}{c}", (100.0 * c, 20.0 + 20 * r, 100.0 * c + 60, 35.0 + 20 * r))
        for r in range(3)
        for c in range(3)
    ]
    table = texts(fill(TableGrid(), lines))
    assert table[1:] == [[f"{r}{c}" for c in range(3)] for r in range(3)]
    assert "A title over all of the table" in table[0]
    assert fill(TableGrid(), []) == "<table></table>"


def test_one_column_is_not_believed_when_lines_stand_in_two() -> None:
    lines = [
        line(t, (x, y, x + 40.0, y + 15.0))
        for t, x, y in (("a", 0.0, 0.0), ("b", 99.0, 0.0), ("c", 0.0, 30.0))
    ]
    assert texts(fill(grid(2, 1), lines)) == [["a", "b"], ["c", ""]]


words = st.text(alphabet="ab1 가中<&", min_size=1, max_size=12)
spans = st.tuples(*[st.floats(-50, 500)] * 2, *[st.floats(1, 300)] * 2).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@given(
    st.lists(st.builds(line, words, spans), max_size=12),
    st.sampled_from([grid(0, 0), grid(1, 1), grid(3, 4)]),
)
def test_no_letter_is_lost_or_doubled(lines: Sequence[Line], structure: TableGrid) -> None:
    table = fill(structure, lines)
    kept = "".join("".join(row) for row in texts(table)).replace(" ", "")
    assert sorted(kept) == sorted("".join(line.text for line in lines).replace(" ", ""))
    made = from_lines(lines)
    assert len(made.cells) == made.rows * made.columns
