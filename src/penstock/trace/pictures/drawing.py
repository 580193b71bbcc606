"""Draws the report's pictures as inline SVG: the pipe, the timeline and a bar for each stage.

Colours come from the page's style sheet by class: `busy`, `starved`, `blocked`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from penstock.trace import phrases
from penstock.trace.profile import Bin, Profile, StageProfile

STATES = ("busy", "blocked", "starved")  # from the bottom up: work, then what holds it up
WIDTH = 960
LABELS = 118  # room for stage names left of the timeline
COLUMNS = 240  # finer than that, columns are thinner than four pixels and the page grows
LANE = 40
GAP = 12
PIPE_THIN, PIPE_WIDE = 14.0, 92.0
TICKS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class _Column:
    """A part of a stage's time: its start and end as fractions of the run, and its shares."""

    start: float
    end: float
    busy: float
    starved: float
    blocked: float


def bar(stage: StageProfile) -> str:
    """One stage's time as a stacked bar."""
    parts, x = "", 0.0
    for state, share in stage.shares.items():
        parts += f'<rect class="{state}" x="{x:.1f}" width="{100 * share:.1f}" height="10"/>'
        x += 100 * share
    shares = ", ".join(f"{state} {phrases.percent(share)}" for state, share in stage.shares.items())
    label = escape(f"{stage.name}: {shares}")
    return (
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f"<title>{label}</title>{parts}</svg>"
    )


def pipe(stages: Sequence[StageProfile], bottleneck: str) -> str:
    """The stages as one pipe, each as wide as its capacity; the bottleneck is marked."""
    carrying = [stage for stage in stages if stage.capacity_per_s]
    if not carrying:
        return ""
    step = WIDTH / len(carrying)
    widths = _pipe_widths([stage.capacity_per_s for stage in carrying])
    middle = 40 + PIPE_WIDE / 2
    sections = "".join(
        _section_labels(stage, step * (place + 0.5), stage.name == bottleneck)
        for place, stage in enumerate(carrying)
    )
    return (
        f'<svg class="pipe" viewBox="0 0 {WIDTH} {PIPE_WIDE + 80:.0f}" role="img" '
        'aria-label="Pages a second each stage could carry">'
        '<defs><linearGradient id="water" x1="0" y1="0" x2="0" y2="1"><stop offset="0" class="top"/>'
        '<stop offset="0.35" class="mid"/><stop offset="1" class="low"/></linearGradient></defs>'
        f'<path class="water" d="{_outline(widths, step, middle)}"/>'
        f"{_narrows(carrying, widths, step, middle, bottleneck)}{sections}</svg>"
    )


def timeline(profile: Profile) -> str:
    """One lane for each stage: the shares of busy, blocked and starved workers at each moment."""
    seconds, bins = profile.seconds, profile.timeline.stages
    stages = [stage for stage in profile.stages if bins.get(stage.name)]
    if not stages or seconds <= 0:
        return ""
    height = len(stages) * (LANE + GAP)
    lanes = ""
    for place, stage in enumerate(stages):
        slots = max(1, stage.workers * stage.overlap)
        columns = _columns(bins[stage.name], profile.timeline.bin_s, seconds, slots)
        lanes += _lane(stage, columns, place * (LANE + GAP))
    return (
        f'<svg class="timeline" viewBox="0 0 {WIDTH} {height + 24}" role="img" '
        f'aria-label="Timeline of the stages">{_axis(seconds, height)}{lanes}</svg>'
    )


def _pipe_widths(capacities: Sequence[float]) -> list[float]:
    """Each doubling is the same step wider, so that 2 and 400 pages/s fit one picture."""
    low, high = math.log2(min(capacities)), math.log2(max(capacities))
    spread = max(high - low, 1.0)
    return [PIPE_THIN + (PIPE_WIDE - PIPE_THIN) * (math.log2(each) - low) / spread for each in capacities]


def _outline(widths: Sequence[float], step: float, middle: float) -> str:
    return f"M{_edge(widths, step, middle, -1)}L{_edge(widths[::-1], -step, middle, 1)}Z"


