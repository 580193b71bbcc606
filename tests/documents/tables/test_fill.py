"""What `fill` makes of a network's boxes that do not lie where the text lies; all drawn up here."""

from __future__ import annotations

from itertools import product

from penstock.documents.tables import fill as filling
from penstock.documents.tables.html import to_html
from penstock.region import Line, TableCell, TableGrid


def structure(rows: int, cols: int, pitch: float) -> TableGrid:
    cells = [
        TableCell(r, c, box=(c * 100.0, r * pitch, c * 100.0 + 80, r * pitch + 0.8 * pitch))
        for r, c in product(range(rows), range(cols))
    ]
    return TableGrid(rows, cols, tuple(cells), 1)


def text(rows: int, cols: int) -> list[Line]:
    return [
        Line(text=f"{r}{c}", box=(c * 100.0, r * 30.0, c * 100.0 + 60, r * 30.0 + 20))
        for r, c in product(range(rows), range(cols))
    ]


def fill(grid: TableGrid, lines: list[Line]) -> str:
    return to_html(filling.fill(grid, lines))


def rows_of(html: str) -> list[str]:
    return [row.replace("<td>", "").split("</td>")[:-1][0] for row in html.split("<tr>")[1:]]


def test_as_many_rows_of_text_as_rows_are_those_rows() -> None:
    """The network's rows are 24 pixels apart, the text's 30: by overlap the last two would share one."""
    assert rows_of(fill(structure(6, 2, 24.0), text(6, 2))) == ["00", "10", "20", "30", "40", "50"]


def test_an_empty_row_beside_a_doubled_one_gives_way_to_the_rows_of_the_text() -> None:
    cells = structure(6, 2, 30.0).cells
    wrong = TableGrid(5, 2, tuple(cell for cell in cells if cell.row < 5), 1)
    skewed = TableGrid(
        5,
        2,
        tuple(
            TableCell(cell.row, cell.column, box=(cell.box[0], 400.0, cell.box[2], 420.0))
            if cell.row == 4
            else cell
            for cell in wrong.cells
        ),
        1,
    )
    assert rows_of(fill(skewed, text(6, 2))) == ["00", "10", "20", "30", "40", "50"]


def test_a_cell_of_two_lines_keeps_them() -> None:
    lines = [*text(2, 2), Line(text="more", box=(100.0, 50.0, 160.0, 68.0))]
    two = TableGrid(
        2,
        2,
        tuple(
            TableCell(r, c, box=(c * 100.0, r * 28.0, c * 100.0 + 80, r * 28.0 + (24 if r == 0 else 44)))
            for r, c in product(range(2), range(2))
        ),
        1,
    )
    assert "11 more" in fill(two, lines)


def test_an_upright_line_beside_the_rows_makes_no_row() -> None:
    upright = Line(text="side", box=(-40.0, 0.0, -10.0, 150.0))
    assert rows_of(fill(structure(6, 2, 24.0), [*text(6, 2), upright]))[-1] == "50"
