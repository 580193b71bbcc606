"""How large a thing is, from its outline, the camera and what its class usually measures.

Many boxes are drawn from the class (log-normal width, depth, height), many cameras from what is known
of the camera; each box is set on the floor where the outline touches it, projected, and weighed by
how well its outline fits. What fits is the answer, as a median and a range. So width and height
come from the photo, the depth nobody sees mostly from the class, and every doubt is in the range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.photos.camera import Camera
from penstock.photos.furniture import Kind

NUM = 10_000  # boxes drawn, 25 ms; some hundred fit. 20,000 gained nothing on drawn rooms
SURE = 0.8  # share of truths the range is made to hold
SIDE_NOISE = 0.04  # of the outline's height or width: masks are that good
FOOT_NOISE = 0.08  # of its height: legs and cushions are no box
DEPTH_NOISE = 0.04
HIDDEN = 0.4  # of what is seen of a thing, below the photo's edge, on average
MIN_FIT = 50  # effective draws; fewer say that the outline is not of a thing on the floor
DOUBTS = (1.0, 4.0, 16.0)  # by which misfits are divided until enough boxes fit: odd shapes, rare sizes
YAW_SPREAD = np.deg2rad(25.0)  # people face furniture; one in seven stands anyhow
ANYHOW = 0.15
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a mask says: its box, how low its left and right ends reach, which sides the frame cuts."""

    x0: float
    y0: float
    x1: float
    y1: float
    foot_left: float  # the lowest pixel of its leftmost twentieth
    foot_right: float
    cut: frozenset[str] = frozenset()  # of "left", "top", "right", "bottom"
    distance: float | None = None  # m along z to its nearest part, where depth was measured


@dataclass(frozen=True, slots=True)
class Estimate:
    """Medians, and the range of the volume that holds SURE of truths.

    `fits` is False where the outline is of no use and only the class counts.
    """

    width: float
    depth: float
    height: float
    volume: float
    low: float
    high: float
    distance: float
    yaw: float
    fits: bool


