"""Fractions, roots and overlines: what level bars make of the signs above and below them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.box import Box
from penstock.documents.formulas.marks import AXIS, FALL, RISE, Mark, joined
from penstock.documents.formulas.rows import row_latex, rows_of
from penstock.documents.formulas.signs import RADICAL

BESIDE = 0.3  # of the size: how far signs may reach beyond their bar
NEAR = 0.9  # of the size: white between a bar and the signs that belong to it
ROOF = 0.3  # of a root sign's height: its bar is at its top, a fraction that it holds has one in the middle
SMALL = 0.85  # of a root's size: what stands in its arm is smaller
ROW_GAP = 0.5  # of the size: white between the rows of one numerator


def with_bars(marks: Sequence[Mark], bars: Sequence[Box]) -> list[Mark]:
    """The marks with each bar's signs made one mark. Bars are given shortest first."""
    left = list(marks)
    for number, bar in enumerate(bars):
        left = _root(left, bar) or _fraction(left, bar, bars[number + 1 :]) or left
    return left


def _root(marks: list[Mark], bar: Box) -> list[Mark] | None:
    """The marks with a root made one, or None if no root sign holds this bar."""
    x0, x1 = bar[0], bar[2]
    signs = [
        mark
        for mark in marks
        if mark.text == RADICAL
        and abs(mark.x1 - x0) < BESIDE * mark.size
        and abs(bar[1] - mark.top) < ROOF * (mark.bottom - mark.top)
    ]
    if not signs:
        return None
    sign = min(signs, key=lambda mark: abs(mark.x1 - x0))
    held = [
        mark
        for mark in marks
        if mark is not sign and x0 < mark.middle < x1 and mark.bottom > bar[1] and mark.top < sign.bottom
    ]
    if not held:
        return None
    index = _index(marks, sign)
    degree = f"[{_latex(index)}]" if index else ""
    latex = rf"\sqrt{degree}{{{_latex(held)}}}"
    return joined(marks, [sign, *index, *held], latex, _main(held).baseline)


def _index(marks: Sequence[Mark], sign: Mark) -> list[Mark]:
    """The small signs in the arm of a root."""
    middle = (sign.top + sign.bottom) / 2
    return [
        mark
        for mark in marks
        if mark.size < SMALL * sign.size
        and sign.x0 - BESIDE * sign.size < mark.x0
        and mark.middle < sign.x1
        and mark.baseline < middle + BESIDE * sign.size
        and mark.bottom > sign.top
    ]


def _fraction(marks: list[Mark], bar: Box, longer: Sequence[Box]) -> list[Mark] | None:
    """The marks with those above and below the bar made one. What is beyond a longer bar is not of it."""
    y = (bar[1] + bar[3]) / 2
    across = [other for other in longer if other[0] < bar[2] and bar[0] < other[2]]
    top = max((other[3] for other in across if other[3] < y), default=float("-inf"))
    bottom = min((other[1] for other in across if other[1] > y), default=float("inf"))
    near = [mark for mark in marks if top < (mark.top + mark.bottom) / 2 < bottom]
    over, under = _over(near, bar), _under(near, bar)
    if over and under:
        size = max(mark.size for mark in [*over, *under])
        latex = rf"\frac{{{_latex(over)}}}{{{_latex(under)}}}"
        return joined(marks, [*over, *under], latex, y + AXIS * size)
    if under and y > min(mark.top for mark in under) - ROW_GAP * _main(under).size:
        return joined(marks, under, rf"\overline{{{_latex(under)}}}", _main(under).baseline)
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
