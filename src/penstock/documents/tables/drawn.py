"""Finds grids of lines that are drawn on a picture: their cells are what the lines close in.

Long strokes that touch are one drawing; the white that they bound are its cells, so a grid may lie a little
askew. A side without a line is closed by the drawing's own end. It does not know text: whether a
grid is a table is decided by who knows the lines of text (pictured.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.box import Box, moved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Mask = NDArray[np.uint8]

WINDOW, DARKER = 15, 8  # pixels around one, and by how much of 256 ink is darker than they are
# In heights of a line of text.
ACROSS, DOWN = 2.5, 1.5  # the shortest stroke: longer than those of letters
GAP = 0.5  # in a stroke, where letters cross it
MIN_WIDTH, MIN_HEIGHT = 4.0, 2.0  # of a drawing
CELL_WIDTH, CELL_HEIGHT = 0.8, 0.6  # at least
RULE_LENGTH, RULE_THICKNESS = 4.0, 0.4  # of a line across that stands alone
SQUARE = 0.75  # share of its box that a cell fills
CLOSED = 0.6  # share of a side that must be drawn
MIN_CELLS = 4
MAX_DRAWINGS = 400  # a page with more is a picture full of strokes


@dataclass(frozen=True, slots=True)
class DrawnGrid:
    """The cells of one drawing, and whether lines stand at its left and its right end."""

    box: Box
    cells: tuple[Box, ...]
    closed: tuple[bool, bool]


@dataclass(frozen=True, slots=True)
class Drawings:
    """The grids of a picture, and the lines across it that are long enough to be a table's rules."""

    grids: tuple[DrawnGrid, ...] = ()
    rules: tuple[Box, ...] = ()


def drawings(pixels: Pixels, em: float) -> Drawings:
    """Takes the usual height of the page's lines of text, in pixels."""
    if em < 4 or min(pixels.shape[:2]) < WINDOW:
        return Drawings()
    across, down = _strokes(pixels, em)
    grids = [_grid(part, at, em) for part, at in _drawings(across | down, em)]
    return Drawings(tuple(grid for grid in grids if grid is not None), tuple(_rules(across, em)))


def _strokes(pixels: Pixels, em: float) -> tuple[Mask, Mask]:
    """The long strokes across and down, their gaps closed."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    ink = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, WINDOW, DARKER)
    gap = int(GAP * em) | 1
    across = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, int(ACROSS * em)), np.uint8))
    down = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((int(DOWN * em), 1), np.uint8))
    wide: Mask = cv2.dilate(across, np.ones((3, gap), np.uint8)).astype(np.uint8)
    high: Mask = cv2.dilate(down, np.ones((gap, 3), np.uint8)).astype(np.uint8)
    return wide, high


def _drawings(strokes: Mask, em: float) -> list[tuple[Mask, tuple[int, int]]]:
    """Each drawing that is large enough alone, as a mask of ones, and where its corner is."""
    count, names, facts, _ = cv2.connectedComponentsWithStats(strokes)
    large = [
        name
        for name in range(1, count)
        if facts[name, cv2.CC_STAT_WIDTH] >= MIN_WIDTH * em
        and facts[name, cv2.CC_STAT_HEIGHT] >= MIN_HEIGHT * em
    ]
    found: list[tuple[Mask, tuple[int, int]]] = []
    for name in large[:MAX_DRAWINGS]:
        x, y, width, height = (int(value) for value in facts[name, :4])
        found.append(((names[y : y + height, x : x + width] == name).astype(np.uint8), (x, y)))
    return found


def _grid(drawing: Mask, at: tuple[int, int], em: float) -> DrawnGrid | None:
    height, width = drawing.shape
    edge = max(1, int(GAP * em))
    closed = (
        bool(drawing[:, :edge].any(axis=1).mean() >= CLOSED),
        bool(drawing[:, -edge:].any(axis=1).mean() >= CLOSED),
    )
    framed = drawing.copy()
    framed[[0, -1], :] = framed[:, [0, -1]] = 1
    cells = tuple(moved(cell, *at) for cell in _cells(framed, em))
    if len(cells) < MIN_CELLS:
        return None
    return DrawnGrid(moved((0.0, 0.0, float(width), float(height)), *at), cells, closed)


def _cells(framed: Mask, em: float) -> list[Box]:
    _, _, facts, _ = cv2.connectedComponentsWithStats(1 - framed, connectivity=4)
    return [
        (float(x), float(y), float(x + width), float(y + height))
        for x, y, width, height, area in facts[1:]
        if width >= CELL_WIDTH * em and height >= CELL_HEIGHT * em and area > SQUARE * width * height
    ]


def _rules(across: Mask, em: float) -> list[Box]:
    _, _, facts, _ = cv2.connectedComponentsWithStats(across)
    return [
        (float(x), float(y), float(x + width), float(y + height))
        for x, y, width, height, _ in facts[1:]
        if width >= RULE_LENGTH * em and height <= RULE_THICKNESS * em
    ]