def outline_of(mask: NDArray[np.bool_], cut: frozenset[str], distance: float | None = None) -> Outline:
    """Raises ValueError for an empty mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        raise ValueError("an empty mask has no outline")
    x0, x1, y0, y1 = columns[0], columns[-1] + 1, rows[0], rows[-1] + 1
    strip = max(1, (x1 - x0) // 20)
    feet = [
        float(y0 + np.flatnonzero(part.any(axis=1))[-1] + 1)
        for part in (mask[y0:y1, x0 : x0 + strip], mask[y0:y1, x1 - strip : x1])
    ]
    return Outline(float(x0), float(y0), float(x1), float(y1), feet[0], feet[1], cut, distance)


def estimate(kind: Kind, camera: Camera, outline: Outline, seed: int = 0) -> Estimate:
    """The same photo always gives the same answer."""
    random = np.random.default_rng(seed)
    size = np.exp(np.log(kind.size) + random.normal(size=(NUM, 3)) * kind.spread)
    yaw = np.where(
        random.random(NUM) < ANYHOW,
        random.uniform(-np.pi / 2, np.pi / 2, NUM),
        random.normal(scale=YAW_SPREAD, size=NUM),
    )
    focal = camera.focal * np.exp(random.normal(scale=camera.focal_spread, size=NUM))
    above = camera.above_floor * np.exp(random.normal(scale=camera.above_floor_spread, size=NUM))
    pitch = random.normal(camera.pitch, camera.pitch_spread, NUM)
    foot = np.full(NUM, outline.y1)
    if "bottom" in outline.cut:  # it goes on below the photo, nobody knows how far
        foot += random.exponential(HIDDEN * (outline.y1 - outline.y0), NUM)
    view = _View(size, yaw, focal, above, pitch, foot, camera, outline)
    misfit = view.misfit()
    for doubt in DOUBTS:
        weight = np.exp(-0.5 * misfit / doubt)
        total = weight.sum()
        if total > 0 and total**2 / (weight**2).sum() >= MIN_FIT:
            return _summary(size, yaw, view.near, weight / total, fits=True)
    return _summary(size, yaw, view.near, np.full(NUM, 1 / NUM), fits=False)


class _View:
    """All drawn boxes, each set on the floor below its drawn camera and projected."""

    def __init__(
        self,
        size: Array,
        yaw: Array,
        focal: Array,
        above: Array,
        pitch: Array,
        foot: Array,
        camera: Camera,
        seen: Outline,
    ) -> None:
        self._size, self._focal, self._above, self._foot, self._seen = size, focal, above, foot, seen
        self._cos, self._sin = np.cos(pitch), np.sin(pitch)
        self._middle = (camera.width / 2, camera.height / 2)
        steps = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
        flat = size[:, None, :2] * steps  # (num, 4, 2): the corners on the floor
        turn = np.stack([np.cos(yaw), -np.sin(yaw), np.sin(yaw), np.cos(yaw)], axis=1).reshape(-1, 2, 2)
        self._corners = flat @ turn.transpose(0, 2, 1)
        self.near = self._distance_to_foot()
        self.standing = np.isfinite(self.near)
        self._forward = np.where(self.standing, self.near, 1.0)[:, None] + (
            self._corners[:, :, 1] - self._corners[:, :, 1].min(axis=1, keepdims=True)
        )

    def _distance_to_foot(self) -> Array:
        """How far along the floor the lowest pixel of the outline is; infinite above the horizon."""
        slope = (self._foot - self._middle[1]) / self._focal
        down = self._sin + slope * self._cos
        with np.errstate(divide="ignore", invalid="ignore"):
            far = self._above * (self._cos - slope * self._sin) / down
        return np.where((down > 1e-3) & (far > 0.2) & (far < 30), far, np.inf)

    def _project(self, aside: Array, lifted: Array) -> tuple[Array, Array]:
        """Pixels of the corners at a height above the floor."""
        below = (self._above - lifted)[:, None]
        ahead = below * self._sin[:, None] + self._forward * self._cos[:, None]
        across = aside[:, None] + self._corners[:, :, 0]
        dropped = below * self._cos[:, None] - self._forward * self._sin[:, None]
        ahead = np.maximum(ahead, 0.05)
        u = self._middle[0] + self._focal[:, None] * across / ahead
        v = self._middle[1] + self._focal[:, None] * dropped / ahead
        return u, v

    def misfit(self) -> Array:
        """How badly each box's outline fits, in squared standard deviations; infinite above the horizon."""
        seen, height = self._seen, self._size[:, 2]
        floor = np.zeros_like(height)
        aside = np.zeros_like(height)
        scale = self._forward.mean(axis=1) * self._cos / self._focal  # m a pixel, nearly
        for _ in range(3):  # shift sideways until the outline's middle is met
            u_low, v_low = self._project(aside, floor)
            u_high, v_high = self._project(aside, height)
            left = np.minimum(u_low.min(axis=1), u_high.min(axis=1))
            right = np.maximum(u_low.max(axis=1), u_high.max(axis=1))
            aside = aside + ((seen.x0 + seen.x1) / 2 - (left + right) / 2) * scale
        top = np.minimum(v_high.min(axis=1), v_low.min(axis=1))
        return np.where(self.standing, self._misfit(left, right, top, u_low, v_low), np.inf)

    def _misfit(self, left: Array, right: Array, top: Array, u_low: Array, v_low: Array) -> Array:
        seen = self._seen
        wide, tall = seen.x1 - seen.x0, seen.y1 - seen.y0
        misfit = np.zeros_like(top)
        if not seen.cut & {"left", "right"}:
            misfit += (np.log(np.maximum(right - left, 1.0) / wide) / SIDE_NOISE) ** 2
            if "bottom" not in seen.cut:
                row = np.arange(len(u_low))
                foot_left, foot_right = v_low[row, u_low.argmin(axis=1)], v_low[row, u_low.argmax(axis=1)]
                misfit += ((foot_left - seen.foot_left) / (FOOT_NOISE * tall)) ** 2
                misfit += ((foot_right - seen.foot_right) / (FOOT_NOISE * tall)) ** 2
        else:  # what is cut is at least as large as what is seen
            misfit += np.minimum(0.0, np.log(np.maximum(right - left, 1.0) / wide) / SIDE_NOISE) ** 2
        if "top" not in seen.cut:
            misfit += ((top - seen.y0) / (SIDE_NOISE * tall)) ** 2
        else:
            misfit += (np.maximum(0.0, top - seen.y0) / (SIDE_NOISE * tall)) ** 2
        if seen.distance is not None:
            ahead = self._above * self._sin + np.where(self.standing, self.near, 1.0) * self._cos
            misfit += (np.log(ahead / seen.distance) / DEPTH_NOISE) ** 2
        return misfit


def _summary(size: Array, yaw: Array, near: Array, weight: Array, fits: bool) -> Estimate:
    volume = size.prod(axis=1)
    tail = (1 - SURE) / 2
    low, middle, high = _quantiles(volume, weight, (tail, 0.5, 1 - tail))
    width, depth, height = (_quantiles(size[:, axis], weight, (0.5,))[0] for axis in range(3))
    # the medians' product is near the median of the product, not equal: the sides give way alike
    give = (middle / (width * depth * height)) ** (1 / 3)
    standing = np.isfinite(near)
    distance = _quantiles(near[standing], weight[standing], (0.5,))[0] if fits else 0.0
    turned = _quantiles(yaw, weight, (0.5,))[0] if fits else 0.0
    return Estimate(width * give, depth * give, height * give, middle, low, high, distance, turned, fits)


def _quantiles(values: Array, weight: Array, shares: tuple[float, ...]) -> list[float]:
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1])
    return [float(values[order[min(place, len(order) - 1)]]) for place in places]
