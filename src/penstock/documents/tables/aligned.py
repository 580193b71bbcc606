"""Finds tables that show their columns by white space alone.

It prefers to miss a table over inventing one: a run of rows must keep the same gutters from its first
row to its last, with short cells. Text set in columns has long lines and is left alone. Between
horizontal rules of one length (the style of journals) two columns are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.box import Box, enclosing, holds_middle
from penstock.documents.tables.ruled import MAX_LINES, TOUCH, Ruling
from penstock.documents.text.blocks import Fragment
from penstock.documents.text.columns import gutters
from penstock.documents.text.runs import runs_of
from penstock.region import NOWHERE, TableCell
from penstock.scripts import is_unspaced

MIN_ROWS = 3
MIN_COLUMNS = 3
LONG_CELL = 24  # characters; the mean cell of a real table is shorter
PROSE_CELL = 12  # characters in three words or more, or in a script without spaces: a line of text
MAX_PROSE = 0.4  # share of cells that may look like lines of text
FILLED = 0.6  # share of cells that must have text
ROW_REACH = 2.2  # font sizes from one row to the next; more is another block
RULES = 3  # top, head and bottom rule of a journal's table
GUTTER = 0.8  # font sizes


@dataclass(frozen=True, slots=True)
class AlignedTable:
    """A table found by its gutters, with the fragments that its cells hold."""

    box: Box
    cells: tuple[TableCell, ...]
    fragments: tuple[Fragment, ...]


def tables_in_rows(rows: Sequence[Sequence[Fragment]], em: float) -> list[AlignedTable]:
    """The tables among rows that are already split at gutters."""
    runs = runs_of(
        rows,
        lambda run, row: min(len(run[-1]), len(row)) >= MIN_COLUMNS and _follows(run[-1], row, em),
    )
    tables = [_table(run, em, MIN_COLUMNS) for run in runs]
    return [table for table in tables if table is not None]


def _follows(above: Sequence[Fragment], below: Sequence[Fragment], em: float) -> bool:
    return min(f.box[1] for f in below) - max(f.box[3] for f in above) < ROW_REACH * em


def _table(rows: Sequence[Sequence[Fragment]], em: float, min_columns: int) -> AlignedTable | None:
    if len(rows) < MIN_ROWS:
        return None
    fragments = [f for row in rows for f in row]
    if sum(len(f.text) for f in fragments) > LONG_CELL * len(fragments):
        return None
    if sum(_is_prose(f.text) for f in fragments) > MAX_PROSE * len(fragments):
        return None
    edges = _edges([f.box for f in fragments], em)
    num_cells = (len(edges) + 1) * len(rows)
    if len(edges) + 1 < min_columns or len(fragments) < FILLED * num_cells:
        return None
    return _filled(rows, edges)


def _is_prose(text: str) -> bool:
    return len(text) >= PROSE_CELL and (text.count(" ") > 1 or is_unspaced(text[len(text) // 2]))


def _edges(boxes: Sequence[Box], em: float) -> list[float]:
    found = gutters(boxes, range(len(boxes)), GUTTER * em)
    return [(low + high) / 2 for low, high in found]


def _filled(rows: Sequence[Sequence[Fragment]], edges: list[float]) -> AlignedTable:
    cells = []
    for r, row in enumerate(rows):
        held: list[list[Fragment]] = [[] for _ in range(len(edges) + 1)]
        for f in row:
            held[sum(edge < (f.box[0] + f.box[2]) / 2 for edge in edges)].append(f)
        cells += [_cell(r, c, own) for c, own in enumerate(held)]
    fragments = [f for row in rows for f in row]
    box = enclosing([f.box for f in fragments])
    return AlignedTable(box=box, cells=tuple(cells), fragments=tuple(fragments))


def _cell(row: int, column: int, held: Sequence[Fragment]) -> TableCell:
    """A cell of these fragments; its box is theirs, as nothing is drawn around it."""
    box = enclosing([f.box for f in held]) if held else NOWHERE
    return TableCell(row, column, " ".join(f.text for f in held).strip(), box=box)


def ruled_bands(across: Sequence[Ruling]) -> list[Box]:
    """Boxes between the first and last of three or more horizontal rules of one length."""
    if len(across) > MAX_LINES:  # a drawing
        return []
    groups: list[list[Ruling]] = []
    for rule in across:  # rules of a table start and end together
        same = (g for g in groups if max(abs(g[0].low - rule.low), abs(g[0].high - rule.high)) <= 2 * TOUCH)
        group = next(same, None)
        if group is None:
            groups.append([rule])
        else:
            group.append(rule)
    bands = []
    for rules in groups:
        if len(rules) >= RULES:
            top, bottom = min(r.at for r in rules), max(r.at for r in rules)
            bands.append((min(r.low for r in rules), top, max(r.high for r in rules), bottom))
    return bands


def table_in_band(rows: Sequence[Sequence[Fragment]], band: Box, em: float) -> AlignedTable | None:
    """The table in a band between rules, or None if its text does not keep two columns."""
    inside = [[f for f in row if holds_middle(band, f.box)] for row in rows]
    inside = [row for row in inside if row]
    return _table(inside, em, min_columns=2)
