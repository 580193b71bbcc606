"""Sizes from a depth map: what is seen is measured, and the class counts only for what is hidden.

The floor is found first. The points inside a mask then stand in the room; the angle at which the thing stands
is that of its upright sides, and its extents along and across are lengths. A side is hidden where the camera
stands square before the thing and cannot look on its top, and where the frame cuts it or something nearer
hides it: then it is at least as long as what is seen, and its class says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from penstock.photos.camera import Camera, pointmap
from penstock.photos.depth import MAX_M
from penstock.photos.furniture import Kind
from penstock.photos.gaussians import Floats
from penstock.photos.masks import Mask
from penstock.photos.sizing.camera_draws import draw_cameras
from penstock.photos.sizing.floor import Array, Floor, find_floor
from penstock.photos.sizing.sizes import Estimate, Sought, summary_of

LENSES, KNOWN_LENSES = 12, 4  # focal lengths that are tried, where EXIF does not and does tell
NUM = 160  # sizes drawn for each of them
POINTS = 1500
MIN_POINTS = 40
TRIM = 0.002  # of the points at each end: stray ones
LENGTH_SPREAD = 0.03  # of the logarithm of a length that is seen from end to end
OFF, OFF_SPREAD = 0.5, 0.25  # of such lengths are that far off: an end was hidden after all, or was no end
MIN_SHARED = (
    0.4  # of the variance: a floor or a wall that is taken wrongly is wrong for all things of a photo
)
GRID = 64  # lengths that are tried for a side that is not seen to its end
UNSEEN_SHARE = 0.12  # of what is seen of a side that is hidden in part, as much again is hidden on average
GAP = 0.35  # m without a point: what is behind it is another thing
TOP_SEEN = 0.04  # m the camera must be above a top to look on it
FLOOR_SKIN = 0.02  # m above the floor that may be floor
OFF_FLOOR = 0.25  # m: what begins higher does not stand on it
STANDS, OFF_FLOOR_AFTER_ALL = 0.1, 0.9  # a class that is less often raised must begin that high to be so
BEHIND, BEHIND_SHARE = 0.06, 0.03  # m and share of the distance that a pixel is behind its neighbours
MOSTLY = 0.7  # of a mask; a screen seen from the side would lose more
MAX_LOST = 0.08  # m
THIN = 0.3  # of the shorter side its class has: what is that thin is one face, and its depth was not seen
EDGE = 3  # pixels: half of them at either side of a mask may be what is behind


@dataclass(frozen=True, slots=True)
class Extents:
    """Lengths of what is seen, and of which of them both ends are seen."""

    lengths: tuple[float, float, float]  # across, along, up
    whole: tuple[bool, bool, bool]
    begun: tuple[bool, bool, bool]  # of those that are not whole: a good part of it is seen
    far: float
    off_floor: bool


def estimate_with_depth(
    sought: Sequence[Sought], masks: Sequence[Mask], depth: Floats, camera: Camera, seed: int = 0
) -> list[Estimate | None]:
    """Sizes of a photo's things; None for a thing without points."""
    random = np.random.default_rng(seed)
    lenses = _lenses(camera, random)
    tried = [(lens, _floor(depth, lens, camera)) for lens in lenses]
    fronts = [_front(mask, depth) for mask in masks]
    seen = [
        [_extents(_inner(mask, front), front, one, depth, lens, floor) for lens, floor in tried]
        for one, mask, front in zip(sought, masks, fronts, strict=True)
    ]
    drawn = [
        _drawn(one, extents, random) if all(extents) else None
        for one, extents in zip(sought, seen, strict=True)
    ]
    weight = _softmax(np.sum([np.zeros(len(tried)), *(one[1] for one in drawn if one is not None)], axis=0))
    return [
        None if one is None else _summary(one[0], weight, extents)
        for one, extents in zip(drawn, seen, strict=True)
    ]


def _floor(depth: Floats, focal: float, camera: Camera) -> Floor:
    """The floor in sight; where there is none, what is lowest stands on it."""
    points = _points(depth, focal)
    floor = find_floor(points)
    if floor is None:
        up = np.array([0.0, -np.cos(camera.pitch), -np.sin(camera.pitch)])
        floor = Floor(up, float(-np.quantile(points @ up, TRIM)))
    return floor


def _lenses(camera: Camera, random: np.random.Generator) -> Array:
    """Focal lengths that count the same."""
    count = KNOWN_LENSES if camera.focal_known else LENSES
    focal = np.sort(draw_cameras(camera, 64 * count, random).focal)
    return np.asarray(focal[32::64])


