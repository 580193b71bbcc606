"""Lifts shadows: makes the paper of a photographed page evenly white."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float32]

SMALL = 400  # pixels of the long side at which light is looked at: it changes slowly
PRINT = 9  # pixels there that print is narrower than
WHITE = 246.0  # what paper becomes
MAX_DARK = 0.45  # of the paper's usual brightness: what is darker than this is a picture, not a shadow
BAND = 512  # rows that are lit at a time
EVEN = 0.8  # of the brightest paper: light that falls no lower is even


def paper_light(pixels: Pixels) -> Floats:
    """How bright paper is on each place, by channel, on a small picture of the page."""
    scale = min(1.0, SMALL / max(pixels.shape[:2]))
    small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    closed = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((PRINT, PRINT), np.uint8))
    level = cv2.GaussianBlur(cv2.medianBlur(closed, 5), (0, 0), 3).astype(np.float32)
    usual = np.percentile(level.reshape(-1, 3), 80, axis=0).astype(np.float32)
    return np.asarray(np.maximum(level, MAX_DARK * _wide(level, usual)), np.float32)


def _wide(level: Floats, usual: Floats) -> Floats:
    """The brightness of paper in a wider neighbourhood, so that half a page may lie in deep shadow."""
    size = max(3, min(level.shape[:2]) // 5 | 1)
    brightest = cv2.dilate(level, np.ones((size, size), np.uint8))
    return np.asarray(np.minimum(cv2.blur(brightest, (size, size)), usual), np.float32)


def is_uneven(light: Floats) -> bool:
    """Whether a part of the page is clearly darker than another."""
    grey = light.mean(axis=2)
    low, high = np.percentile(grey, (5, 95))
    return bool(low < EVEN * high)


def lifted(pixels: Pixels, light: Floats) -> Pixels:
    """The picture as if the same light fell everywhere on white paper."""
    height, width = pixels.shape[:2]
    gain = WHITE / np.maximum(light, 1.0)
    lit = np.empty_like(pixels)
    across = (np.arange(width, dtype=np.float32) + 0.5) * light.shape[1] / width - 0.5
    for top in range(0, height, BAND):
        down = (np.arange(top, min(top + BAND, height), dtype=np.float32) + 0.5) * light.shape[
            0
        ] / height - 0.5
        x, y = np.meshgrid(across, down)
        more = cv2.remap(gain, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        lit[top : top + len(down)] = cv2.multiply(pixels[top : top + len(down)], more, dtype=cv2.CV_8U)
    return lit
