"""Matrices and cases: rows of cells that tall brackets hold."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.documents.formulas.marks import BARS, Mark, joined
from penstock.documents.formulas.rows import MIN_FENCED, row_latex, rows_of
from penstock.documents.formulas.signs import CLOSING, OPENING

SAME_HEIGHT = 0.5  # of the size: how much the two brackets of a pair may differ
CELL_GAP = 0.4  # of the size: white between cells; round a relation there is less
KINDS = {"(": "pmatrix", "[": "bmatrix", "{": "Bmatrix", "|": "vmatrix", "∣": "vmatrix", "‖": "Vmatrix"}


def with_matrices(marks: Sequence[Mark]) -> list[Mark]:
    """The marks with each pair of tall brackets that holds several rows made one, innermost first."""
    left = list(marks)
    for opening in sorted((mark for mark in marks if _opens(mark)), key=lambda mark: -mark.x0):
        if any(mark is opening for mark in left):
            left = _matrix(left, opening) or left
    return left


def _opens(mark: Mark) -> bool:
    return mark.bottom - mark.top > MIN_FENCED * mark.size and (mark.text in OPENING or mark.text in BARS)


def _matrix(marks: list[Mark], opening: Mark) -> list[Mark] | None:
    closing = _closing(marks, opening)
    if closing is None and opening.text != "{":
        return None
    end = closing.x0 if closing else float("inf")
    inside = [
        mark
        for mark in marks
        if opening.x0 < mark.x0 < end
        and mark is not opening
        and opening.top < (mark.top + mark.bottom) / 2 < opening.bottom
    ]
    rows = [_cells(row) for row in rows_of(inside)]
    if len(rows) < 2 or (closing and len({len(row) for row in rows}) > 1):
        return None
    kind = KINDS.get(opening.text, "matrix") if closing else "cases"
    body = r" \\ ".join(" & ".join(row_latex(cell) for cell in row) for row in rows)
    latex = rf"\begin{{{kind}}} {body} \end{{{kind}}}"
    return joined(marks, [opening, *inside, *([closing] if closing else [])], latex, opening.baseline)


def _closing(marks: Sequence[Mark], opening: Mark) -> Mark | None:
    slack = SAME_HEIGHT * opening.size
    pairs = [
        mark
        for mark in marks
        if mark.x0 > opening.x0
        and (mark.text in CLOSING or (mark.text in BARS and mark.text == opening.text))
        and abs(mark.top - opening.top) < slack
        and abs(mark.bottom - opening.bottom) < slack
    ]
    return min(pairs, key=lambda mark: mark.x0, default=None)


def _cells(row: list[Mark]) -> list[list[Mark]]:
    """A row's marks by cell, from left to right."""
    row = sorted(row, key=lambda mark: mark.x0)
    cells, end = [[row[0]]], row[0].x1
    for mark in row[1:]:
        if mark.x0 - end > CELL_GAP * mark.size:
            cells.append([])
        cells[-1].append(mark)
        end = max(end, mark.x1)
    return cells
