"""Chinese characters drawn stroke by stroke, so that a page of them needs no font."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Stroke = tuple[Point, Point]


def across(y: float, left: float, right: float) -> Stroke:
    return (left, y), (right, y)


def down(x: float, top: float, low: float) -> Stroke:
    return (x, top), (x, low)


# in squares of side 1
STROKES: dict[str, tuple[Stroke, ...]] = {
    "土": (across(0.38, 0.2, 0.8), down(0.5, 0.1, 0.85), across(0.85, 0.08, 0.92)),
    "上": (down(0.45, 0.08, 0.85), across(0.42, 0.45, 0.82), across(0.85, 0.08, 0.92)),
    "下": (across(0.15, 0.08, 0.92), down(0.45, 0.15, 0.92), ((0.5, 0.38), (0.75, 0.55))),
    "山": (down(0.5, 0.1, 0.85), down(0.15, 0.4, 0.88), down(0.85, 0.4, 0.88), across(0.85, 0.15, 0.85)),
    "王": (
        across(0.15, 0.12, 0.88), across(0.5, 0.18, 0.82), down(0.5, 0.15, 0.85), across(0.85, 0.08, 0.92),
    ),
    "正": (
        across(0.15, 0.1, 0.9), down(0.52, 0.15, 0.85), across(0.5, 0.52, 0.82), down(0.27, 0.45, 0.85),
        across(0.85, 0.08, 0.92),
    ),
    "日": (
        across(0.1, 0.25, 0.75), down(0.25, 0.1, 0.9), down(0.75, 0.1, 0.9), across(0.5, 0.25, 0.75),
        across(0.9, 0.25, 0.75),
    ),
    "五": (
        across(0.12, 0.12, 0.88), ((0.48, 0.12), (0.36, 0.85)), across(0.45, 0.2, 0.74),
        down(0.74, 0.45, 0.85), across(0.85, 0.06, 0.94),
    ),
}  # fmt: skip


def vertical_page(columns: int = 9, rows: int = 22, em: int = 44) -> NDArray[np.uint8]:
    """A page of vertical writing: columns from right to left, the first of them shorter."""
    sheet = np.full((rows * (em + 4) + 160, columns * (em + 30) + 160), 255, np.uint8)
    for column in range(columns):
        left = sheet.shape[1] - 65 - (column + 1) * (em + 30)
        for row in range(rows if column else rows - 4):
            strokes = list(STROKES.values())[(7 * column + 3 * row) % len(STROKES)]
            for ends in strokes:
                pixels = [(round(left + x * em), round(80 + row * (em + 4) + y * em)) for x, y in ends]
                cv2.line(sheet, *pixels, 0, 4, cv2.LINE_AA)
    return np.repeat(sheet[:, :, None], 3, axis=2)
