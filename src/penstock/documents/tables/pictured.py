"""Tells which grids drawn on a picture are tables, by the lines of text found in their cells.

Boxes of a diagram and squares of an exercise have no text in most of their cells; frames around paragraphs
have many lines in few. A line of text that runs over a drawn line was two cells to whoever set it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from penstock.box import Box, HasBox, area, enclosing, iou, shared_area
from penstock.documents.tables.drawn import DrawnGrid
from penstock.documents.text.lines import rows_of
from penstock.documents.text.runs import runs_of
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, LineBox, Region, TableCell, TableGrid

MIN_ROWS, MIN_COLUMNS = 2, 2
FILLED = 0.5  # share of the cells that have text
MAX_LINES = 4  # of the usual cell that has text: frames around paragraphs have more
SAME = 0.6  # of the area of both together that a model's table and a grid share
INSIDE = 0.7  # share of a region that lies in a table, of which it is a part
SEEN = 0.3  # share of the smaller of a table and a picture that they have in common
LETTERS = 0.6  # share of a grid that one line of text has: strokes of its large letters make the grid
STRIP = 1.5  # times as wide as the usual cell at an open side
MAX_MISSING = 0.2  # share of the cells that may be missing
ROOM = 0.7  # of a cell's width: a line shorter than this had room for the next word
# In heights of a line of text.
SAME_EDGE = 0.45  # between the edges of two cells that are one edge of the grid
PIECE = 0.6  # the least of a line that stands in a cell
REACH = 1.0  # the same of a line that is cut: handwriting runs a little over
BESIDE = 0.8  # white between two lines that are two cells of a row
MAX_CELL = 5.0  # of a cell's height for each of its lines: pictures in frames have more
HEAD_REACH, FOOT_REACH = 2.2, 1.2  # from a model's table to a rule above or below that is its own
RULE_END = 1.0  # between the end of a rule and the table's side
WIDE = 0.6  # share of its box that a line of prose takes


@dataclass(frozen=True, slots=True)
class PicturedTable:
    """A grid that is a table. `structure` is None where the lines part only some of its cells."""

    box: Box
    cells: tuple[Box, ...]
    structure: TableGrid | None


def line_height(lines: Sequence[HasBox]) -> float:
    return median(line.box[3] - line.box[1] for line in lines) if lines else 0.0


def pictured_tables(grids: Sequence[DrawnGrid], lines: Sequence[HasBox]) -> list[PicturedTable]:
    """The grids that are tables, each without the empty strips at its open sides."""
    em, boxes = line_height(lines), [line.box for line in lines]
    found: list[PicturedTable] = []
    for grid in grids:
        cells = _trimmed(grid, boxes, em)
        if cells and _is_table(cells, boxes, em):
            structure = with_missing_cells(structure_of(cells, em))
            whole = is_whole(structure) and not _is_partial(structure, boxes, em)
            every = tuple(cell.box for cell in structure.cells)
            found.append(PicturedTable(enclosing(every), every, structure if whole else None))
    return found


def _trimmed(grid: DrawnGrid, lines: Sequence[Box], em: float) -> list[Box]:
    """The cells without those at an open side, if they are empty there: ruled paper goes on beside a table.

    A strip that is much wider than the others at its side is the paper above or below, text in it or not.
    """
    cells = list(grid.cells)
    for side, closed in ((0, grid.closed[0]), (2, grid.closed[1])):
        last = [cell for cell in cells if abs(cell[side] - grid.box[side]) < em]
        if closed or not last:
            continue
        usual = median(cell[2] - cell[0] for cell in last)
        narrow = [cell for cell in last if cell[2] - cell[0] <= STRIP * usual]
        if not any(_held(cell, lines, em) for cell in narrow):
            cells = [cell for cell in cells if cell not in last]
    return cells


def _is_table(cells: Sequence[Box], lines: Sequence[Box], em: float) -> bool:
    structure = structure_of(cells, em)
    if structure.rows < MIN_ROWS or structure.columns < MIN_COLUMNS:
        return False
    box = enclosing(cells)
    if any(shared_area(line, box) > LETTERS * area(box) for line in lines):
        return False
    held = [(cell, len(rows_of(_held(cell, lines, em)))) for cell in cells]
    filled = [(cell, count) for cell, count in held if count]
    return (
        len(filled) >= FILLED * len(cells)
        and median(count for _, count in filled) <= MAX_LINES
        and median((cell[3] - cell[1]) / count for cell, count in filled) <= MAX_CELL * em
    )


def _held(cell: Box, lines: Sequence[Box], em: float) -> list[Box]:
    """The lines that have a part in the cell."""
    return [
        line
        for line in lines
        if cell[1] <= (line[1] + line[3]) / 2 <= cell[3]
        and min(line[2], cell[2]) - max(line[0], cell[0]) >= min(PIECE * em, 0.5 * (line[2] - line[0]))
    ]


def structure_of(cells: Sequence[Box], em: float) -> TableGrid:
    """Rows, columns and spans by the edges that cells share."""
    lefts, tops = _edges([cell[0] for cell in cells], em), _edges([cell[1] for cell in cells], em)
    reach = SAME_EDGE * em
    placed = [
        TableCell(
            _nearest(tops, cell[1]),
            _nearest(lefts, cell[0]),
            row_span=1 + sum(cell[1] + reach < top < cell[3] - reach for top in tops),
            column_span=1 + sum(cell[0] + reach < left < cell[2] - reach for left in lefts),
            box=cell,
        )
        for cell in cells
    ]
    return TableGrid(len(tops), len(lefts), tuple(placed))


def _edges(values: Sequence[float], em: float) -> list[float]:
    runs = runs_of(sorted(values), lambda run, value: value - run[-1] <= SAME_EDGE * em)
    return [sum(run) / len(run) for run in runs]


def _nearest(edges: Sequence[float], value: float) -> int:
    return min(range(len(edges)), key=lambda i: abs(edges[i] - value))


def with_missing_cells(structure: TableGrid) -> TableGrid:
    """The structure with the few cells whose lines were not seen whole, where their rows and columns are."""
    taken = set(_slots(structure))
    free = [(r, c) for r in range(structure.rows) for c in range(structure.columns) if (r, c) not in taken]
    if not free or len(free) > MAX_MISSING * structure.rows * structure.columns:
        return structure
    across = {cell.column: (cell.box[0], cell.box[2]) for cell in structure.cells if cell.column_span == 1}
    down = {cell.row: (cell.box[1], cell.box[3]) for cell in structure.cells if cell.row_span == 1}
    made = [
        TableCell(row, col, box=(across[col][0], down[row][0], across[col][1], down[row][1]))
        for row, col in free
        if row in down and col in across
    ]
    return replace(structure, cells=(*structure.cells, *made))


def is_whole(structure: TableGrid) -> bool:
    """Whether the cells cover the grid, none of it twice."""
    slots = _slots(structure)
    return len(set(slots)) == len(slots) == structure.rows * structure.columns


def _slots(structure: TableGrid) -> list[tuple[int, int]]:
    return [
        (cell.row + row, cell.column + col)
        for cell in structure.cells
        for row in range(cell.row_span)
        for col in range(cell.column_span)
    ]


def _is_partial(structure: TableGrid, lines: Sequence[Box], em: float) -> bool:
    """Whether a drawn cell holds several: lines side by side, or as many short lines as its neighbour."""
    short: list[tuple[int, int]] = []
    for cell in structure.cells:
        held = _held(cell.box, lines, em)
        rows = [sorted((held[i] for i in row), key=lambda line: line[0]) for row in rows_of(held)]
        apart = sum(any(b[0] - a[2] > BESIDE * em for a, b in pairwise(row)) for row in rows)
        if apart > 1:
            return True
        widest = max((line[2] - line[0] for line in held), default=0.0)
        if len(rows) > 1 and widest < ROOM * (cell.box[2] - cell.box[0]):
            short.append((cell.row, len(rows)))
    return len(set(short)) < len(short)


def table_at(region: Region, tables: Sequence[PicturedTable]) -> PicturedTable | None:
    """The grid that a model's table or picture is, or None: a chart has no text in most of its squares."""
    if region.label not in PICTURE_LABELS | {"table"}:
        return None
    return next((table for table in tables if iou(region.box, table.box) > SAME), None)


