"""A formula's picture as the network wants it: ink 1 on paper 0, cut close, no larger than in training.

Training (tools/formulas) calls the same functions, so that both see the same kind of picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Pixels = NDArray[np.uint8]

MAX_WIDTH, MAX_HEIGHT = 896, 224
STEP = 32  # widths and heights are multiples; the network halves them up to four times
MARGIN = 4
MIN_CONTRAST = 32  # of 255; below, a smudge would become ink
INK = 0.4  # of the way from paper to ink: what counts when margins are cut off


def prepared(pixels: Pixels) -> Floats:
    """Returns the picture (RGB or grey) as an array of 1 x 1 x height x width."""
    return framed(fitted(trimmed(levelled(grey(pixels)))))[None, None]


def grey(pixels: Pixels) -> Pixels:
    if pixels.ndim == 2:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), np.uint8)


def levelled(picture: Pixels) -> Floats:
    """Ink 1, paper 0, whatever their colours are: paper is what most pixels have."""
    dark, paper, light = _values_at(picture, (0.005, 0.5, 0.995))
    ink = dark if paper - dark >= light - paper else light
    span = ink - paper
    if abs(span) < MIN_CONTRAST:
        span = -MIN_CONTRAST if span <= 0 else MIN_CONTRAST
    levels = np.clip((np.arange(256, dtype=np.float32) - paper) / span, 0, 1).astype(np.float32)
    return np.asarray(levels[picture], np.float32)


def _values_at(picture: Pixels, shares: tuple[float, ...]) -> list[int]:
    """The grey values that these shares of all pixels do not exceed."""
    counts = np.bincount(picture.ravel(), minlength=256).cumsum()
    return [int(value) for value in np.searchsorted(counts, np.array(shares) * counts[-1])]


def trimmed(levels: Floats) -> Floats:
    """The part that holds ink, with a small margin. An empty picture stays as it is."""
    rows, columns = np.flatnonzero((levels > INK).any(axis=1)), np.flatnonzero((levels > INK).any(axis=0))
    if not len(rows):
        return levels
    top, bottom = max(0, rows[0] - MARGIN), rows[-1] + 1 + MARGIN
    left, right = max(0, columns[0] - MARGIN), columns[-1] + 1 + MARGIN
    return levels[top:bottom, left:right]


def fitted(levels: Floats) -> Floats:
    """No larger than the network's largest picture."""
    height, width = levels.shape
    scale = min(1.0, MAX_WIDTH / width, MAX_HEIGHT / height)
    if scale == 1.0:
        return levels
    size = (max(1, int(width * scale)), max(1, int(height * scale)))
    return np.asarray(cv2.resize(levels, size, interpolation=cv2.INTER_AREA), np.float32)


def framed(levels: Floats, size: tuple[int, int] | None = None) -> Floats:
    """The picture in the middle of a frame whose sides are multiples of STEP, or of the size given."""
    height, width = levels.shape
    rows, columns = size or (-(-height // STEP) * STEP, -(-width // STEP) * STEP)
    frame = np.zeros((rows, columns), np.float32)
    top, left = (rows - height) // 2, (columns - width) // 2
    frame[top : top + height, left : left + width] = levels
    return frame
