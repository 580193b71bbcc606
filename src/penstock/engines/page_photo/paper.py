"""Finds the sheet of paper on a photograph: four corners, where its sides stand out from what lies around.

Candidates come from brightness and from edges; a candidate counts only if it holds the text and a step of
colour runs along its sides. Not found is a good answer: a page may fill the frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.image.crop import scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float64]
    Mask = NDArray[np.uint8]

LOOK = 480  # pixels of the long side that is looked at
TEXT = 13  # pixels: print is narrower, and is closed over
MIN_SHARE = 0.12  # of the frame that a page takes
MIN_FILLED = 0.82  # of the quadrilateral that is paper: a candidate with four true corners fills it
HOLDS = 0.9  # of the text that must lie on the paper
STEP = 10.0  # levels of colour between paper and table
REACH = 0.035  # of the long side: how far a curled side may stand from the straight one
MIN_SUPPORT = 0.55  # of the samples of a side that show a step
SAMPLES = 24  # on each side
EDGE = 3  # pixels from the frame within which a side is the frame's, not the paper's
MIN_SIDES = 2  # of the paper in sight: with one, nothing says how it leans
MAX_PLACES = 400  # of print that are looked at


@dataclass(frozen=True, slots=True)
class Paper:
    """The corners (4, 2) of a sheet from its top left, clockwise, and its outline, which may be curved."""

    corners: Floats
    outline: Floats


def find_paper(picture: Pixels, text: Floats) -> Paper | None:
    """The sheet that holds the print, or None. `text` are places (n, 2) of print."""
    scale = min(1.0, LOOK / max(picture.shape[:2]))
    plain = _without_print(scaled(picture, scale))
    best, best_score = None, 0.0
    text = text[:: max(1, len(text) // MAX_PLACES)]
    for mask in _candidates(plain, text * scale):
        for quad in (_quad(mask), _cut_quad(mask)):
            score = _score(quad, mask, plain, text * scale) if quad is not None else 0.0
            if quad is not None and score > best_score:
                best, best_score = Paper(quad / scale, _hull(mask) / scale), score
    return best


def _without_print(small: Pixels) -> Floats:
    """The picture in an even colour space, without narrow dark things."""
    closed = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((TEXT, TEXT), np.uint8))
    return np.asarray(cv2.cvtColor(cv2.medianBlur(closed, 5), cv2.COLOR_RGB2LAB), np.float64)


def _candidates(plain: Floats, text: Floats) -> Iterator[Mask]:
    """Masks of what may be the paper: the part that holds most of the text."""
    bright = plain[:, :, 0].astype(np.uint8)
    level, _ = cv2.threshold(bright, 0, 255, cv2.THRESH_OTSU)
    places = np.clip(text.astype(int), 0, (plain.shape[1] - 1, plain.shape[0] - 1))
    on_text = plain[places[:, 1], places[:, 0]]
    low = float(np.percentile(on_text[:, 0], 5))
    for threshold in (level, 0.5 * (level + low), 0.85 * low):
        yield _part(bright > threshold, places)
    for strength in (25, 50, 90):
        edges = sum(cv2.Canny(plain[:, :, c].astype(np.uint8), strength, 2 * strength) for c in range(3))
        walls = cv2.dilate(np.asarray(edges > 0, np.uint8), np.ones((3, 3), np.uint8))
        yield np.asarray(cv2.dilate(_part(walls == 0, places), np.ones((3, 3), np.uint8)), np.uint8)


def _part(found: NDArray[np.bool_], places: NDArray[np.int64]) -> Mask:
    """The connected part with most of the places, its holes filled and its thin tails cut."""
    opened = cv2.morphologyEx(found.astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    _, labels = cv2.connectedComponents(opened)
    counts = np.bincount(labels[places[:, 1], places[:, 0]], minlength=2)
    counts[0] = 0
    part = (labels == int(np.argmax(counts))).astype(np.uint8)
    outlines, _ = cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros_like(part)
    cv2.drawContours(filled, outlines, -1, 1, cv2.FILLED)
    return np.asarray(filled, np.uint8)


def _quad(mask: Mask) -> Floats | None:
    """The four corners of a mask's hull, from the top left, clockwise."""
    if mask.sum() < MIN_SHARE * mask.size:
        return None
    hull = _hull(mask).astype(np.int32)
    for share in np.linspace(0.01, 0.12, 23):
        few = cv2.approxPolyDP(hull, share * cv2.arcLength(hull, True), True)
        if len(few) <= 4:
            return _ordered(few.reshape(-1, 2).astype(np.float64)) if len(few) == 4 else None
    return None


def _cut_quad(mask: Mask) -> Floats | None:
    """The corners of paper that the frame cuts off: where its sides, drawn on, meet beyond the frame."""
    if mask.sum() < MIN_SHARE * mask.size:
        return None
    hull = _hull(mask).astype(np.int32)
    shape = cv2.approxPolyDP(hull, 0.006 * cv2.arcLength(hull, True), True).reshape(-1, 2).astype(np.float64)
    height, width = mask.shape
    sides = _free_sides(shape, width, height)
    if not MIN_SIDES <= len(sides) < 4:
        return None  # a paper with four sides in sight has four corners in sight, or is none
    frame = np.array([(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)], np.float64)
    right, down, left, up = (sides.get(n, (frame[(n + 1) % 4], frame[(n + 2) % 4])) for n in range(4))
    corners = [_crossing(*pair) for pair in ((up, left), (up, right), (down, right), (down, left))]
    found = [corner for corner in corners if corner is not None]
    return np.array(found) if len(found) == 4 else None