def unseen_grids(regions: Sequence[Region], tables: Sequence[PicturedTable]) -> list[PicturedTable]:
    """The tables that no table and no picture of the model has."""
    taken = [region.box for region in regions if region.label in PICTURE_LABELS | {"table"}]
    return [
        table
        for table in tables
        if not any(shared_area(table.box, box) > SEEN * min(area(table.box), area(box)) for box in taken)
    ]


def is_part_of(region: Region, tables: Sequence[PicturedTable]) -> bool:
    """Whether a text region lies in a table, or what was taken for a formula is one."""
    if region.label in PICTURE_LABELS | {"table"}:
        return False
    for table in tables:
        shared = shared_area(region.box, table.box)
        formula = region.label in FORMULA_LABELS and shared > INSIDE * area(table.box)
        if formula or shared > INSIDE * area(region.box):
            return True
    return False


def cut_at_cells(lines: Sequence[LineBox], tables: Sequence[PicturedTable]) -> list[LineBox]:
    """Returns the lines; where one runs over several cells, a line for each cell that it has a part in."""
    em = line_height(lines)
    owners = [
        next((t for t in tables if shared_area(line.box, t.box) > 0.5 * area(line.box)), None)
        for line in lines
    ]
    found = [line for line, owner in zip(lines, owners, strict=True) if owner is None]
    for table in tables:
        own = [line for line, owner in zip(lines, owners, strict=True) if owner is table]
        whole, boxes = _in_cells(own, table.cells, em)
        found += [*whole, *map(LineBox, boxes)]
    return found


