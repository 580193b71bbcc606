"""Rows of an RTF as a table: cells by where they end, and by what they say of those before and above."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from penstock.region import TableCell

NEAR = 40  # twentieths of a point: edges of two rows that are meant to be one


@dataclass(slots=True)
class RtfRow:
    """A row of a table that is being read."""

    cells: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)  # of the cells that are defined: "", first and merged ones
    edges: list[int] = field(default_factory=list)  # where they end
    mark: list[str] = field(default_factory=list)  # of the next cell
    is_head: bool = False


def cells_of_rows(rows: Sequence[RtfRow]) -> list[TableCell]:
    """Returns the cells with their spans: a merged cell says that it goes on with the one before or above."""
    cells: dict[tuple[int, int], TableCell] = {}
    covered: dict[
        tuple[int, int], tuple[int, int]
    ] = {}  # by its first and last place in a row, the cell there
    grid = _grid(rows)
    for number, row in enumerate(rows):
        ends = [_column(grid, edge) for edge in row.edges] if grid else range(1, len(row.cells) + 1)
        starts = [0, *ends]
        for place, text in enumerate(row.cells[: len(ends)]):
            mark = row.marks[place] if place < len(row.marks) else ""
            column, end = starts[place], ends[place]
            across, above = covered.get((number, column - 1)), covered.get((number - 1, column))
            first = across if "clmrg" in mark else above if "clvmrg" in mark else None
            if first is None:
                first = number, column
                cells[first] = TableCell(number, column, text, is_header=row.is_head)
            wide, high = end - first[1], number - first[0] + 1
            cell = cells[first]
            cells[first] = cell._replace(
                column_span=max(wide, cell.column_span), row_span=max(high, cell.row_span)
            )
            covered[number, column] = covered[number, end - 1] = first
    return list(cells.values())


def _grid(rows: Sequence[RtfRow]) -> list[int]:
    """Returns where columns end, over all rows; nothing where a row does not say it of each cell."""
    for row in rows:
        # programs end a row that holds a table with cells too many, all of them empty
        if (
            not row.edges
            or any(row.cells[len(row.edges) :])
            or any(b - a <= NEAR for a, b in pairwise(row.edges))
        ):
            return []
    grid: list[int] = []
    for edge in sorted({edge for row in rows for edge in row.edges}):
        if not grid or edge - grid[-1] > NEAR:
            grid.append(edge)
    return grid


def _column(grid: Sequence[int], edge: int) -> int:
    """Returns how many columns end up to an edge."""
    return bisect_left(grid, edge - NEAR) + 1
