"""Makes a picture of one line ready for our networks: alone, ink on nothing, 32 rows high for Korean.

Training uses the same code (tools/hangul, tools/scripts), so a network sees what it was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grey = NDArray[np.uint8]

HEIGHT = 32
SCRIPTS_HEIGHT = 40  # of other scripts: small marks above and below the letters need them
COLUMNS = 8  # a width is a multiple of this
MIN_WIDTH = 32
FAINTEST = 20.0  # of 256 between paper and ink; less is not stretched to full contrast
INKED = 0.04  # of the darkest row's mean: rows with less are blank
STRONG = 110  # of 256: noise and JPEG leave less
MARK = 0.07  # of the height: how wide the smallest mark is, and wider than a table's rule
SLIVER = 0.25  # of the height: what reaches in from the lines above and below is lower than this
THIN_SLIVER = 0.1  # where marks stand alone above and below: one of them is higher than this
MARGIN = 0.08  # of the line's own height, above and below it
MIN_BAND = 0.5  # of the picture's height: a dash alone stays small


@dataclass(frozen=True, slots=True)
class PreparedLine:
    """A line's picture, paper 0 and ink 255, and by how much it was scaled."""

    ink: Grey
    scale: float


def prepared(grey: Grey, height: int = HEIGHT, small_marks: bool = False) -> PreparedLine:
    """The line without what is above and below it, dark or light on any ground.

    `small_marks`: a single mark above or below the letters is part of the line, as in Thai.
    """
    ink = _ink(grey)
    if small_marks:
        top, bottom = _band(_marked_rows(ink), THIN_SLIVER)
    else:
        top, bottom = _band(_inked_rows(ink), SLIVER)
    scale = height / (bottom - top)
    width = max(1, round(grey.shape[1] * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    fitted = cv2.resize(_rows(ink, top, bottom), (width, height), interpolation=how)
    whole = np.zeros((height, max(MIN_WIDTH, -(-width // COLUMNS) * COLUMNS)), np.uint8)
    whole[:, :width] = fitted
    return PreparedLine(whole, width / grey.shape[1])


def _ink(grey: Grey) -> Grey:
    """How far each pixel is from the paper, on the side on which the letters are, at full contrast."""
    paper = float(np.median(grey))
    darkest, lightest = np.percentile(grey[::2, ::2], (0.5, 99.5))
    inverse = lightest - paper > paper - darkest
    contrast = max(FAINTEST, (lightest - paper) if inverse else (paper - darkest))
    levels = np.arange(256) - paper if inverse else paper - np.arange(256)
    table = np.clip(levels * (255 / contrast), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(grey, table), dtype=np.uint8)


def _inked_rows(ink: Grey) -> NDArray[np.bool_]:
    rows = ink.mean(axis=1)
    return np.asarray(rows > INKED * max(1.0, rows.max()))


def _marked_rows(ink: Grey) -> NDArray[np.bool_]:
    """Rows with as much strong ink as a small mark has, however long the line is."""
    return np.asarray((ink > STRONG).sum(axis=1) >= max(2.0, MARK * len(ink)))


def _band(inked: NDArray[np.bool_], sliver: float) -> tuple[int, int]:
    """The rows of the line itself with a margin. They may lie outside the picture."""
    height = len(inked)
    edges = np.flatnonzero(np.diff(inked, prepend=False, append=False))
    runs = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    own = [run for run in runs if not _is_sliver(run, height, sliver)] or runs
    if not own:
        return 0, height
    top, bottom = own[0][0], own[-1][1]
    missing = max(0.0, MIN_BAND * height - (bottom - top))
    around = MARGIN * (bottom - top) + missing / 2
    return round(top - around), max(round(bottom + around), round(top - around) + 4)


def _is_sliver(run: tuple[int, int], height: int, sliver: float) -> bool:
    return (run[0] == 0 or run[1] == height) and run[1] - run[0] < sliver * height


def _rows(ink: Grey, top: int, bottom: int) -> Grey:
    inside = ink[max(0, top) : bottom]
    above, below = max(0, -top), max(0, bottom - len(ink))
    return np.pad(inside, ((above, below), (0, 0))) if above or below else inside