def _free_sides(shape: Floats, width: int, height: int) -> dict[int, tuple[Floats, Floats]]:
    """The longest side that is not the frame's, by where it looks: 0 right, 1 down, 2 left, 3 up."""
    sides: dict[int, tuple[Floats, Floats]] = {}
    for start, end in zip(shape, np.roll(shape, -1, axis=0), strict=True):
        if _is_on_frame(start, end, width, height):
            continue
        across = np.array([end[1] - start[1], start[0] - end[0]])
        across *= np.sign(across @ ((start + end) / 2 - shape.mean(axis=0)))
        looks = round(float(np.degrees(np.arctan2(across[1], across[0]))) / 90) % 4
        old = sides.get(looks)
        if old is None or np.hypot(*(end - start)) > np.hypot(*(old[1] - old[0])):
            sides[looks] = (start, end)
    return sides


def _is_on_frame(start: Floats, end: Floats, width: int, height: int) -> bool:
    """Whether a side runs along an edge of the frame."""
    both = np.stack([start, end])
    far = np.array([width - 1, height - 1]) - EDGE
    return bool(np.any(np.all(both <= EDGE, axis=0) | np.all(both >= far, axis=0)))


def _crossing(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats | None:
    """Where two lines meet, or None if they hardly do."""
    (a, b), (c, d) = one, other
    matrix = np.stack([b - a, c - d], axis=1)
    if abs(np.linalg.det(matrix)) < 0.2 * np.hypot(*(b - a)) * np.hypot(*(d - c)):
        return None
    return np.asarray(a + (b - a) * np.linalg.solve(matrix, c - a)[0], np.float64)


def _hull(mask: Mask) -> Floats:
    """The places (n, 2) around all of a mask."""
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return np.asarray(cv2.convexHull(np.concatenate(outlines)), np.float64).reshape(-1, 2)


def _ordered(quad: Floats) -> Floats:
    """Clockwise from the corner nearest to the top left."""
    middle = quad.mean(axis=0)
    around = quad[np.argsort(np.arctan2(quad[:, 1] - middle[1], quad[:, 0] - middle[0]))]
    first = int(np.argmin(around.sum(axis=1)))
    return np.roll(around, -first, axis=0)


def _score(quad: Floats, mask: Mask, plain: Floats, text: Floats) -> float:
    """How surely this is the paper, 0 if it is not."""
    shape = quad.astype(np.float32)
    held = np.mean([cv2.pointPolygonTest(shape, (float(x), float(y)), False) >= 0 for x, y in text])
    inside = cv2.fillConvexPoly(np.zeros_like(mask), np.rint(quad).astype(np.int32), 1)
    filled = float(mask.sum()) / max(1.0, float(np.sum(inside)))
    if held < HOLDS or not MIN_FILLED < filled < 1 / MIN_FILLED or not _is_page_like(quad):
        return 0.0
    support = [_support(quad[n], quad[(n + 1) % 4], plain) for n in range(4)]
    seen = [share for share in support if share is not None]
    if len(seen) < 2 or min(seen) < MIN_SUPPORT:
        return 0.0
    return float(np.mean(seen)) * len(seen) / 4


def _is_page_like(quad: Floats) -> bool:
    """Whether opposite sides are of alike length and the corners neither sharp nor blunt."""
    sides = np.roll(quad, -1, axis=0) - quad
    lengths = np.linalg.norm(sides, axis=1)
    angles = np.degrees(np.arctan2(sides[:, 1], sides[:, 0]))
    turns = (angles - np.roll(angles, 1)) % 360
    alike = min(lengths[0], lengths[2]) > 0.5 * max(lengths[0], lengths[2])
    alike = alike and min(lengths[1], lengths[3]) > 0.5 * max(lengths[1], lengths[3])
    return bool(alike and np.all((turns > 55) & (turns < 125)))


def _support(start: Floats, end: Floats, plain: Floats) -> float | None:
    """The share of a side's samples that show a step of colour; None for a side on the frame's edge."""
    height, width = plain.shape[:2]
    reach = REACH * max(height, width)
    along = start + (end - start) * np.linspace(0.05, 0.95, SAMPLES)[:, None]
    across = np.array([end[1] - start[1], start[0] - end[0]]) / max(1.0, float(np.hypot(*(end - start))))
    inset = np.minimum(along, (width - 1, height - 1) - along).min(axis=1)
    along = along[inset > EDGE]
    if len(along) < SAMPLES // 4:
        return None
    offsets = np.arange(-reach, reach + 1)
    places = along[:, None] + offsets[None, :, None] * across
    columns = np.clip(places[..., 0], 0, width - 1).astype(int)
    rows = np.clip(places[..., 1], 0, height - 1).astype(int)
    seen = plain[rows, columns]
    jumps = np.linalg.norm(seen[:, 4:] - seen[:, :-4], axis=2).max(axis=1)
    return float(np.mean(jumps > STEP))
