"""Finds journals' tables on a picture: a head between two rules of one length, and rows in its columns.

It prefers to miss a table over inventing one: every row must have cells in two columns of the head, none of
them may run into the next column, and the cells must leave white between them, as columns of text do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from penstock.box import Box, HasBox, enclosing, shared_area
from penstock.documents.tables.pictured import PicturedTable, line_height
from penstock.documents.text.lines import rows_of

MIN_ROWS = 3  # below the head
MAX_FILL = 0.8  # share of the rows' width that has text: of columns of text 0.9 and more
# In heights of a line of text.
RULE_END = 0.6  # between the ends of two rules of one length
MIN_HEAD, MAX_HEAD = 0.8, 4.5  # between the two rules
ROW_REACH = 1.0  # white between two rows
BESIDE = 0.8  # white between two cells
HANGS = 1.0  # how far a cell may begin before its head


def headed_tables(
    rules: Sequence[Box], lines: Sequence[HasBox], grids: Sequence[PicturedTable] = ()
) -> list[PicturedTable]:
    """Tables beside those that are `grids`, none over another; who reads their cells must find them.

    Rules may stand below each row: the first two are the head.
    """
    em, boxes = line_height(lines), [line.box for line in lines]
    found: list[PicturedTable] = []
    for top, foot in _heads(sorted(rules, key=lambda rule: rule[1]), em):
        rows = _rows(top, foot, boxes, em)
        if len(rows) > MIN_ROWS and _fill(rows, top) <= MAX_FILL:
            box = enclosing([top, *(cell for row in rows for cell in row)])
            if not any(shared_area(box, table.box) for table in [*grids, *found]):
                found.append(PicturedTable(box, (), None))
    return found


def _heads(rules: Sequence[Box], em: float) -> list[tuple[Box, Box]]:
    """Each rule with the next one of its length, if a head fits between them."""
    found: list[tuple[Box, Box]] = []
    for place, top in enumerate(rules):
        same = [
            rule
            for rule in rules[place + 1 :]
            if max(abs(rule[0] - top[0]), abs(rule[2] - top[2])) < RULE_END * em
        ]
        if same and MIN_HEAD * em < same[0][1] - top[3] < MAX_HEAD * em:
            found.append((top, same[0]))
    return found


def _rows(top: Box, foot: Box, lines: Sequence[Box], em: float) -> list[list[Box]]:
    """The head's last row and the rows below that keep its columns; none without a head of two cells."""
    below = [
        line for line in lines if line[1] > top[1] - em and top[0] - em < line[0] and line[2] < top[2] + em
    ]
    rows = [sorted(below[i] for i in row) for row in rows_of(below)]
    head = [row for row in rows if _middle(row[0]) < foot[1]]
    if not head or len(head[-1]) < 2 or not _apart(head[-1], em):
        return []
    starts = [cell[0] - HANGS * em for cell in head[-1]]
    found = [head[-1]]
    for row in rows[len(head) :]:
        if row[0][1] - max(cell[3] for cell in found[-1]) > ROW_REACH * em or not _keeps(row, starts, em):
            break
        found.append(row)
    return found


def _keeps(row: Sequence[Box], starts: Sequence[float], em: float) -> bool:
    """Whether the cells stand in two columns or more, one in each, and none reaches into the next."""
    columns = [sum(start <= cell[0] for start in starts) - 1 for cell in row]
    ends = [*starts[1:], float("inf")]
    inside = all(
        column >= 0 and cell[2] <= ends[column] + em for cell, column in zip(row, columns, strict=True)
    )
    return len(row) > 1 and len(set(columns)) == len(columns) and inside and _apart(row, em)


def _apart(row: Sequence[Box], em: float) -> bool:
    return all(b[0] - a[2] >= BESIDE * em for a, b in pairwise(row))


def _fill(rows: Sequence[Sequence[Box]], rule: Box) -> float:
    return sum(cell[2] - cell[0] for row in rows for cell in row) / (len(rows) * (rule[2] - rule[0]))


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2
