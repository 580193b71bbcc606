"""Finds the tables on a picture: by lines that are drawn, by heads between rules, by what stands in rows.

Tables of a text layer are found in in_layer.py: its words tell more, and are known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from penstock.box import Box, enclosing
from penstock.documents.tables.drawn import Drawings
from penstock.documents.tables.headed import headed_tables
from penstock.documents.tables.pictured import PicturedTable, cut_at_cells, pictured_tables
from penstock.documents.text.columns import split_along
from penstock.documents.text.lines import rows_of
from penstock.region import LineBox

LONE_CELLS, LONE_ROWS = 3, 4  # of a table that the model did not see
# of a row's length that is cells: 0.3 to 0.9 in tables; the pieces of a sentence leave no room between them,
# and the boxes of slanted lines lie over each other, 1.2 and more
MAX_FILLED = 0.95
CELLS_SHARE = 0.8  # of the lines of such a table: 0.83 to 1 of them stand in rows, 0.5 of a receipt's


def find_tables(drawings: Drawings, lines: Sequence[LineBox]) -> tuple[list[PicturedTable], list[LineBox]]:
    """Returns the tables drawn on the picture, none over another, and the lines, cut at their cells."""
    tables = pictured_tables(drawings.grids, lines)
    tables += headed_tables(drawings.rules, lines, tables)
    return tables, cut_at_cells(lines, tables)


def table_among(lines: Sequence[Box]) -> Box | None:
    """The box of the table whose cells these lines are, nearly all of them, or None."""
    rows = [row for row in rows_of(lines) if len(row) >= LONE_CELLS]
    in_rows = sum(len(row) for row in rows)
    if len(rows) < LONE_ROWS or in_rows < CELLS_SHARE * len(lines) or not _keep_columns(lines, rows):
        return None
    if median(_filled([lines[i] for i in row]) for row in rows) > MAX_FILLED:
        return None
    return shared_columns(lines, rows)


def _keep_columns(lines: Sequence[Box], rows: Sequence[Sequence[int]]) -> bool:
    """Whether the rows share columns. The pieces of a photographed line of text stand anywhere in it."""
    columns = split_along(lines, [i for row in rows for i in row], 0, 0.0)
    return sum(2 * len(column) >= len(rows) for column in columns) >= LONE_CELLS


def _filled(row: Sequence[Box]) -> float:
    """How much of a row's length its boxes cover: more than all of it where slanted lines stand as boxes."""
    return sum(x1 - x0 for x0, _, x1, _ in row) / max(
        1.0, max(box[2] for box in row) - min(box[0] for box in row)
    )


def shared_columns(lines: Sequence[Box], rows: Sequence[Sequence[int]]) -> Box | None:
    """The box around the columns that the rows share, or None if they share none."""
    columns = split_along(lines, [i for row in rows for i in row], 0, 0.0)
    # a word beside the table may stand on the height of one of its rows
    cells = [lines[i] for column in columns if 2 * len(column) >= len(rows) for i in column]
    return enclosing(cells) if cells else None