def _edge(widths: Sequence[float], step: float, middle: float, side: int) -> str:
    """One wall of the pipe: straight within a stage, a smooth bend between two."""
    x = 0.0 if step > 0 else float(WIDTH)
    flat = 0.36 * step
    path = f"{x:.1f} {middle + side * widths[0] / 2:.1f}"
    for place, (now, then) in enumerate(pairwise(widths)):
        bend = x + step * (place + 1)
        y0, y1 = middle + side * now / 2, middle + side * then / 2
        path += f"H{bend - (step / 2 - flat):.1f}"
        path += f"C{bend:.1f} {y0:.1f} {bend:.1f} {y1:.1f} {bend + (step / 2 - flat):.1f} {y1:.1f}"
    return path + f"H{x + step * len(widths):.1f}"


def _narrows(
    stages: Sequence[StageProfile], widths: Sequence[float], step: float, middle: float, bottleneck: str
) -> str:
    places = [place for place, stage in enumerate(stages) if stage.name == bottleneck]
    if not places:
        return ""
    x, width = step * (places[0] + 0.5), widths[places[0]]
    left, right = x - 0.36 * step, x + 0.36 * step
    return "".join(
        f'<path class="narrows" d="M{left:.1f} {y:.1f}H{right:.1f}"/>'
        for y in (middle - width / 2, middle + width / 2)
    )


def _section_labels(stage: StageProfile, x: float, is_bottleneck: bool) -> str:
    kind = " here" if is_bottleneck else ""
    capacity = phrases.rate(stage.capacity_per_s)
    return (
        f'<text class="name{kind}" x="{x:.1f}" y="20">{escape(stage.name)}</text>'
        f'<text class="carries{kind}" x="{x:.1f}" y="{PIPE_WIDE + 66:.0f}">{capacity}/s</text>'
    )


def _columns(bins: Sequence[Bin], bin_s: float, seconds: float, slots: int) -> list[_Column]:
    """At most COLUMNS columns, each the mean of neighbouring bins."""
    size = math.ceil(len(bins) / COLUMNS)
    columns = []
    for first in range(0, len(bins), size):
        start, end = first * bin_s, min((first + size) * bin_s, seconds)
        if end <= start:
            break
        spent = [sum(one[kind] for one in bins[first : first + size]) for kind in range(3)]
        # a span that ends just past its bin must not make a column overflow
        full = max(slots * (end - start), sum(spent))
        columns.append(_Column(start / seconds, end / seconds, *(each / full for each in spent)))
    return columns


def _lane(stage: StageProfile, columns: Sequence[_Column], top: int) -> str:
    name = escape(stage.name)
    base = [0.0] * len(columns)
    drawn = f'<rect class="empty" x="{LABELS}" y="{top}" width="{WIDTH - LABELS}" height="{LANE}"/>'
    for state in STATES:
        upper = [low + float(getattr(column, state)) for low, column in zip(base, columns, strict=True)]
        drawn += f'<path class="{state}" d="{_steps(columns, base, upper, top)}"/>'
        base = upper
    return (
        f"<g><title>{name}: busy {phrases.percent(stage.busy)}</title>{drawn}"
        f'<text class="lane" x="{LABELS - 12}" y="{top + LANE // 2 + 5}">{name}</text></g>'
    )


def _steps(columns: Sequence[_Column], base: Sequence[float], upper: Sequence[float], top: int) -> str:
    """The area between two staircases."""

    def x(moment: float) -> str:
        return f"{LABELS + (WIDTH - LABELS) * moment:.1f}"

    def y(level: float) -> str:
        return f"{top + LANE * (1 - level):.1f}"

    forth = "".join(f"L{x(c.start)} {y(level)}H{x(c.end)}" for c, level in zip(columns, upper, strict=True))
    walk_back = zip(reversed(columns), reversed(base), strict=True)
    return f"M{forth[1:]}{''.join(f'V{y(level)}H{x(c.start)}' for c, level in walk_back)}Z"


def _axis(seconds: float, height: int) -> str:
    step = next((tick for tick in TICKS_S if seconds / tick <= 8), 86400 * math.ceil(seconds / 8 / 86400))
    drawn = ""
    for moment in range(0, int(seconds) + 1, step):
        x = LABELS + (WIDTH - LABELS) * moment / seconds
        anchor = ' style="text-anchor:end"' if x > WIDTH - 24 else ""
        text = phrases.duration(moment) if moment >= 60 else f"{moment} s"
        drawn += f'<path class="grid" d="M{x:.1f} 0V{height}"/>'
        drawn += f'<text class="tick" x="{x:.1f}" y="{height + 16}"{anchor}>{text}</text>'
    return drawn