def _points(depth: Floats, focal: float, mask: Mask | None = None) -> Array:
    points = pointmap(depth, focal)
    found = points[np.isfinite(depth) if mask is None else mask & np.isfinite(depth)]
    return found[:: max(1, len(found) // POINTS) if mask is not None else 7].astype(np.float64)


def _inner(mask: Mask, front: Mask) -> Mask:
    """The mask without its edge, which may be what is behind; of thin things only their front is left."""
    import cv2

    inner = cv2.erode(mask.astype(np.uint8), np.ones((EDGE, EDGE), np.uint8)) > 0
    return inner if inner.sum() > 0.3 * mask.sum() else front


def _front(mask: Mask, depth: Floats) -> Mask:
    """The mask without pixels that are behind their neighbours: what is seen beside it, and flat tops too."""
    import cv2

    there = mask & np.isfinite(depth)
    filled = np.where(there, depth, np.float32(MAX_M)).astype(np.float32)
    nearest = cv2.erode(filled, np.ones((EDGE, EDGE), np.uint8))
    front = there & (filled <= nearest + BEHIND + BEHIND_SHARE * nearest)
    return np.asarray(front) if front.sum() > MOSTLY * mask.sum() else mask


def _extents(
    mask: Mask, front: Mask, sought: Sought, depth: Floats, focal: float, floor: Floor
) -> Extents | None:
    """Lengths along the floor by `mask`; heights by the front, which keeps legs and stems."""
    points = _of_one_thing(floor.stood(_points(depth, focal, mask)))
    if len(points) < MIN_POINTS:
        return None
    upright_points = _of_one_thing(floor.stood(_points(depth, focal, front)))
    if len(upright_points) < MIN_POINTS:
        upright_points = points
    low, high = np.quantile(upright_points[:, 2], [TRIM, 1 - TRIM])
    outline = sought.outline
    # of a stool whose lowest points are seat, something hides the legs; of a television nothing does
    least = OFF_FLOOR if sought.kind.raised > STANDS else OFF_FLOOR_AFTER_ALL
    off_floor = bool(low > least and "bottom" not in outline.open_sides)
    height = high - low if off_floor else high
    yaw = _yaw(points, high)
    turned = _turned(points[:, :2], yaw)
    ends = np.quantile(turned, [TRIM, 1 - TRIM], axis=0)
    camera = _turned(np.zeros((1, 2)), yaw)[0]
    outside = (camera < ends[0]) | (camera > ends[1])  # it then sees the side that ends this axis
    on_top = floor.above > high + TOP_SEEN and not off_floor
    cut_aside = bool(outline.open_sides & {"left", "right"})
    across = int(abs(np.sin(yaw)) > abs(np.cos(yaw)))  # the axis that runs from left to right in the photo
    shown = [on_top or (outside[1 - axis] and not cut_aside) for axis in (0, 1)]
    whole = [bool(shown[axis] and not (cut_aside and axis == across)) for axis in (0, 1)]
    if "bottom" in outline.open_sides:  # what is nearest is missing
        whole[1 - across] = False
    begun = [bool(side) for side in shown]
    begun[across] = True
    lost = _lost(points, yaw, focal, floor.above - high if on_top else np.inf)
    lengths = np.maximum(ends[1] - ends[0] + lost, 0.01)
    for axis in np.flatnonzero(lengths < THIN * min(sought.kind.size[:2])):
        whole[axis] = begun[axis] = False
    upright = "top" not in outline.open_sides
    return Extents(
        (float(lengths[0]), float(lengths[1]), float(max(height, 0.02))),
        (whole[0], whole[1], upright),
        (begun[0], begun[1], True),
        float(np.hypot(*points[:, :2].T).min()),
        off_floor,
    )


def _lost(points: Array, yaw: float, focal: float, below: float) -> Array:
    """What the mask's edge takes from both lengths: a pixel aside, and of a top `below` the camera behind."""
    far = float(np.median(np.hypot(points[:, 0], points[:, 1])))
    aside = (EDGE - 1) * far / focal
    behind = min(MAX_LOST, EDGE // 2 * far**2 / (focal * max(below, TOP_SEEN)))
    cos, sin = abs(np.cos(yaw)), abs(np.sin(yaw))
    return np.array([aside * cos + behind * sin, aside * sin + behind * cos])


def _of_one_thing(points: Array) -> Array:
    """Without floor and without what is behind: the largest piece between gaps along the way to it."""
    points = points[points[:, 2] > FLOOR_SKIN]
    if len(points) < 2:
        return points
    away = np.hypot(points[:, 0], points[:, 1])
    order = np.argsort(away)
    pieces = np.cumsum(np.concatenate([[0], np.diff(away[order]) > GAP]))
    largest = np.bincount(pieces).argmax()
    return np.asarray(points[order[pieces == largest]])


def _yaw(points: Array, top: float) -> float:
    """The angle at which most points of the upright sides lie at an edge of the box around them."""
    sides = points[points[:, 2] < top - 0.04, :2]
    flat = sides if len(sides) > MIN_POINTS else points[:, :2]
    angles = np.deg2rad(np.arange(0.0, 90.0, 2.0))
    return float(min(angles, key=lambda yaw: _off_edges(_turned(flat, yaw))))


def _off_edges(flat: Array) -> float:
    low, high = np.quantile(flat, [TRIM, 1 - TRIM], axis=0)
    off = np.minimum(np.abs(flat - low), np.abs(high - flat)).min(axis=1)
    return float(np.minimum(off, 0.1).mean())


def _turned(flat: Array, yaw: float) -> Array:
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.asarray(flat @ np.array([[cos, -sin], [sin, cos]]))


def _drawn(
    sought: Sought, seen: Sequence[Extents | None], random: np.random.Generator
) -> tuple[Array, Array]:
    """Sizes for each lens, (lens, draw, 3), and the logarithm of how well each lens suits the class."""
    sizes, chances = [], []
    for extents in seen:
        assert extents is not None
        ways = [_one_way(sought.kind, extents, order, random) for order in ((0, 1, 2), (1, 0, 2))]
        logs = np.array([chance for _, chance in ways])
        first = random.random(NUM) < _softmax(logs)[0]
        sizes.append(np.where(first[:, None], ways[0][0], ways[1][0]))
        # a label may be wrong: then no lens is better than another
        chances.append(np.logaddexp.reduce([np.logaddexp(*logs), np.log(max(sought.doubt, 1e-3))]))
    return np.array(sizes), np.array(chances)


def _one_way(
    kind: Kind, seen: Extents, order: tuple[int, int, int], random: np.random.Generator
) -> tuple[Array, float]:
    """Sizes if these extents are width, depth and height in this order, and how likely the class has them."""
    sizes, chance = [], 0.0
    for axis, place in enumerate(order):
        mean, spread = np.log(kind.size[axis]), kind.spread[axis]
        length = np.log(seen.lengths[place])
        if seen.whole[place]:
            wide = np.hypot(spread, LENGTH_SPREAD)
            chance += -0.5 * ((length - mean) / wide) ** 2 - np.log(wide)
            off = np.where(random.random(NUM) < OFF, OFF_SPREAD, LENGTH_SPREAD)
            sizes.append(length + off * random.normal(size=NUM))
        else:
            more, likely = _hidden_length(mean, spread, length, seen.begun[place], random)
            chance += likely
            sizes.append(more)
    return np.exp(np.stack(sizes, axis=1)), float(chance)


def _hidden_length(
    mean: float, spread: float, seen: float, begun: bool, random: np.random.Generator
) -> tuple[Array, float]:
    """Logarithms of lengths that a side has of which `seen` is seen, and how likely the class has such."""
    logs = np.linspace(seen, max(seen, mean + 3 * spread) + 0.7, GRID)
    chance = np.exp(-0.5 * ((logs - mean) / spread) ** 2) / spread + 1e-6
    if begun:  # most of it is in sight, or nobody would have outlined it
        chance = chance * np.exp(-(np.exp(logs - seen) - 1) / UNSEEN_SHARE)
    whole = chance.sum()
    drawn = random.choice(GRID, NUM, p=chance / whole)
    return logs[drawn], float(np.log(whole * (logs[1] - logs[0])))


def _summary(sizes: Array, weight: Array, seen: Sequence[Extents | None]) -> Estimate:
    own = np.full(sizes.shape[:2], 1 / NUM)
    there = [one for one in seen if one is not None]
    far = np.repeat([[one.far] for one in there], NUM, axis=1)
    raised = np.repeat([[one.off_floor] for one in there], NUM, axis=1)
    found = summary_of(sizes, own, weight, far, raised, np.zeros_like(raised))
    return replace(found, shared=max(found.shared, MIN_SHARED))


def _softmax(logs: Array) -> Array:
    weight = np.exp(logs - np.max(logs))
    return np.asarray(weight / weight.sum())
