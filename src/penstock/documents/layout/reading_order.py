"""Puts the regions of a page into reading order by where they stand.

The order is headers, body, footnotes, footers. A caption stays with what it describes. The body is cut
along its white space (columns.py); regions that interlock are ordered by precedence: above before below
within a column, then left before right.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.box import Box, enclosing
from penstock.documents.text.columns import WhiteSpace, xy_cut
from penstock.documents.text.runs import runs_of
from penstock.region import HEADING_LABELS, PICTURE_LABELS

# Fractions of the page's width or height.
GUTTER = 0.004  # layout boxes hug the text, so any clear white line separates columns
GAP = 0.0  # bands need no white between them: boxes one under the other are apart
SLACK = 0.006  # detectors' boxes run into each other by a few pixels
CAPTION_REACH = 0.04  # a caption farther from its figure than this is left to the cut

MAX_INTERLOCKED = 1500  # boxes; a page with more is a map or a drawing, read row by row

CAPTIONED = frozenset({"image", "chart", "table", "algorithm"})
CAPTIONS = frozenset({"figure_title", "vision_footnote"})
FIRST = frozenset({"header", "header_image"})
LAST = frozenset({"footer", "footer_image", "aside_text"})


@dataclass(frozen=True, slots=True)
class _RegionGroup:
    """Regions that stay together, with the box around them; members in reading order."""

    members: tuple[int, ...]
    box: Box


def reading_order(boxes: Sequence[Box], labels: Sequence[str], width: float, height: float) -> list[int]:
    """Indices of all regions in reading order: a permutation of range(len(boxes))."""
    boxes = [_upright(box) for box in boxes]
    rank = [_rank(label, box, height) for label, box in zip(labels, boxes, strict=True)]
    order: list[int] = []
    for place in range(4):
        here = [i for i, r in enumerate(rank) if r == place]
        order += _body(boxes, labels, here, width, height) if place == 1 else _rows(boxes, here)
    return order


def ranked_order(ranks: Sequence[int], by_place: Sequence[int]) -> list[int]:
    """Indices of all regions by their ranks. One without a rank (0) follows the one that it follows by place.

    Parts of one region share its rank and stand by place.
    """
    ranked = sorted((i for i in by_place if ranks[i]), key=lambda i: ranks[i])
    behind: dict[int, list[int]] = {}
    last = -1  # before all
    for i in by_place:
        if ranks[i]:
            last = i
        else:
            behind.setdefault(last, []).append(i)
    return [*behind.get(-1, ()), *(j for i in ranked for j in (i, *behind.get(i, ())))]


def _upright(box: Box) -> Box:
    x0, y0, x1, y1 = box
    return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _rank(label: str, box: Box, height: float) -> int:
    """0 before the body, 1 body, 2 footnotes, 3 after everything."""
    if label in FIRST or (label == "number" and box[1] + box[3] < height):
        return 0
    if label in LAST or label == "number":
        return 3
    return 2 if label == "footnote" else 1


def _rows(boxes: Sequence[Box], indices: list[int]) -> list[int]:
    """Top to bottom, and left to right where boxes stand side by side."""
    ranked = sorted(indices, key=lambda i: (boxes[i][1], boxes[i][0]))
    rows = runs_of(ranked, lambda row, i: _overlap(boxes[row[0]], boxes[i], 1) > 0.5)
    return [i for row in rows for i in sorted(row, key=lambda i: boxes[i][0])]


def _body(
    boxes: Sequence[Box], labels: Sequence[str], indices: list[int], width: float, height: float
) -> list[int]:
    units = _units(boxes, labels, indices, height)
    unit_boxes = [unit.box for unit in units]
    side = min(width, height)
    kinds = [_kind(labels, unit) for unit in units]
    white = WhiteSpace(gutter=GUTTER * side, gap=GAP * side, slack=SLACK * side)
    groups = xy_cut(unit_boxes, white, lambda columns: _arranged(unit_boxes, kinds, columns))
    flat = [u for group in groups for u in _by_precedence(unit_boxes, group)]
    return [i for u in flat for i in units[u].members]


def _kind(labels: Sequence[str], unit: _RegionGroup) -> str:
    """ "picture", "title" or "text"."""
    if any(labels[i] in PICTURE_LABELS for i in unit.members):
        return "picture"
    return "title" if all(labels[i] in HEADING_LABELS for i in unit.members) else "text"


def _arranged(boxes: Sequence[Box], kinds: Sequence[str], columns: list[list[int]]) -> list[list[int]]:
    """The columns from left to right, but an upright title comes first, and low pictures after the text."""
    texts = [boxes[i] for column in columns for i in column if kinds[i] != "picture"]
    middle = (min(b[1] for b in texts) + max(b[3] for b in texts)) / 2 if texts else float("inf")

    def place(column: list[int]) -> int:
        if all(kinds[i] == "title" and _is_tall(boxes[i]) for i in column):
            return 0
        low = min(boxes[i][1] for i in column) > middle
        return 2 if low and all(kinds[i] == "picture" for i in column) else 1

    return sorted(columns, key=place)  # stable: equal places stay left to right


def _is_tall(box: Box) -> bool:
    return box[3] - box[1] > 3 * (box[2] - box[0])  # set from top to bottom, not a short line


def _units(
    boxes: Sequence[Box], labels: Sequence[str], indices: list[int], height: float
) -> list[_RegionGroup]:
    """Groups each caption with the nearest thing it can describe, each formula number with its formula."""
    groups = {i: [i] for i in indices}
    for i in indices:
        owner = _owner(boxes, labels, indices, i, height)
        if owner is not None:
            groups[owner].append(i)
            del groups[i]
    return [_unit(boxes, members) for members in groups.values()]


def _unit(boxes: Sequence[Box], members: list[int]) -> _RegionGroup:
    return _RegionGroup(members=tuple(_rows(boxes, members)), box=enclosing([boxes[i] for i in members]))


def _owner(
    boxes: Sequence[Box], labels: Sequence[str], indices: list[int], i: int, height: float
) -> int | None:
    if labels[i] in CAPTIONS:
        near = [(_distance(boxes[i], boxes[j]), j) for j in indices if labels[j] in CAPTIONED]
        near = [(d, j) for d, j in near if d <= CAPTION_REACH * height]
    elif labels[i] == "formula_number":
        near = [
            (abs(boxes[i][0] - boxes[j][2]), j)
            for j in indices
            if labels[j] == "display_formula" and _overlap(boxes[i], boxes[j], 1) > 0.5
        ]
    else:
        return None
    return min(near)[1] if near else None


def _distance(caption: Box, figure: Box) -> float:
    """Height of the white between them; infinite where they do not stand one above the other."""
    if _overlap(caption, figure, 0) < 0.5:
        return float("inf")
    return max(caption[1] - figure[3], figure[1] - caption[3], 0.0)


def _overlap(a: Box, b: Box, axis: int) -> float:
    """Shared length along an axis over the shorter of the two lengths."""
    shared = min(a[axis + 2], b[axis + 2]) - max(a[axis], b[axis])
    shorter = min(a[axis + 2] - a[axis], b[axis + 2] - b[axis])
    return shared / shorter if shorter > 0 else float(shared >= 0)


def _by_precedence(boxes: Sequence[Box], group: list[int]) -> list[int]:
    """The order of boxes that no straight cut separates: next comes a box with nothing left before it."""
    if len(group) == 1 or len(group) > MAX_INTERLOCKED:
        return _rows(boxes, group)
    before = _before(np.array([boxes[i] for i in group]))
    blockers = before.sum(axis=0)
    left = dict.fromkeys(np.argsort([boxes[i][1] for i in group], kind="stable").tolist())
    ready = [(boxes[group[k]][:2], k) for k in left if not blockers[k]]
    heapq.heapify(ready)
    order: list[int] = []
    while left:
        # cycles can only come from boxes lying on top of each other: then the highest goes first
        k = heapq.heappop(ready)[1] if ready else next(iter(left))
        if k not in left:
            continue
        del left[k]
        order.append(group[k])
        blockers -= before[k]
        for freed in np.flatnonzero(before[k] & (blockers == 0)).tolist():
            heapq.heappush(ready, (boxes[group[freed]][:2], freed))
    return order


def _before(boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[i, j]: i must be read before j, being above it in its column or left of it in its row."""
    across, down = _overlaps(boxes, 0), _overlaps(boxes, 1)
    middle = boxes[:, :2] + boxes[:, 2:]
    earlier = middle[:, None, :] < middle[None, :, :]
    found: NDArray[np.bool_] = (across > 0.1) & np.where(down > across, earlier[..., 0], earlier[..., 1])
    return found


def _overlaps(boxes: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Shared length along an axis of every two boxes over the shorter of their lengths."""
    low, high = boxes[:, axis], boxes[:, axis + 2]
    length = np.maximum(high - low, 1e-6)
    shared = np.minimum(high[:, None], high[None, :]) - np.maximum(low[:, None], low[None, :])
    ratio: NDArray[np.float64] = shared / np.minimum(length[:, None], length[None, :])
    return ratio
