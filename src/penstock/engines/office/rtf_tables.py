"""Tables of an RTF, and tables in their cells: cells by where they end and by what they say of others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from penstock.region import CellPart, TableCell, with_parts

MAX_NESTING = 20
NEAR = 40  # twentieths of a point: edges of two rows that are meant to be one


@dataclass(slots=True)
class RtfRow:
    """A row of a table that is being read."""

    cells: list[list[CellPart]] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)  # of the cells that are defined: "", first and merged ones
    edges: list[int] = field(default_factory=list)  # where they end
    mark: list[str] = field(default_factory=list)  # of the next cell
    is_head: bool = False

    def begin(self) -> None:
        """Takes a definition that begins. It may follow the cells that it is of."""
        self.marks, self.mark, self.edges = [], [], []
        if not self.cells:
            self.is_head = False

    def define(self, edge: int) -> None:
        """Takes the next cell's end, and the marks that came before it."""
        self.edges.append(edge)
        self.marks.append(" ".join(self.mark))
        self.mark = []


@dataclass(slots=True)
class RtfTable:
    """A table that is being read. `parts` is what its open cell holds."""

    rows: list[RtfRow] = field(default_factory=list)
    row: RtfRow = field(default_factory=RtfRow)
    parts: list[CellPart] = field(default_factory=list)

    def end_cell(self) -> None:
        self.row.cells.append(self.parts)
        self.parts = []

    def end_row(self) -> None:
        """Begins the next row, which has the same cells unless it defines its own."""
        self.rows.append(self.row)
        self.row = RtfRow(marks=list(self.row.marks), edges=list(self.row.edges))

    def finished(self) -> list[TableCell]:
        """Returns the cells; a row that never ended is one."""
        if self.parts:
            self.end_cell()
        if self.row.cells:
            self.end_row()
        return _cells_of_rows(self.rows)


class RtfTables:
    """The table that is being read, and those in its open cell, one in another."""

    def __init__(self) -> None:
        self._open: list[RtfTable] = [RtfTable()]

    @property
    def outermost(self) -> RtfTable:
        return self._open[0]

    def at(self, depth: int) -> RtfTable:
        """Returns the table so deep, 1 being the outermost. Deeper ones end, and are parts of their cells."""
        depth = min(max(1, depth), MAX_NESTING)
        while len(self._open) > depth:
            inner = self._open.pop().finished()
            self._open[-1].parts.append(tuple(inner))
        while len(self._open) < depth:
            self._open.append(RtfTable())
        return self._open[-1]

    def finished(self) -> list[TableCell]:
        """Ends all that is open. Returns the cells of the outermost table."""
        cells = self.at(1).finished()
        self._open = [RtfTable()]
        return cells


def _cells_of_rows(rows: Sequence[RtfRow]) -> list[TableCell]:
    """Returns the cells with their spans: a merged cell says that it goes on with the one before or above."""
    cells: dict[tuple[int, int], TableCell] = {}
    # by its first and last place in a row, the cell there
    covered: dict[tuple[int, int], tuple[int, int]] = {}
    grid = _grid(rows)
    for number, row in enumerate(rows):
        ends = [_column(grid, edge) for edge in row.edges] if grid else range(1, len(row.cells) + 1)
        starts = [0, *ends]
        for place, parts in enumerate(row.cells[: len(ends)]):
            mark = row.marks[place] if place < len(row.marks) else ""
            column, end = starts[place], ends[place]
            across, above = covered.get((number, column - 1)), covered.get((number - 1, column))
            first = across if "clmrg" in mark else above if "clvmrg" in mark else None
            if first is None:
                first = number, column
                cells[first] = with_parts(TableCell(number, column, is_header=row.is_head), parts)
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
