"""The outline of a region, from the mask its network painted.

A mask is coarse (200 x 200 for a page), so its cut-out is blown up to the box, outlined, simplified,
and only its outward corners are kept: what is left is a tight polygon that never cuts into the text.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.box import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

Point = tuple[float, float]
Polygon = tuple[Point, ...]

SLACK = 0.004  # of the outline's length: how far the simplified outline may stray
SPIKE = 45.0  # degrees, +- 1: a corner this sharp is a bevelled right angle, whose tip is put back


def outline(mask: NDArray[np.bool_], box: Box, width: int, height: int) -> Polygon:
    """The region's polygon in pixels of a `width` x `height` page; its box where the mask shows none."""
    x0, y0, x1, y1 = (int(v) for v in box)
    rectangle: Polygon = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    if x1 <= x0 or y1 <= y0:
        return rectangle
    part = _under_box(mask, (x0, y0, x1, y1), width, height)
    if not part.any():
        return rectangle
    blown = cv2.resize(part.astype(np.uint8), (x1 - x0, y1 - y0), interpolation=cv2.INTER_NEAREST)
    corners = _outward(_simplified(blown))
    if len(corners) < 4:
        return rectangle
    return tuple((_within(x + x0, width), _within(y + y0, height)) for x, y in corners)


def _under_box(mask: NDArray[np.bool_], box: tuple[int, int, int, int], width: int, height: int) -> Any:
    rows, columns = mask.shape
    x0, x1 = (min(columns, max(0, round(x * columns / width))) for x in (box[0], box[2]))
    y0, y1 = (min(rows, max(0, round(y * rows / height))) for y in (box[1], box[3]))
    return mask[y0:y1, x0:x1]


def _simplified(mask: Any) -> list[Point]:
    """The outline of the largest blob with few corners."""
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = max(contours, key=cv2.contourArea)
    few = cv2.approxPolyDP(largest, SLACK * cv2.arcLength(largest, True), True)
    return [(float(x), float(y)) for x, y in few.reshape(-1, 2)]


def _outward(points: list[Point]) -> list[Point]:
    """The corners that point outward, bevelled ones sharpened."""
    kept = []
    for i, (x, y) in enumerate(points):
        before, after = points[i - 1], points[(i + 1) % len(points)]
        back, on = (before[0] - x, before[1] - y), (after[0] - x, after[1] - y)
        if back[1] * on[0] - back[0] * on[1] < 0:
            kept.append(_sharpened((x, y), back, on))
    return kept


def _sharpened(corner: Point, back: Point, on: Point) -> Point:
    long_back, long_on = math.hypot(*back), math.hypot(*on)
    cosine = (back[0] * on[0] + back[1] * on[1]) / (long_back * long_on)
    angle = math.degrees(math.acos(min(1.0, max(-1.0, cosine))))
    if abs(angle - SPIKE) >= 1:
        return corner
    middle = (back[0] / long_back + on[0] / long_on, back[1] / long_back + on[1] / long_on)
    step = (long_back + long_on) / 2 / math.hypot(*middle)
    return corner[0] + middle[0] * step, corner[1] + middle[1] * step


def _within(value: float, limit: int) -> float:
    return min(float(limit), max(0.0, float(value)))
