"""Small line charts as inline SVG: one quantity over the time of a run.

Colours come from the page's style sheet by class: `line one`, `line two`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from penstock.trace import phrases
from penstock.trace.profile import Curve

WIDTH, HEIGHT = 300, 120
TOP, BOTTOM, LEFT = 8, 98, 40  # the plot's own box; to the right it ends where the picture does
CLASSES = ("one", "two")


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One quantity: a mean for each `bin_s` seconds, None where there was no sample."""

    name: str
    bin_s: float
    means: Curve
    kind: int = 0  # which of the two colours


def chart(title: str, note: str, lines: Sequence[ChartLine], seconds: float, *, share: bool = False) -> str:
    """A figure with its title, empty without samples. `share`: the axis goes from 0 to 100 %."""
    seen = [value for line in lines for value in line.means if value is not None]
    if not seen or seconds <= 0:
        return ""
    top = 1.0 if share else nice(max(seen))
    axis = phrases.percent if share else _whole
    drawn = "".join(_path(line, seconds, top) for line in lines)
    grid = "".join(f"M{LEFT} {y:g}H{WIDTH}" for y in (TOP, (TOP + BOTTOM) / 2, BOTTOM))
    label = escape(f"{title} over time")
    return (
        f"<figure><figcaption><b>{escape(title)}</b><span>{escape(note)}</span></figcaption>"
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f'<path class="grid" d="{grid}"/>'
        f'<text class="scale" x="{LEFT - 6}" y="{TOP + 5}">{escape(axis(top))}</text>'
        f'<text class="scale" x="{LEFT - 6}" y="{BOTTOM + 4}">0</text>'
        f'<text class="ends" x="{WIDTH}" y="{HEIGHT - 5}">{escape(phrases.duration(seconds))}</text>'
        f"{drawn}</svg></figure>"
    )


def nice(highest: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... that is not below `highest`."""
    if highest <= 1:
        return 1.0
    decade = 10.0 ** math.floor(math.log10(highest))
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= highest * (1 - 1e-9))


def _path(line: ChartLine, seconds: float, top: float) -> str:
    steps = "".join(_pieces(line, seconds, top))
    return (
        f'<path class="line {CLASSES[line.kind]}" d="{steps}"><title>{escape(line.name)}</title></path>'
        if steps
        else ""
    )


def _pieces(line: ChartLine, seconds: float, top: float) -> Iterator[str]:
    """A level line for each bin, joined to the next; it breaks where there was no sample."""
    joined = False
    for place, value in enumerate(line.means):
        start, end = place * line.bin_s, min((place + 1) * line.bin_s, seconds)
        if value is None or start >= seconds:
            joined = False
            continue
        y = BOTTOM - (BOTTOM - TOP) * min(1.0, value / top)
        yield f"{'L' if joined else 'M'}{_x(start, seconds):.1f} {y:.1f}H{_x(end, seconds):.1f}"
        joined = True


def _x(moment: float, seconds: float) -> float:
    return LEFT + (WIDTH - LEFT) * moment / seconds


def _whole(number: float) -> str:
    return phrases.count(round(number))
