"""Finds where a table's columns are parted: in white that its rows share, and at lines between words."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from penstock.box import Box
from penstock.documents.tables.ruled import Ruling, rulings
from penstock.documents.text.runs import runs_of
from penstock.region import Word

# In units of the type's height.
WHITE, MAX_WHITE = 0.45, 0.8  # least white between two cells: a word's space is 0.33, of some fonts 0.5
MIN_SPACE, MAX_SPACE = 0.1, 0.9  # between what is taken for spaces of words
LONE_WHITE = 1.0  # between two cells where one row alone shows it
SPACES = 1.35  # of the usual space between words: least white between two cells
# Shares.
DRAWN_DOWN = 0.5  # of the table's height that a line takes to part columns
CROSSED = 0.25  # of the rows with text on both sides that may run over a gutter
FRAMED_ROWS, FRAMED_CROSSED = 0.6, 0.15  # the same between columns that lines part already


def rules_inside(box: Box, strokes: Sequence[Box]) -> tuple[list[Ruling], list[Ruling]]:
    x0, y0, x1, y1 = box
    across, down = rulings([s for s in strokes if s[0] < x1 and s[2] > x0 and s[1] < y1 and s[3] > y0])
    height: defaultdict[float, float] = defaultdict(float)
    for rule in down:
        height[rule.at] += min(rule.high, y1) - max(rule.low, y0)
    return across, [rule for rule in down if height[rule.at] >= DRAWN_DOWN * (y1 - y0)]


def parting_lines(box: Box, strokes: Sequence[Box]) -> list[float]:
    """Where lines are drawn down that part columns."""
    x0, _, x1, _ = box
    return sorted({rule.at for rule in rules_inside(box, strokes)[1] if x0 < rule.at < x1})


def usual_space(lines: Sequence[Sequence[Word]], em: float) -> float:
    gaps = [
        b.box[0] - a.box[2]
        for line in lines
        for a, b in pairwise(sorted(line, key=lambda w: w.box[0]))
        if MIN_SPACE * em < b.box[0] - a.box[2] < MAX_SPACE * em
    ]
    return median(gaps) if len(gaps) > 9 else 0.0


def white_edges(lines: Sequence[Sequence[Word]], em: float, drawn: Sequence[float]) -> list[float]:
    """Where columns are parted: in the gutters that rows share, and at the lines drawn between words."""
    white = min(MAX_WHITE * em, max(WHITE * em, SPACES * usual_space(lines, em)))
    spans = [_spans(line, white, drawn) for line in lines]
    is_framed = min(drawn, default=em) <= min(span[0][0] for span in spans) and len(set(drawn)) > 2
    crossed_by = FRAMED_CROSSED if is_framed else CROSSED
    parted = [span for span in spans if len(span) > 1] or spans
    marks = sorted({x for span in parted for part in span for x in part})
    clear: list[tuple[float, float, int]] = []  # from, to, how well the rows show white there
    for low, high in pairwise(marks):
        beside = [_beside(span, low, em) for span in parted]
        shown = sum(side > 0 for side in beside)
        crossed = sum(side < 0 for side in beside)
        wide = max(beside, default=0.0)
        enough = shown >= FRAMED_ROWS * len(parted) if is_framed else shown > 1 or wide > LONE_WHITE * em
        if shown and enough and crossed <= crossed_by * (shown + crossed):
            clear.append((low, high, shown - 3 * crossed))
    gutters = runs_of(clear, lambda run, part: part[0] <= run[-1][1])
    edges = [edge for gutter in gutters for edge in _edges_in(gutter, parted, em)]
    edges = _with_columns_between(edges, parted)
    x0, x1 = marks[0], marks[-1]
    lines_at = sorted({at for at in drawn if x0 < at < x1})
    return sorted([*(edge for edge in edges if not _is_at(edge, lines_at, parted)), *lines_at])


def _with_columns_between(edges: list[float], spans: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """The edges between which several rows have a cell, or one has that may be a head."""
    kept = list(edges)
    for edge in edges:
        place = kept.index(edge)
        low = kept[place - 1] if place else float("-inf")
        own = [row for row, span in enumerate(spans) if any(low < a and b < edge for a, b in span)]
        if len(own) < 2 and not any(row < 2 for row in own):
            before, here = (sum(any(a < at < b for a, b in s) for s in spans) for at in (low, edge))
            kept.remove(low if place and before > here else edge)
    return kept


def _is_at(edge: float, lines_at: Sequence[float], spans: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Whether no text stands between the edge and a line: both part the same columns."""
    for at in lines_at:
        low, high = min(edge, at), max(edge, at)
        if not any(low < (a + b) / 2 < high for span in spans for a, b in span):
            return True
    return False


def _beside(span: Sequence[tuple[float, float]], at: float, em: float) -> float:
    """The width of the white right of `at` between two cells of a row; -1 where text runs over it, else 0."""
    place = bisect_right(span, (at, float("inf"))) - 1
    if place < 0:
        return 0.0
    if span[place][1] > at:
        return -1.0
    return span[place + 1][0] - span[place][1] if place + 1 < len(span) else 0.0


def _edges_in(
    gutter: Sequence[tuple[float, float, int]], spans: Sequence[Sequence[tuple[float, float]]], em: float
) -> list[float]:
    """The edge of a gutter, or several where a few cells stand in it as a column of their own."""
    low, high = gutter[0][0], gutter[-1][1]
    inside = sorted(part for span in spans for part in span if low <= part[0] and part[1] <= high)
    islands = runs_of(inside, lambda run, part: part[0] <= max(end for _, end in run))
    islands = [run for run in islands if len(run) > 1 or _heads_column(run[0], low, high, spans, em)]
    if not islands:
        best = max(part[2] for part in gutter)
        widest = max((part for part in gutter if part[2] == best), key=lambda part: part[1] - part[0])
        return [(widest[0] + widest[1]) / 2]
    stops = [low, *(x for run in islands for x in (run[0][0], max(end for _, end in run))), high]
    return [(a + b) / 2 for a, b in zip(stops[::2], stops[1::2], strict=True) if b - a > MIN_SPACE * em]


def _heads_column(
    part: tuple[float, float],
    low: float,
    high: float,
    spans: Sequence[Sequence[tuple[float, float]]],
    em: float,
) -> bool:
    """Whether a cell that is the only one between two columns is the head of an empty one."""
    return part in [*spans[0], *spans[1]] and min(part[0] - low, high - part[1]) >= WHITE * em


def _spans(line: Sequence[Word], white: float, drawn: Sequence[float]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for x0, x1 in sorted((word.box[0], word.box[2]) for word in line):
        parted = found and any(found[-1][1] <= at + 1 and at - 1 <= x0 for at in drawn)
        if found and x0 - found[-1][1] < white and not parted:
            found[-1] = (found[-1][0], max(x1, found[-1][1]))
        else:
            found.append((x0, x1))
    return found
