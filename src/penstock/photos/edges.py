"""Straight edges of a photo, and what they tell: how the camera was tilted, and how the room lies before it.

Every edge and the camera span a plane. If the edge is upright in the room, its plane holds the direction
down; if it lies along a wall, it holds one of two directions square to each other, as most edges of walls,
shelves and tables do. So a lens and a tilt are likely under which many edges lie in such directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from penstock.box import Pixels

Array = NDArray[np.float64]

USUAL_PITCH, PITCH_SPREAD = np.deg2rad(9.0), np.deg2rad(9.0)  # people point a little down at furniture
LINE_NOISE = np.deg2rad(0.6)  # of an edge's direction in a photo of 1,000 pixels
LYING_NOISE = np.deg2rad(1.0)  # lenses bend, and furniture is not put down with a ruler
ROLL_SPREAD = np.deg2rad(1.5)  # of cameras in people's hands
LINES_SIDE = 1000  # pixels: edges are sought in a picture no larger
UPRIGHT = np.deg2rad(25.0)  # an edge this near to upright may be a wall's or a cupboard's
MAX_LYING = 120  # edges that lie, the longest
TOGETHER = 0.4  # of what lying edges tell counts: several of one thing tell the same
MIN_TILT_SPREAD = np.deg2rad(0.7)  # lenses bend
HEADINGS = np.deg2rad(np.arange(-45.0, 45.0, 2.5))


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The two ends of each edge, pixels from the photo's middle, and what it counts."""

    upright: Array  # (edges, 2, 2)
    upright_weight: Array
    lying: Array
    lying_weight: Array

    def lying_chances(self, focal: Array, pitch: Array) -> Array:
        """The logarithm of how well each lens and tilt explains the edges, for each of HEADINGS."""
        if not len(self.lying):
            return np.zeros((len(focal), len(HEADINGS)))
        both = np.concatenate([HEADINGS, HEADINGS + np.pi / 2])
        normals = _normals(self.lying, np.asarray(focal)[:, None])
        sin, cos = np.sin(pitch)[:, None], np.cos(pitch)[:, None]
        aside = np.broadcast_to(np.cos(both), (len(focal), len(both)))
        ways = np.stack([aside, -np.sin(both) * sin, np.sin(both) * cos], axis=1)
        off = (normals.astype(np.float32) @ ways.astype(np.float32)) / np.float32(LYING_NOISE)
        nearest = np.minimum(*np.split(off**2, 2, axis=2))
        log_density = np.log(0.15 + 0.85 * np.exp(-0.5 * nearest))
        return np.asarray(TOGETHER * np.einsum("e,nek->nk", self.lying_weight, log_density))


def find_edges(pixels: Pixels) -> Edges:
    """The longer straight edges of a photo."""
    ends, tall = _segments(pixels)
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    ends, along, length = (part[length > 0.05 * tall] for part in (ends, along, length))
    weight = np.minimum(1.0, length / (0.25 * tall))
    upright = np.abs(along[:, 1]) > np.cos(UPRIGHT) * length
    longest = np.argsort(-length[~upright])[:MAX_LYING]
    return Edges(ends[upright], weight[upright], ends[~upright][longest], weight[~upright][longest])


