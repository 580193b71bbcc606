"""Numbers a model wrote, as boxes on the 0..999 grid, with what was wrong with them.

Models write `[[x0, y0, x1, y1]]`, drop a bracket, write several boxes, shares of 1 instead of the grid,
pixels, corners in the wrong order. Nothing is evaluated: digits are found and taken by fours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

GRID = 999  # the grid's last line, as the model's authors scale it: x / 999 of the width
MAX_BOXES = 64  # of one anchor; more is a model that has lost its way
NEAR = 30  # units beyond the grid that are rounding, not another scale

GridBox = tuple[int, int, int, int]
Quad = tuple[float, float, float, float]
NUMBER = re.compile(r"[-+]?(?:\d{1,7}(?:\.\d{0,9})?|\.\d{1,9})(?:[eE][-+]?\d{1,2})?")


@dataclass(frozen=True, slots=True)
class Quads:
    """The numbers of one anchor by fours; `rest` is how many were left over."""

    boxes: tuple[Quad, ...]
    rest: int = 0


def quads(text: str) -> Quads:
    """Returns boxes: every four numbers of `text` are one."""
    values = [float(found) for found in NUMBER.findall(text[: MAX_BOXES * 64])]
    whole = len(values) // 4 * 4
    boxes = tuple(_quad(values[i : i + 4]) for i in range(0, whole, 4))
    return Quads(boxes[:MAX_BOXES], len(values) - whole)


def _quad(values: Sequence[float]) -> Quad:
    x0, y0, x1, y1 = values
    return x0, y0, x1, y1


def in_pixels(all_boxes: Sequence[Quad], width: int, height: int) -> bool:
    """Returns whether a page's boxes are pixels: most leave the grid, and all fit the picture."""
    if not all_boxes or width <= GRID + NEAR or height <= GRID + NEAR:
        return False
    outside = sum(max(box) > GRID + NEAR for box in all_boxes)
    fits = all(max(box[0], box[2]) <= width and max(box[1], box[3]) <= height for box in all_boxes)
    return fits and 2 * outside > len(all_boxes)


def on_grid(box: Quad, scale: tuple[float, float] | None = None) -> tuple[GridBox, tuple[str, ...]]:
    """Returns the box on the grid and what was wrong. `scale` is the picture's size for pixel boxes."""
    issues = []
    if scale is not None:
        across, down = GRID / scale[0], GRID / scale[1]
        box = (box[0] * across, box[1] * down, box[2] * across, box[3] * down)
        issues.append("pixel_box")
    elif max(box) <= 1.0 and any(value % 1 for value in box):
        box = (box[0] * GRID, box[1] * GRID, box[2] * GRID, box[3] * GRID)
        issues.append("unit_box")
    x0, y0, x1, y1 = map(clamped, box)
    if min(box) < 0 or max(box) > GRID + 1:
        issues.append("off_grid")
    if x0 > x1 or y0 > y1:
        issues.append("swapped_corners")
        x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
    if x0 == x1 or y0 == y1:
        issues.append("no_area")
    return (x0, y0, x1, y1), tuple(issues)


def clamped(value: float) -> int:
    """Returns the nearest line of the grid."""
    line = round(value)
    return 0 if line < 0 else GRID if line > GRID else line


def around(boxes: Sequence[GridBox]) -> GridBox:
    """Returns the box that holds all of them; the whole page where there is none."""
    if not boxes:
        return (0, 0, GRID, GRID)
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return (min(x0s), min(y0s), max(x1s), max(y1s))
