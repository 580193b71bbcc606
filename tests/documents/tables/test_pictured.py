"""Grids and lines of text as a detector would give them, written by hand."""

from __future__ import annotations

from itertools import pairwise

from penstock.box import Box
from penstock.documents.reading.page_reading import Draft
from penstock.documents.tables.drawn import Drawings, DrawnGrid
from penstock.documents.tables.pictured import (
    cut_at_cells,
    is_paragraph,
    pictured_tables,
    structure_of,
    up_to_rules,
    with_missing_cells,
)
from penstock.region import LineBox, Region
from tests.documents.reading.steps import with_drawn_tables

EM = 20.0
XS, YS = (100.0, 220.0, 340.0, 460.0), (100.0, 132.0, 164.0, 196.0)


def cells(xs: tuple[float, ...] = XS, ys: tuple[float, ...] = YS) -> list[Box]:
    return [(x0 + 2, y0 + 2, x1 - 2, y1 - 2) for y0, y1 in pairwise(ys) for x0, x1 in pairwise(xs)]


def grid_of(boxes: list[Box], closed: tuple[bool, bool] = (True, True), box: Box | None = None) -> DrawnGrid:
    return DrawnGrid(box or (XS[0], YS[0], XS[-1], YS[-1]), tuple(boxes), closed)


def text_in(cell: Box, rows: int = 1) -> list[LineBox]:
    x, y = cell[0] + 10, cell[1] + 4
    return [LineBox((x, y + i * 24, x + 60, y + i * 24 + EM)) for i in range(rows)]


def texts(boxes: list[Box]) -> list[LineBox]:
    return [line for cell in boxes for line in text_in(cell)]


def test_a_grid_with_text_in_its_cells_is_a_table() -> None:
    [table] = pictured_tables([grid_of(cells())], texts(cells()))
    assert table.structure is not None
    assert (table.structure.rows, table.structure.columns) == (3, 3)


def test_the_squares_of_an_exercise_are_no_table() -> None:
    assert pictured_tables([grid_of(cells())], texts(cells()[:3])) == []


def test_the_strokes_of_large_letters_are_no_table() -> None:
    title = LineBox((98.0, 96.0, 470.0, 200.0))
    assert (
        pictured_tables(
            [grid_of(cells())], [title, *texts([(600.0, y, 700.0, y + 30) for y in range(300, 900, 40)])]
        )
        == []
    )


def test_frames_around_paragraphs_are_no_table() -> None:
    frames = cells((100.0, 300.0, 500.0), (100.0, 300.0, 500.0))
    lines = [line for frame in frames for line in text_in(frame, rows=7)]
    assert pictured_tables([grid_of(frames)], lines) == []


def test_ruled_paper_beside_a_table_is_no_column_of_it() -> None:
    wide = cells((40.0, *XS, 560.0))
    inner = cells()
    strip = (342.0, 70.0, 558.0, 98.0)  # the paper above, with a line of the text before the table
    lines = [*texts(inner), LineBox((300.0, 74.0, 420.0, 94.0))]
    grid = grid_of([*wide, strip], (False, False), (40.0, 70.0, 560.0, 196.0))
    [table] = pictured_tables([grid], lines)
    assert table.structure is not None and table.structure.columns == 3 and table.structure.rows == 3


def test_an_empty_column_with_a_line_around_it_stays() -> None:
    filled = [cell for cell in cells() if cell[0] < 300]
    [table] = pictured_tables([grid_of(cells())], texts(filled))
    assert table.structure is not None and table.structure.columns == 3


def test_a_cell_over_two_columns_spans_them() -> None:
    head = (102.0, 102.0, 338.0, 130.0)
    structure = structure_of([head, *cells()[2:]], EM)
    assert [cell.column_span for cell in structure.cells if cell.row == 0] == [2, 1]


def test_a_cell_whose_lines_are_broken_is_put_back() -> None:
    structure = with_missing_cells(structure_of(cells()[:-1], EM))
    [cell] = [cell for cell in structure.cells if (cell.row, cell.column) == (2, 2)]
    assert cell.box == cells()[-1]


def test_lines_around_some_cells_only_are_left_to_the_network() -> None:
    """Each drawn cell holds three rows of the table."""
    blocks = cells((100.0, 220.0, 340.0), (100.0, 180.0, 260.0))
    lines = [line for block in blocks for line in text_in(block, rows=3)]
    [table] = pictured_tables([grid_of(blocks)], lines)
    assert table.structure is None


def test_a_line_over_several_cells_is_cut_at_the_drawn_lines() -> None:
    across = LineBox((110.0, 104.0, 450.0, 128.0))
    lines = [across, *texts(cells()[3:])]
    tables = pictured_tables([grid_of(cells())], lines)
    cut = [line.box for line in cut_at_cells(lines, tables) if line.box[1] < 130]
    assert sorted(box[0] for box in cut) == [110.0, 222.0, 342.0]
    assert len(cut_at_cells(lines, tables)) == 9


def test_a_table_the_model_called_a_formula_is_a_table() -> None:
    drawn = Drawings((grid_of(cells()),))
    lines = texts(cells())
    tables = pictured_tables(drawn.grids, lines)
    formula: Draft = Draft(Region(label="display_formula", native_label="equation", box=(90, 90, 470, 300)))
    [draft] = with_drawn_tables([formula], lines, drawn.rules, tables)
    assert draft.region.label == "table" and draft.grid is not None


def test_a_grid_in_a_picture_is_a_part_of_the_picture() -> None:
    drawn = Drawings((grid_of(cells()),))
    lines = texts(cells())
    picture: Draft = Draft(Region(label="image", native_label="figure", box=(50, 50, 550, 300)))
    assert with_drawn_tables([picture], lines, drawn.rules, pictured_tables(drawn.grids, lines)) == [picture]


def test_a_picture_that_is_a_grid_full_of_text_is_a_table() -> None:
    """A screenshot of a table; the model calls it a figure."""
    drawn = Drawings((grid_of(cells()),))
    lines = texts(cells())
    picture: Draft = Draft(Region(label="image", native_label="figure", box=(95, 95, 470, 200)))
    [draft] = with_drawn_tables([picture], lines, drawn.rules, pictured_tables(drawn.grids, lines))
    assert draft.region.label == "table" and draft.grid is not None


def test_a_table_reaches_up_to_its_own_first_rule() -> None:
    rules = [(100.0, 100.0, 460.0, 103.0), (100.0, 140.0, 460.0, 143.0), (100.0, 300.0, 460.0, 303.0)]
    table = Region(label="table", native_label="table", box=(98, 135, 462, 305))
    assert up_to_rules(table, rules, EM).box == (98, 100.0, 462, 305)
    short = [(100.0, 100.0, 300.0, 103.0), *rules[1:]]
    assert up_to_rules(table, short, EM).box == table.box


def test_a_caption_taken_for_a_table_is_a_paragraph() -> None:
    caption = Region(label="table", native_label="table", box=(100, 100, 500, 160))
    lines = [LineBox((100, 100 + 20 * i, 480 - 200 * (i > 1), 118 + 20 * i)) for i in range(3)]
    assert is_paragraph(caption, lines)
    assert not is_paragraph(caption, [*lines, LineBox((485, 100, 500, 118))])
