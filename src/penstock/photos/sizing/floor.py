"""The floor in a depth map: a plane that fits many points and has nothing below it.

It tells how high the camera was held and how it was tilted and rolled, and so where everything is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SAMPLE = 4000  # points looked at
TRIES = 500  # planes tried: with a fifth of the points on the floor, one in 125 is of the floor alone
NEAR, NEAR_SHARE = 0.015, 0.01  # m and share of the distance that a point of the floor may be off
NARROWER = (0.5, 0.25)  # of that, when it is fitted again: feet and the ends of walls are no floor
MIN_SHARE = 0.04  # of the points must be floor
MAX_BELOW = 0.02  # of the points may be below it: mirrors, noise
MAX_LEAN = np.cos(np.deg2rad(55.0))  # cameras tilt, but not more


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """The plane `up . point = -above` in camera axes (x right, y down, z forward)."""

    up: Array
    above: float

    @property
    def pitch(self) -> float:
        """How far the camera looks down, radians."""
        return float(np.arcsin(np.clip(-self.up[2], -1, 1)))

    def to_floor_frame(self, points: Array) -> Array:
        """Returns points in the room's frame: x right, y forward along the floor, z above the floor."""
        forward = np.array([0.0, 0.0, 1.0]) - self.up[2] * self.up
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, self.up)
        return np.asarray(points @ np.stack([right, forward, self.up], axis=1) + (0.0, 0.0, self.above))


def find_floor(points: Array) -> Floor | None:
    """The floor among points in camera axes, or None where no plane can be it."""
    random = np.random.default_rng(0)
    some = points[random.choice(len(points), min(SAMPLE, len(points)), replace=False)]
    if len(some) < 50:
        return None
    low = some[some[:, 1] > np.median(some[:, 1])]  # half of the tries are of what is low in the photo
    tries = np.concatenate([part[random.integers(0, len(part), (TRIES // 2, 3))] for part in (some, low)])
    ups = np.cross(tries[:, 1] - tries[:, 0], tries[:, 2] - tries[:, 0])
    length = np.linalg.norm(ups, axis=1)
    good = length > 1e-6
    ups = ups[good] / length[good, None]
    ups *= np.where(ups[:, 1] > 0, -1.0, 1.0)[:, None]  # up is against y
    above = -np.einsum("ij,ij->i", ups, tries[good, 0])
    right_way = (-ups[:, 1] > MAX_LEAN) & (above > 0.2)
    return _best(some, ups[right_way], above[right_way])


def _best(points: Array, ups: Array, above: Array) -> Floor | None:
    if not len(ups):
        return None
    tolerance = NEAR + NEAR_SHARE * np.abs(points[:, 2])
    heights = points @ ups.T + above  # of each point above each plane
    on = (np.abs(heights) < tolerance[:, None]).mean(axis=0)
    below = (heights < -2 * tolerance[:, None]).mean(axis=0)
    on[below > MAX_BELOW] = 0.0
    best = int(on.argmax())
    if on[best] < MIN_SHARE:
        return None
    floor = _fitted(points[np.abs(heights[:, best]) < tolerance], ups[best])
    for narrower in NARROWER:
        near = np.abs(points @ floor.up + floor.above) < narrower * tolerance
        if near.mean() > MIN_SHARE / 2:
            floor = _fitted(points[near], floor.up)
    return floor


def _fitted(points: Array, up: Array) -> Floor:
    """The plane that fits its points best."""
    middle = points.mean(axis=0)
    fitted = np.linalg.svd(points - middle, full_matrices=False)[2][2]
    fitted = fitted * np.sign(fitted @ up)
    return Floor(fitted, float(-fitted @ middle))
