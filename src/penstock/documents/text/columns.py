"""Cuts a page along its white space into columns and bands of boxes, in reading order.

`xy_cut` is a recursive X-Y cut. It looks for columns first. Where something of full width stands in the
way it cuts the page into bands, and joins neighbouring bands that share a gutter, so that gaps which
happen to align across columns do not break the columns.
No straight cut separates boxes that interlock: they stay one group (see reading_order.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.box import Box

Span = tuple[float, float]
Arrange = Callable[[list[list[int]]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class WhiteSpace:
    """How wide white space must be to separate boxes, in the unit of the boxes."""

    gutter: float  # minimum width between two columns
    gap: float  # minimum height between two bands
    slack: float = 0.0  # how far a box may reach into its neighbour and still count as apart


def xy_cut(boxes: Sequence[Box], white: WhiteSpace, arrange: Arrange | None = None) -> list[list[int]]:
    """Groups of indices in reading order; every index is in exactly one group.

    `arrange` may put columns that stand side by side into another order than left to right.
    """
    shrunk = [_shrink(box, white.slack) for box in boxes]
    groups: list[list[int]] = []
    # a stack, not recursion: thousands of nested boxes must not exhaust Python's own
    waiting = [list(range(len(boxes)))]
    while waiting:
        indices = waiting.pop()
        parts = _parts(shrunk, indices, white, arrange) if len(indices) > 1 else [indices]
        if len(parts) > 1:
            waiting.extend(reversed(parts))
        elif indices:
            groups.append(indices)
    return groups


def _shrink(box: Box, slack: float) -> Box:
    x0, y0, x1, y1 = box
    dx, dy = min(slack, (x1 - x0) / 4), min(slack, (y1 - y0) / 4)
    return (x0 + dx, y0 + dy, x1 - dx, y1 - dy)


def _parts(
    boxes: Sequence[Box], indices: list[int], white: WhiteSpace, arrange: Arrange | None
) -> list[list[int]]:
    columns = split_along(boxes, indices, 0, white.gutter)
    if len(columns) == 1 or not _side_by_side(boxes, columns):
        return _bands(boxes, indices, white)
    return arrange(columns) if arrange else columns


def _side_by_side(boxes: Sequence[Box], columns: list[list[int]]) -> bool:
    """Whether neighbours share some height: a short line right of a gap but above is no column."""
    spans = [(min(boxes[i][1] for i in c), max(boxes[i][3] for i in c)) for c in columns]
    return any(max(a[0], b[0]) < min(a[1], b[1]) for a, b in itertools.pairwise(spans))


def split_along(boxes: Sequence[Box], indices: Sequence[int], axis: int, min_gap: float) -> list[list[int]]:
    """The indices split at every white span of `min_gap` or more along an axis (0 is x, 1 is y)."""
    ranked = sorted(indices, key=lambda i: (boxes[i][axis], boxes[i][1 - axis]))
    parts = [[ranked[0]]]
    reach = boxes[ranked[0]][axis + 2]
    for i in ranked[1:]:
        if boxes[i][axis] - reach >= min_gap:
            parts.append([i])
        else:
            parts[-1].append(i)
        reach = max(reach, boxes[i][axis + 2])
    return parts


def gutters(boxes: Sequence[Box], indices: Sequence[int], min_gap: float) -> list[Span]:
    """White spans at least `min_gap` wide that run through all the boxes, left to right."""
    parts = split_along(boxes, indices, 0, min_gap)
    ends = [max(boxes[i][2] for i in part) for part in parts]
    starts = [boxes[part[0]][0] for part in parts]
    return list(zip(ends[:-1], starts[1:], strict=True))


def _bands(boxes: Sequence[Box], indices: list[int], white: WhiteSpace) -> list[list[int]]:
    """The indices split at gaps, top to bottom; bands with a common gutter stay together."""
    bands = split_along(boxes, indices, 1, white.gap)
    merged = [bands[0]]
    open_gutters = gutters(boxes, bands[0], white.gutter)  # of the last band in `merged`
    for band in bands[1:]:
        found = gutters(boxes, band, white.gutter)
        shared = _shared(boxes, open_gutters, band, found, white.gutter)
        if shared:
            merged[-1] = merged[-1] + band
            open_gutters = shared
        else:
            merged.append(band)
            open_gutters = found
    return merged


def _shared(
    boxes: Sequence[Box], above: list[Span], band: list[int], below: list[Span], min_gap: float
) -> list[Span]:
    """The gutters that go on from the band above through this one."""
    if below:
        return _common(above, below, min_gap)
    # one column beside a gutter: the last lines of a column that is longer than the other
    left, right = min(boxes[i][0] for i in band), max(boxes[i][2] for i in band)
    return _common(above, [(float("-inf"), left), (right, float("inf"))], min_gap)


def _common(first: list[Span], second: list[Span], min_gap: float) -> list[Span]:
    overlaps = [(max(a[0], b[0]), min(a[1], b[1])) for a in first for b in second]
    return [(low, high) for low, high in overlaps if high - low >= min_gap]
