"""Cuts regions out of one decoded page: exact pixels, masked by their outline, never too thin to send.

A crop is a view of the page wherever that is enough, so cutting twenty regions copies nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.box import Box
from penstock.engines.image.codec import encode_jpeg

if TYPE_CHECKING:
    from penstock.box import Pixels

MIN_SIDE = 28  # pixels: one image token of GLM-OCR is 28 x 28, and its server refuses less
MAX_ASPECT = 200  # its server refuses longer strips
PAPER = 255
GREY = 24  # levels the channels may differ by in a picture without colour, JPEG and scanners included
INK = 60  # levels between paper and print on one row
MIN_PRINT = 6  # pixels: less is a rule or a speck
BAND = 64  # rows looked at together: one or two lines of print
PRINT = 96  # levels between black and white that no grain makes: nothing has to be smoothed to see it
GREEN = 1  # the channel that is nearest to brightness
NOISE = 16  # grey levels that paper may span once smoothed: JPEG ringing and scanner grain, not print


def window(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """Whole pixels that hold the box, cut to the page: every pixel it touches, and at least one."""
    x0, x1 = _whole(box[0], box[2], width)
    y0, y1 = _whole(box[1], box[3], height)
    return x0, y0, x1, y1


def _whole(low: float, high: float, limit: int) -> tuple[int, int]:
    first = min(max(0, math.floor(low)), limit - 1)
    return first, max(first + 1, min(limit, math.ceil(high)))


def cut(pixels: Pixels, box: Box, polygon: Sequence[tuple[float, float]] = ()) -> Pixels:
    """The box's pixels; with a polygon, white outside it. Do not write to it: it may be the page."""
    height, width = pixels.shape[:2]
    x0, y0, x1, y1 = window(box, width, height)
    crop = pixels[y0:y1, x0:x1]
    if len(polygon) < 3:
        return crop
    corners = np.rint(np.asarray(polygon, dtype=np.float64) - (x0, y0)).astype(np.int32)
    if _is_rectangle(corners, x1 - x0, y1 - y0):
        return crop
    inside = np.zeros(crop.shape[:2], dtype=np.uint8)
    cv2.fillPoly(inside, [corners], 255)
    masked = np.full_like(crop, PAPER)
    return np.asarray(cv2.copyTo(crop, inside, masked), dtype=np.uint8)


def _is_rectangle(corners: np.ndarray[tuple[int, ...], np.dtype[np.int32]], width: int, height: int) -> bool:
    """Whether a polygon is the crop's own frame, so that nothing lies outside it."""
    on_edge = [(x <= 0 or x >= width - 1) and (y <= 0 or y >= height - 1) for x, y in corners.tolist()]
    return len(corners) == 4 and all(on_edge) and cv2.contourArea(corners) >= (width - 1) * (height - 1)


def is_sendable(width: int, height: int) -> bool:
    """Whether a picture of this size is thick enough for a server."""
    return min(width, height) >= _least_side(width, height)


def _least_side(width: int, height: int) -> int:
    return max(MIN_SIDE, math.ceil(max(height, width) / MAX_ASPECT))


def sendable(crop: Pixels) -> Pixels:
    """Adds white around a crop that is thinner than a server takes. Resamples nothing."""
    height, width = crop.shape[:2]
    if is_sendable(width, height):
        return crop
    least = _least_side(width, height)
    down, across = max(0, least - height), max(0, least - width)
    framed = np.full((height + down, width + across, 3), PAPER, dtype=np.uint8)
    framed[down // 2 : down // 2 + height, across // 2 : across // 2 + width] = crop
    return framed


def is_blank(crop: Pixels) -> bool:
    """Whether there is nothing to read: paper of one colour with at most noise on it.

    Errs on the side of reading: a single full stop, faint print or a shadow is not blank.
    """
    darkest, lightest = 255.0, 0.0
    for top in range(0, crop.shape[0], BAND):  # print shows in the first rows: few crops are read to the end
        low, high, _, _ = cv2.minMaxLoc(cv2.extractChannel(crop[top : top + BAND], GREEN))
        if high - low >= PRINT:
            return False
        above = min(top, 1)  # smoothing looks one row up and one down
        grey = cv2.cvtColor(crop[top - above : top + BAND + 1], cv2.COLOR_RGB2GRAY)
        low, high, _, _ = cv2.minMaxLoc(cv2.blur(grey, (3, 3))[above : above + BAND])
        darkest, lightest = min(darkest, low), max(lightest, high)
        if lightest - darkest >= NOISE:
            return False
    return True


def as_jpeg(crop: Pixels, quality: int) -> bytes:
    """Encodes the page's own pixels once. Print without colour goes as grey: a third of the work."""
    grey = _is_grey(crop)
    return encode_jpeg(np.asarray(cv2.extractChannel(crop, GREEN), np.uint8) if grey else crop, quality)


def _is_grey(crop: Pixels) -> bool:
    """Looks at every fourth pixel of every fourth row: colour that small is no colour."""
    few = crop[::4, ::4]
    red, green, blue = (np.ascontiguousarray(few[:, :, channel]) for channel in range(3))
    most = max(cv2.norm(red, green, cv2.NORM_INF), cv2.norm(green, blue, cv2.NORM_INF))
    return bool(most < GREY)


def text_height(crop: Pixels) -> float:
    """The height of a line of print in pixels, from the rows that have ink; 0 where there is none."""
    grey = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY)
    inked = np.ptp(grey, axis=1) > INK
    edges = np.flatnonzero(np.diff(np.concatenate(([0], inked.astype(np.int8), [0]))))
    heights = edges[1::2] - edges[::2]
    tall = heights[heights >= MIN_PRINT]
    return float(np.median(tall)) if len(tall) else 0.0


def scaled(crop: Pixels, scale: float) -> Pixels:
    if scale >= 1.0:
        return crop
    size = (max(1, round(crop.shape[1] * scale)), max(1, round(crop.shape[0] * scale)))
    return np.asarray(cv2.resize(crop, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
