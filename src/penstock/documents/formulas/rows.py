"""Rows of a formula, and in each row what is a script or a bound of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median_low

from penstock.documents.formulas.marks import AXIS, BARS, Mark
from penstock.documents.formulas.signs import CLOSING, OPENING
from penstock.documents.text.runs import runs_of

SCRIPT = 0.85  # of the row's size: smaller signs may be scripts
RAISED, LOWERED = 0.1, 0.05  # of the size: off the baseline by so much is a script
OFF_LINE = 0.2  # of the size: a sign as large as the rest is a script if it is off the line by so much
ROW_STEP = 0.9  # of the size: baselines further apart are of two rows
BOUND_BESIDE = 0.7  # of the size: how far a bound may reach beyond its operator
MIN_FENCED = 1.6  # times the size: a bracket so high is written as one that grows


@dataclass
class _Base:
    """One sign of a row with its scripts."""

    mark: Mark
    lower: list[Mark] = field(default_factory=list)
    upper: list[Mark] = field(default_factory=list)

    def latex(self, written: str) -> str:
        lower = f"_{{{row_latex(self.lower)}}}" if self.lower else ""
        upper = f"^{{{row_latex(self.upper)}}}" if self.upper else ""
        return f"{written}{lower}{upper}"


def rows_of(marks: Sequence[Mark]) -> list[list[Mark]]:
    """The marks by row, from top to bottom. Small signs go to the row they are nearest to."""
    if not marks:
        return []
    size = max(mark.size for mark in marks)
    large = sorted((mark for mark in marks if mark.size >= SCRIPT * size), key=lambda mark: mark.baseline)
    rows = runs_of(large, lambda row, mark: mark.baseline - row[-1].baseline <= ROW_STEP * size)
    axes = [sum(mark.baseline for mark in row) / len(row) - AXIS * size for row in rows]
    for mark in marks:
        if mark.size < SCRIPT * size:
            centre = (mark.top + mark.bottom) / 2
            rows[min(range(len(rows)), key=lambda at: abs(axes[at] - centre))].append(mark)
    return rows


def row_latex(marks: Sequence[Mark]) -> str:
    """One row from left to right."""
    if not marks:
        return ""
    bases = _with_scripts(sorted(marks, key=lambda mark: mark.x0))
    written = _fences([base.mark for base in bases])
    return " ".join(base.latex(text) for base, text in zip(bases, written, strict=True) if text or base.lower)


def _with_scripts(marks: list[Mark]) -> list[_Base]:
    size = max(mark.size for mark in marks)
    bases, bound = _with_bounds(marks, size)
    line = _line_of(marks, size)
    found: list[_Base] = []
    for mark in marks:
        if any(mark is one for one in bound):
            continue
        base = next((one for one in bases if one.mark is mark), None)
        if base is not None:
            found.append(base)
        elif found and (mark.size < SCRIPT * size or _is_off(mark, line)):
            _add_script(found, mark)
        else:
            found.append(_Base(mark))
    return found


def _line_of(marks: Sequence[Mark], size: float) -> float:
    """The row's baseline: that of most of its large signs."""
    large = [mark.baseline for mark in marks if mark.is_plain and mark.size >= SCRIPT * size]
    return median_low(large) if large else marks[0].baseline


def _is_off(mark: Mark, line: float) -> bool:
    """Whether a sign as large as the others is a script all the same: the smallest size has none below it."""
    return mark.is_plain and abs(mark.baseline - line) > OFF_LINE * mark.size


def _with_bounds(marks: list[Mark], size: float) -> tuple[list[_Base], list[Mark]]:
    """Operators with the small signs right above and below them, and those signs."""
    bases, bound = [], list[Mark]()
    for mark in marks:
        if not mark.has_limits or mark.size < SCRIPT * size:
            continue
        base = _Base(mark)
        reach = BOUND_BESIDE * size
        for other in marks:
            beside = mark.x0 - reach <= other.x0 and other.x1 <= mark.x1 + reach
            if other.size >= SCRIPT * size or not beside or any(other is one for one in bound):
                continue
            centre = (other.top + other.bottom) / 2
            if centre > mark.bottom:
                base.lower.append(other)
            elif centre < mark.top:
                base.upper.append(other)
        bound += base.lower + base.upper
        bases.append(base)
    return bases, bound


def _add_script(found: list[_Base], mark: Mark) -> None:
    """Gives a small sign to the one before it, or makes it one of its own if it stands on the line."""
    base = found[-1]
    size, line = base.mark.size, base.mark.baseline
    if line - mark.baseline > RAISED * size:
        base.upper.append(mark)
    elif mark.baseline - line > LOWERED * size:
        base.lower.append(mark)
    else:
        found.append(_Base(mark))


def _fences(marks: list[Mark]) -> list[str]:
    """The signs' LaTeX; tall brackets that belong together grow with what they hold."""
    written = [mark.latex for mark in marks]
    open_: list[int] = []
    for at, mark in enumerate(marks):
        is_tall = mark.bottom - mark.top > MIN_FENCED * mark.size
        if not is_tall or not mark.is_fence:
            continue
        closes = mark.text in CLOSING or (mark.text in BARS and bool(open_) and marks[open_[-1]].text in BARS)
        if closes and open_:
            start = open_.pop()
            written[start], written[at] = rf"\left{written[start]}", rf"\right{written[at]}"
        elif mark.text in OPENING or mark.text in BARS:
            open_.append(at)
    return written
