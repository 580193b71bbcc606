"""Boxes drawn on the page: the quickest way to see what a run understood."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.image.codec import encode_jpeg
from penstock.region import LABELS, Region

if TYPE_CHECKING:
    from penstock.box import Pixels

MAX_SIDE = 1400  # enough to read labels on a screen
QUALITY = 85


def draw(regions: Iterable[Region], pixels: Pixels, max_side: int = MAX_SIDE) -> bytes:
    """Returns the page as JPEG with every region's box, label and place in the reading order."""
    canvas, scale = shrunk(pixels, max_side)
    for region in regions:
        _draw_region(canvas, region, scale)
    return encode_jpeg(canvas, QUALITY)


def shrunk(pixels: Pixels, max_side: int) -> tuple[Pixels, float]:
    """Returns a copy of the picture that is no larger than this, and its scale."""
    scale = min(1.0, max_side / max(pixels.shape[:2]))
    small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.array(small, dtype=np.uint8), scale


def _draw_region(canvas: Pixels, region: Region, scale: float) -> None:
    x0, y0, x1, y1 = (round(value * scale) for value in region.box)
    colour = _colour(region.label)
    cv2.rectangle(canvas, (x0, y0), (x1, y1), colour, 2)
    text = f"{region.index} {region.label}"
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.4, 1)
    top = max(0, y0 - height - 4)
    cv2.rectangle(canvas, (x0, top), (x0 + width + 4, top + height + 4), colour, -1)
    origin = (x0 + 2, top + height + 1)
    cv2.putText(canvas, text, origin, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (255, 255, 255), 1, cv2.LINE_AA)


def _colour(label: str) -> tuple[int, int, int]:
    """One hue a label, the same in every run."""
    place = LABELS.index(label) if label in LABELS else len(LABELS)
    red, green, blue = colorsys.hsv_to_rgb(place * 0.618 % 1.0, 0.8, 0.7)
    return int(red * 255), int(green * 255), int(blue * 255)
