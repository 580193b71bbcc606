"""Finds the lines of text on a page with PP-OCRv6's detector.

The network paints a map of how likely each pixel belongs to the core of a text line (differentiable
binarisation); here its blobs become boxes and are grown back to the full height of the text.
It does not read: see recognise.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.region import LineBox, Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

STRIDE = 32  # the network halves its input five times
BLANK_RANGE = 24  # of 256: paper without ink, even when it is shaded or compressed
EDGE = 16  # pixels kept around what is printed
MEAN = STD = 0.5  # of the packaged export; channels are BGR
CORE = 0.3  # a pixel above this belongs to a blob
SURE = 0.5  # a blob whose mean is below this is no text
GROWTH = 1.6  # blobs are drawn shrunk; area * GROWTH / perimeter undoes it
MIN_SIDE = 3  # pixels of the map; smaller blobs are specks
MAX_LINES = 4000  # a bound for noise; a dense newspaper page has about 800
DRIFT = 0.3  # a line that climbs by less than this of its height is cut upright


def printed(pixels: Pixels) -> tuple[slice, slice]:
    """The rows and columns of a picture within its blank margins, which are a third of a usual page."""
    red, green, blue = (pixels[:, :, plane] for plane in range(3))
    low = np.minimum(np.minimum(red, green), blue)
    high = np.maximum(np.maximum(red, green), blue)
    return _inked(low, high, 1), _inked(low, high, 0)


def _inked(low: Pixels, high: Pixels, axis: int) -> slice:
    """From the first row (or column) that is not of one shade to the last, in strides of the network."""
    shades = high.max(axis=axis).astype(np.int16) - low.min(axis=axis)
    marked = np.flatnonzero(shades >= BLANK_RANGE)
    if not len(marked):
        return slice(0, len(shades))
    # whole strides: the network then sees each letter where it would on the whole page
    start = max(0, int(marked[0]) - EDGE) // STRIDE * STRIDE
    return slice(start, min(len(shades), int(marked[-1]) + 1 + EDGE))


def as_input(pixels: Pixels) -> NDArray[np.float32]:
    """The picture as a batch of one, padded with white to the network's stride."""
    height, width = pixels.shape[:2]
    padded = np.full((_to_stride(height), _to_stride(width), 3), 255, dtype=np.uint8)
    padded[:height, :width] = pixels
    blob = cv2.dnn.blobFromImage(padded, 1 / (255 * STD), mean=(255 * MEAN,) * 3, swapRB=True)
    return np.asarray(blob, dtype=np.float32)


def _to_stride(length: int) -> int:
    return max(2 * STRIDE, -(-length // STRIDE) * STRIDE)


def lines_in_map(likely: NDArray[np.float32], scale: float, width: int, height: int) -> list[LineBox]:
    """The lines that a probability map shows, in pixels of the picture it was painted for, unsorted."""
    # the 2x2 dilation joins blobs that a hairline splits
    mask = cv2.dilate((likely > CORE).astype(np.uint8), np.ones((2, 2), dtype=np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = [line for contour in contours[:MAX_LINES] if (line := _line(contour, likely, scale))]
    return [clipped for line in found if (clipped := _clipped(line, width, height))]


def _line(contour: Any, likely: NDArray[np.float32], scale: float) -> LineBox | None:
    x, y, width, height = cv2.boundingRect(contour)
    if min(width, height) < MIN_SIDE:
        return None
    core = np.zeros((height, width), dtype=np.uint8)
    cv2.drawContours(core, [contour], 0, 1, cv2.FILLED, offset=(-x, -y))
    score = float(cv2.mean(likely[y : y + height, x : x + width], core)[0])
    if score < SURE:
        return None
    centre, (along, across), angle = _text_rect(cv2.minAreaRect(contour))
    slanted = abs(math.sin(2 * math.radians(angle))) / 2 * along > DRIFT * across
    if slanted and along >= 2 * across:
        return _slanted(centre, along, across, angle, score, scale)
    grow = _growth(width, height)
    box = (x - grow, y - grow, x + width + grow, y + height + grow)
    return LineBox((box[0] / scale, box[1] / scale, box[2] / scale, box[3] / scale), score)


def _growth(width: float, height: float) -> float:
    return width * height * GROWTH / (2 * (width + height))


def _text_rect(rect: Any) -> tuple[Point, tuple[float, float], float]:
    """Centre, (length along the text, across it), angle of the text in -90..90 degrees."""
    centre, (width, height), angle = rect
    if width < height:
        width, height, angle = height, width, angle + 90
    return centre, (width + 1, height + 1), (angle + 90) % 180 - 90


def _slanted(centre: Point, along: float, across: float, angle: float, score: float, scale: float) -> LineBox:
    grow = _growth(along, across)
    half, rise = (along + 2 * grow) / 2, (across + 2 * grow) / 2
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    corners = ((-half, -rise), (half, -rise), (half, rise), (-half, rise))
    quad = [
        ((centre[0] + dx * cos - dy * sin) / scale, (centre[1] + dx * sin + dy * cos) / scale)
        for dx, dy in corners
    ]
    xs, ys = [point[0] for point in quad], [point[1] for point in quad]
    return LineBox((min(xs), min(ys), max(xs), max(ys)), score, (quad[0], quad[1], quad[2], quad[3]))


def _clipped(line: LineBox, width: int, height: int) -> LineBox | None:
    x0, y0 = max(0.0, line.box[0]), max(0.0, line.box[1])
    x1, y1 = min(float(width), line.box[2]), min(float(height), line.box[3])
    if x1 - x0 < MIN_SIDE or y1 - y0 < MIN_SIDE:
        return None
    return LineBox((x0, y0, x1, y1), line.score, line.quad)


def in_reading_rows(lines: list[LineBox]) -> list[LineBox]:
    """Top to bottom, and left to right where lines stand side by side."""
    rows: list[list[LineBox]] = []
    for line in sorted(lines, key=lambda line: line.box[1] + line.box[3]):
        if rows and _beside(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.box[0])]


def _beside(a: LineBox, b: LineBox) -> bool:
    shared = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    return shared > 0.5 * min(a.box[3] - a.box[1], b.box[3] - b.box[1])
