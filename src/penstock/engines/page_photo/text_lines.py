"""Traces the lines of text on a picture: for each a row of points along its middle.

By ink alone, without a network: letters are dark specks of alike height on lighter paper, lines are letters
next to each other. A line may climb or bend; its points say how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Grey = NDArray[np.uint8]

INK = 0.82  # of the paper's brightness around it: what is darker is ink
MIN_LETTER, MAX_LETTER = 4, 60  # pixels of a letter's height on the picture that is looked at
ALIKE = (0.45, 2.2)  # of the median letter's height
REACH = 1.3  # letter heights that the parts of a line stand apart
MIN_LONG = 6.0  # letter heights: shorter lines say little of the page's bend
MAX_THICK = 2.6  # letter heights: thicker blobs are several lines, or pictures
MIN_LETTERS = 40  # on a page: fewer are no page of text
LEVEL_REACH = 40  # pixels: print and its strokes are narrower
MAX_SPECKS = 60_000  # of noise: more than any page has letters
BIN = 2.0  # letter heights between two points


@dataclass(frozen=True, slots=True)
class TracedLine:
    """Points (n, 2) along the middle of a line, from left to right, and its height."""

    points: Floats
    height: float

    @property
    def slope(self) -> float:
        (x0, y0), (x1, y1) = self.points[0], self.points[-1]
        return float((y1 - y0) / max(1.0, x1 - x0))


@dataclass(frozen=True, slots=True)
class TracedPage:
    """The traced lines of a picture, and the median height of its letters."""

    lines: list[TracedLine]
    letter: float = 0.0


def paper_level(grey: Grey, reach: int) -> Grey:
    """How bright the paper is at each pixel: the picture without what is dark and narrower than `reach`."""
    small = cv2.resize(grey, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    size = max(3, (reach // 4) | 1)
    level = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    level = cv2.medianBlur(level, 5)
    return np.asarray(cv2.resize(level, (grey.shape[1], grey.shape[0])), np.uint8)


def traced(grey: Grey, inside: Grey | None = None) -> TracedPage:
    """The lines of text, those of `inside` (255 there) where it is given."""
    level = cv2.convertScaleAbs(paper_level(grey, LEVEL_REACH), alpha=INK)
    ink = np.asarray(cv2.compare(grey, level, cv2.CMP_LT), np.uint8)
    if inside is not None:
        ink &= inside
    count, _, stats, _ = found = cv2.connectedComponentsWithStats(ink, connectivity=8)
    if not MIN_LETTERS < count < MAX_SPECKS:
        return TracedPage([])
    heights, widths = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH]
    fits = (heights >= MIN_LETTER) & (heights <= MAX_LETTER) & (widths <= 4 * heights) & (widths > 1)
    if fits.sum() < MIN_LETTERS:
        return TracedPage([])
    letter = float(np.median(heights[fits]))
    fits &= (heights >= ALIKE[0] * letter) & (heights <= ALIKE[1] * letter)
    letters = np.asarray(fits, np.uint8)[found[1]] * 255
    return TracedPage(_joined(letters, letter), letter)


def _joined(letters: Grey, letter: float) -> list[TracedLine]:
    """The lines of a picture of letters."""
    reach = max(3, round(REACH * letter)) | 1
    blobs = cv2.morphologyEx(letters, cv2.MORPH_CLOSE, np.ones((1, reach), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(blobs, connectivity=8)
    wide = [n for n in range(1, count) if stats[n, cv2.CC_STAT_WIDTH] >= MIN_LONG * letter]
    lines = (_line(np.asarray(labels, np.int32), stats[n], n, letter) for n in wide)
    return [line for line in lines if line is not None]


def _line(
    labels: NDArray[np.int32], stat: NDArray[np.int32], number: int, letter: float
) -> TracedLine | None:
    x, y, width, height, area = (int(value) for value in stat)
    own = labels[y : y + height, x : x + width] == number
    if area / width > MAX_THICK * letter:
        return None
    counts = own.sum(axis=0)
    sums = (own * np.arange(height)[:, None]).sum(axis=0)
    bins = max(2, round(width / (BIN * letter)))
    edges = np.linspace(0, width, bins + 1).astype(int)[:-1]
    mass, weighted = np.add.reduceat(counts, edges), np.add.reduceat(sums, edges)
    across = np.add.reduceat(counts * np.arange(width), edges)
    if mass.min() == 0:
        return None
    points = np.stack([x + across / mass, y + weighted / mass], axis=1)
    return TracedLine(points, area / width)