def _in_cells(lines: Sequence[LineBox], cells: Sequence[Box], em: float) -> tuple[list[LineBox], list[Box]]:
    """The lines that stay whole, and the boxes of the parts of the others."""
    crossed = [[cell for cell in cells if _reaches(line.box, cell, em)] for line in lines]
    torn = {cell for own in crossed if len(own) > 1 for cell in own}
    pairs = list(zip(lines, crossed, strict=True))
    whole = [line for line, own in pairs if len(own) < 2 and not torn.intersection(own)]
    boxes: list[Box] = []
    for cell in sorted(torn):
        x0, y0, x1, y1 = enclosing([line.box for line, own in pairs if cell in own])
        boxes.append((max(x0, cell[0]), max(y0, cell[1]), min(x1, cell[2]), min(y1, cell[3])))
    return whole, boxes


def _reaches(line: Box, cell: Box, em: float) -> bool:
    """Whether a good part of the line is in a cell that has room for one line."""
    across, down = (
        min(line[2], cell[2]) - max(line[0], cell[0]),
        min(line[3], cell[3]) - max(line[1], cell[1]),
    )
    height = cell[3] - cell[1]
    return across >= min(REACH * em, 0.5 * (line[2] - line[0])) and down >= 0.5 * min(
        height, line[3] - line[1]
    )


def up_to_rules(region: Region, rules: Sequence[Box], em: float) -> Region:
    """A model's table as far as its own first and last rule: the model may cut its head off."""
    x0, y0, x1, y1 = region.box
    own = [rule for rule in rules if abs(rule[0] - x0) < RULE_END * em and abs(rule[2] - x1) < RULE_END * em]
    if region.label != "table" or not any(y0 < rule[1] < y1 for rule in own):
        return region
    top = min((rule[1] for rule in own if y0 - HEAD_REACH * em < rule[1] < y0), default=y0)
    bottom = max((rule[3] for rule in own if y1 < rule[3] < y1 + FOOT_REACH * em), default=y1)
    return replace(region, box=(x0, top, x1, bottom))


def is_paragraph(region: Region, lines: Sequence[HasBox]) -> bool:
    """Whether a model's table is a few lines of prose: a caption, taken for a part of its table."""
    boxes = [line.box for line in lines if shared_area(line.box, region.box) > 0.5 * area(line.box)]
    if region.label != "table" or len(boxes) < 2 or any(len(row) > 1 for row in rows_of(boxes)):
        return False
    wide = sum(box[2] - box[0] > WIDE * (region.box[2] - region.box[0]) for box in boxes)
    return 2 * wide >= len(boxes)