def pitch_of_edges(edges: Edges, focal: float) -> tuple[float, float]:
    """How far the camera looked down, and how sure that is, from edges that stand upright.

    The usual tilt is the prior, so a photo without edges gets that.
    """
    pitches = np.deg2rad(np.arange(-25.0, 60.0, 0.25))
    score = -0.5 * ((pitches - USUAL_PITCH) / PITCH_SPREAD) ** 2
    normals = _normals(edges.upright, focal)
    rolls = np.deg2rad(np.arange(-3.0, 3.1, 0.5))
    if len(normals):
        down = np.stack(
            [
                np.broadcast_to(np.sin(rolls), (len(pitches), len(rolls))),
                np.cos(pitches)[:, None] * np.cos(rolls),
                np.sin(pitches)[:, None] * np.cos(rolls),
            ],
            axis=-1,
        )
        off = np.arcsin(np.clip(down @ normals.T, -1, 1)) / LINE_NOISE
        # a floor of 5 %: an edge that is not upright after all says nothing
        each = np.log(0.05 + 0.95 * np.exp(-0.5 * off**2))
        score = score + (each @ edges.upright_weight).max(axis=1)
    chance = np.exp(score - score.max())
    chance /= chance.sum()
    mean = float(chance @ pitches)
    spread = float(np.sqrt(chance @ (pitches - mean) ** 2))
    return mean, max(spread, float(MIN_TILT_SPREAD))


def roll_of_edges(edges: Edges, focal: float, pitch: float) -> float:
    """How far the camera was rolled, radians, from edges that stand upright; 0 where there are none."""
    rolls = np.deg2rad(np.arange(-4.0, 4.1, 0.25))
    down = np.stack([np.sin(rolls), np.cos(pitch) * np.cos(rolls), np.sin(pitch) * np.cos(rolls)], axis=-1)
    off = np.arcsin(np.clip(down @ _normals(edges.upright, focal).T, -1, 1)) / LINE_NOISE
    score = np.log(0.05 + 0.95 * np.exp(-0.5 * off**2)) @ edges.upright_weight
    score -= 0.5 * (rolls / ROLL_SPREAD) ** 2
    chance = np.exp(score - score.max())
    return float(chance @ rolls / chance.sum())


def levelled(ends: Array, roll: float) -> Array:
    """Edges as a camera that is not rolled would have them."""
    cos, sin = np.cos(roll), np.sin(roll)
    return np.asarray(ends @ np.array([[cos, sin], [-sin, cos]]))


def seen_from(ends: Array, focal: Array, pitch: Array) -> tuple[Array, Array, Array]:
    """Edges as each camera sees them if they lie level in the room: arrays of (camera, edge).

    How steeply up the edge's nearest point is seen (a tangent), in which direction that point is (radians to
    the right of straight ahead), and how far the edge's plane is from level (a sine): nearer to level less
    is known of the direction.
    """
    sin, cos = np.sin(pitch)[:, None], np.cos(pitch)[:, None]
    right, down, ahead = np.moveaxis(_normals(ends, np.asarray(focal)[:, None]), -1, 0)
    forward = cos * ahead - sin * down
    level = np.maximum(np.hypot(right, forward), 1e-9)
    (x, y), lens = ends.mean(axis=1).T, np.asarray(focal)[:, None]
    away = (x / lens * right + (cos - sin * y / lens) * forward) / level
    facing = np.where(away < 0, -1.0, 1.0)
    slope = -(cos * y / lens + sin) / np.maximum(np.abs(away), 1e-6)
    return slope, np.arctan2(facing * right, facing * forward), level


def _normals(ends: Array, focal: float | Array) -> Array:
    """Unit normals of the planes through the camera and each edge, for one lens or a column of them."""
    (x, y), (other_x, other_y) = ends[:, 0].T, ends[:, 1].T
    flat = np.broadcast_to(x * other_y - y * other_x, np.broadcast_shapes(np.shape(focal), x.shape))
    normals = np.stack([focal * (y - other_y), focal * (other_x - x), flat], axis=-1)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9))


def _segments(pixels: Pixels) -> tuple[Array, int]:
    """The ends of all straight edges, pixels from the photo's middle, and the photo's height."""
    import cv2

    height, width = pixels.shape[:2]
    scale = min(1.0, LINES_SIDE / max(height, width))
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    found = cv2.createLineSegmentDetector().detect(small)[0]
    if found is None:
        return np.zeros((0, 2, 2)), height
    return found.reshape(-1, 2, 2).astype(np.float64) / scale - (width / 2, height / 2), height
