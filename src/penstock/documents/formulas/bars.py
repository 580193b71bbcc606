"""Fractions, roots and overlines: what level bars make of the signs above and below them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.box import Box
from penstock.documents.formulas.marks import AXIS, FALL, RISE, Mark
from penstock.documents.formulas.rows import row_latex, rows_of
from penstock.documents.formulas.signs import RADICAL

BESIDE = 0.3  # of the size: how far signs may reach beyond their bar
NEAR = 0.9  # of the size: white between a bar and the signs that belong to it
ROW_GAP = 0.5  # of the size: white between the rows of one numerator


def with_bars(marks: Sequence[Mark], bars: Sequence[Box]) -> list[Mark]:
    """The marks with each bar's signs made one mark. Bars are given shortest first."""
    left = list(marks)
    for bar in bars:
        left = _root(left, bar) or _fraction(left, bar) or left
    return left


def _root(marks: list[Mark], bar: Box) -> list[Mark] | None:
    """The marks with a root made one, or None if no root sign holds this bar."""
    x0, x1 = bar[0], bar[2]
    signs = [
        mark
        for mark in marks
        if mark.text == RADICAL
        and abs(mark.x1 - x0) < BESIDE * mark.size
        and mark.top < bar[3] + NEAR * mark.size
    ]
    if not signs:
        return None
    sign = min(signs, key=lambda mark: abs(mark.x1 - x0))
    held = [
        mark
        for mark in marks
        if mark is not sign and x0 < mark.middle < x1 and mark.bottom > bar[1] and mark.top < sign.bottom
    ]
    return _joined(marks, [sign, *held], rf"\sqrt{{{_latex(held)}}}", _main(held).baseline) if held else None


def _fraction(marks: list[Mark], bar: Box) -> list[Mark] | None:
    over, under = _over(marks, bar), _under(marks, bar)
    y = (bar[1] + bar[3]) / 2
    if over and under:
        size = max(mark.size for mark in [*over, *under])
        latex = rf"\frac{{{_latex(over)}}}{{{_latex(under)}}}"
        return _joined(marks, [*over, *under], latex, y + AXIS * size)
    if under and y > min(mark.top for mark in under) - ROW_GAP * _main(under).size:
        return _joined(marks, under, rf"\overline{{{_latex(under)}}}", _main(under).baseline)
    return None


def _over(marks: Sequence[Mark], bar: Box) -> list[Mark]:
    y = (bar[1] + bar[3]) / 2
    found: list[Mark] = []
    edge = y
    for mark in sorted(_within(marks, bar), key=lambda mark: -mark.bottom):
        gap = NEAR if not found else ROW_GAP
        if mark.bottom - FALL * mark.size <= y and edge - mark.bottom < gap * mark.size:
            found.append(mark)
            edge = min(edge, mark.top)
    return found


def _under(marks: Sequence[Mark], bar: Box) -> list[Mark]:
    y = (bar[1] + bar[3]) / 2
    found: list[Mark] = []
    edge = y
    for mark in sorted(_within(marks, bar), key=lambda mark: mark.top):
        gap = NEAR if not found else ROW_GAP
        if mark.top + RISE * mark.size / 2 >= y and mark.top - edge < gap * mark.size:
            found.append(mark)
            edge = max(edge, mark.bottom)
    return found


def _within(marks: Sequence[Mark], bar: Box) -> list[Mark]:
    return [
        mark
        for mark in marks
        if mark.x0 > bar[0] - BESIDE * mark.size and mark.x1 < bar[2] + BESIDE * mark.size
    ]


def _main(marks: Sequence[Mark]) -> Mark:
    return max(marks, key=lambda mark: mark.size)


def _latex(marks: list[Mark]) -> str:
    return r" \\ ".join(row_latex(row) for row in rows_of(marks))


def _joined(marks: list[Mark], parts: list[Mark], latex: str, baseline: float) -> list[Mark]:
    whole = Mark(
        latex,
        "",
        min(part.x0 for part in parts),
        max(part.x1 for part in parts),
        min(part.top for part in parts),
        max(part.bottom for part in parts),
        baseline,
        max(part.size for part in parts),
    )
    return [mark for mark in marks if not any(mark is part for part in parts)] + [whole]
