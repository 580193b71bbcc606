"""A depth map as a room: how the lens bends, where the floor is, and where every pixel is.

A floor is flat. Where it comes out bowed, the lens bends what it sees, and by how much is what makes the
floor flat again. With a depth map that is too coarse to tell, the lens stays straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from penstock.photos.camera import Camera
from penstock.photos.depth import MAX_M
from penstock.photos.gaussians import Floats
from penstock.photos.sizing.floor import Array, Floor, find_floor

BENDS = np.linspace(-0.08, 0.08, 65)  # of a radius at the corner of the frame
BEND_SPREAD = 0.025  # after what a phone corrects
FLAT_M = 0.01  # a floor's points are that far off at best: carpets, and depth that is counted in steps
NEAR_FLOOR = (0.06, 0.03, 0.015)  # m, try by try: a bowed floor's points are off, and feet are no floor
NEAR_FLOOR_SHARE = 0.1  # of these, for each metre of distance
MUCH_FLATTER = 0.6  # of how bowed the floor is through a straight lens; a model's floor is bowed by itself
MAX_ROUGH = 0.015  # share of the distance: what is farther from the floor is no floor
MIN_FLOOR, MAX_FLOOR = 200, 3000  # points of a floor that may tell how the lens bends
EVERY = 7  # pixels: floors are large
RAMP_PIXELS, RAMP_END = 7, 0.1  # a ramp is that wide at most, but for what is that near to either end of it
RAMP, RAMP_SHARE = (
    0.2,
    0.05,
)  # m and share of the distance, from end to end: steeper than tops that are seen flat
SPARSE, WELL_ABOVE = 37, 0.3  # pixels, and m above the floor
LOWEST = 0.002  # of all points: what is lowest where no floor is in sight


@dataclass(frozen=True, slots=True, eq=False)
class DepthRoom:
    """The place of every pixel: x right, y forward along the floor, z above it; NaN where unknown."""

    points: Array  # (height, width, 3)
    floor: Floor
    focal: float
    rough: float  # how far the floor's points are off, as a share of their distance: what depth is worth

    def some(self) -> Array:
        """Points all over it that are well above the floor."""
        points = self.points.reshape(-1, 3)[::SPARSE]
        return np.asarray(points[points[:, 2] > WELL_ABOVE])


def find_bend(depth: Floats, focal: float) -> float:
    """How far the lens bends at the frame's corner, as a share of the radius: what makes the floor flat."""
    bend = 0.0
    for near in NEAR_FLOOR:
        on_floor = _floor_pixels(depth, focal, bend, near)
        if on_floor is None:
            return 0.0
        bend = _flattest(depth, focal, on_floor)
    return bend


def open_room(depth: Floats, focal: float, bend: float, camera: Camera) -> DepthRoom:
    """The room that a depth map shows through this lens."""
    points = _camera_points(depth, focal, bend)
    some = points.reshape(-1, 3)[::EVERY]
    some = some[np.isfinite(some[:, 2])]
    floor = _floor(some, camera)
    in_room = floor.to_floor_frame(points.reshape(-1, 3)).reshape(points.shape)
    return DepthRoom(in_room, floor, focal, _roughness(some, floor))


def without_ramps(depth: Floats) -> Floats:
    """Without pixels between a thing and what is behind it: poor sensors and models blur depth at edges."""
    window = np.ones((RAMP_PIXELS, RAMP_PIXELS), np.uint8)
    known = np.isfinite(depth)
    nearest = cv2.erode(np.where(known, depth, np.float32(MAX_M)), window)
    farthest = cv2.dilate(np.where(known, depth, np.float32(0.0)), window)
    between = (depth - nearest) / np.maximum(farthest - nearest, 1e-6)
    steep = farthest - nearest > RAMP + RAMP_SHARE * nearest
    ramp = steep & (between > RAMP_END) & (between < 1 - RAMP_END)
    return np.where(ramp, np.float32(np.nan), depth).astype(np.float32)


def _roughness(points: Array, floor: Floor) -> float:
    off = np.abs(points @ floor.up + floor.above) / points[:, 2]
    near = off[off < MAX_ROUGH]
    return float(np.median(near)) if len(near) >= MIN_FLOOR else MAX_ROUGH


def _floor(points: Array, camera: Camera) -> Floor:
    """The floor in sight; where there is none, what is lowest is on it."""
    floor = find_floor(points)
    if floor is None:
        up = np.array([0.0, -np.cos(camera.pitch), -np.sin(camera.pitch)])
        floor = Floor(up, float(-np.quantile(points @ up, LOWEST)))
    return floor


def _camera_points(depth: Floats, focal: float, bend: float) -> Array:
    x, y, radius = _pixels(depth.shape, focal)
    straight = (1 + bend * radius) * depth
    return np.stack([x * straight, y * straight, depth], axis=2).astype(np.float64)


def _pixels(shape: tuple[int, ...], focal: float) -> tuple[Array, Array, Array]:
    """Where each pixel's ray goes without a bend, and the square of its share of the corner's radius."""
    height, width = shape
    x = (np.arange(width) + 0.5 - width / 2)[None, :] / focal
    y = (np.arange(height) + 0.5 - height / 2)[:, None] / focal
    corner = (width**2 + height**2) / 4 / focal**2
    radius = (x**2 + y**2) / corner
    return np.broadcast_to(x, shape), np.broadcast_to(y, shape), radius


def _floor_pixels(depth: Floats, focal: float, bend: float, near: float) -> Array | None:
    """The indices of pixels that lie on the floor or near it."""
    points = _camera_points(depth, focal, bend).reshape(-1, 3)
    some = np.flatnonzero(np.isfinite(points[:, 2]))[::EVERY]
    floor = find_floor(points[some])
    if floor is None:
        return None
    heights = points[some] @ floor.up + floor.above
    on = np.abs(heights) < near * (1 + NEAR_FLOOR_SHARE * points[some, 2])
    return some[on][:: 1 + int(on.sum()) // MAX_FLOOR] if on.sum() >= MIN_FLOOR else None


def _flattest(depth: Floats, focal: float, on_floor: Array) -> float:
    """The bend that makes these pixels a plane, if they tell; a lens is straight until they do."""
    x, y, radius = (part.ravel()[on_floor] for part in _pixels(depth.shape, focal))
    far = depth.ravel()[on_floor].astype(np.float64)
    costs = [_bowed(x, y, radius, far, bend) for bend in BENDS]
    best = int(np.argmin(costs + 0.5 * (BENDS / BEND_SPREAD) ** 2))
    straight = costs[len(BENDS) // 2]
    return float(BENDS[best]) if costs[best] < MUCH_FLATTER * straight else 0.0


def _bowed(x: Array, y: Array, radius: Array, far: Array, bend: float) -> float:
    """How little a plane explains these points: one over the distance is linear where they are one."""
    straight = 1 + bend * radius
    columns = np.stack([x * straight, y * straight, np.ones_like(x)], axis=1) * far[:, None]
    plane, *_ = np.linalg.lstsq(columns, np.ones_like(far), rcond=None)
    off = np.abs(columns @ plane - 1) / np.linalg.norm(plane)  # m from the plane
    return float(np.minimum(off / FLAT_M, 5.0).mean() * np.sqrt(len(far)))
