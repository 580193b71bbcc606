"""How high the camera was by the walls: rooms are built 2.3 to 2.7 m high nearly everywhere.

Where a wall meets the floor and where it meets the ceiling are two lying edges of one direction, one below
the horizon and one above. How steeply each is seen tells how far up the camera was between floor and ceiling,
whatever the wall's distance. Which edges these are is not known: every pair of one side of the room has a
say, the longer the more, and so has that it is none of them. Walls of one room must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.photos.edges import Edges, levelled, seen_from
from penstock.photos.masks import Mask
from penstock.photos.sizing.gaussian import gaussian_density

Array = NDArray[np.float64]

CEILING, CEILING_SPREAD = 2.44, 0.07  # m: 2.3 in Korean flats, 2.4 to 2.5 in Europe, 8 or 9 feet in the USA
HIGH_CEILINGS, HIGH_CEILING, HIGH_SPREAD = 0.15, 2.65, 0.2  # old houses, lofts, attics
NUM_ABOVE, NUM_BELOW = 16, 24  # edges looked at, the longest
MIN_SLOPE = 0.02  # nearer to the horizon an edge tells nothing
DIRECTION_NOISE = np.deg2rad(1.0)  # of an edge in the photo: lenses bend, cameras are rolled
HEADING_STEP = np.deg2rad(1.0)  # what is lost by headings in steps
ABOVE_IT, FARTHER = 4.0, 1.0  # what is the ceiling's edge has few edges above it, the floor's few behind it
RIGHT = 0.85  # of walls with long edges above and below show both ends
ENOUGH = 0.05  # of the photo's long side: what pairs must be worth to be believed
STEP = 0.02  # of the logarithm of the camera's share of the room's height
SHARES = np.arange(np.log(0.2), np.log(0.95), STEP)
SHARE_NOISE = 0.025
OWN_REACH = 0.008  # of the photo's long side: edges so near to a thing are the thing's
SIDES = 4


@dataclass(frozen=True, slots=True, eq=False)
class WallEdges:
    """Lying edges that are no thing's: their ends, pixels from the photo's middle, and lengths.

    Lengths are shares of the photo's long side.
    """

    ends: Array
    length: Array

    def levelled(self, roll: float) -> WallEdges:
        return WallEdges(levelled(self.ends, roll), self.length)


def wall_edges(edges: Edges, masks: Sequence[Mask], width: int, height: int) -> WallEdges:
    """Those of a photo's lying edges that lie outside the outlines of its things."""
    ends, side = edges.lying, max(width, height)
    if len(ends) and masks:
        reach = 2 * round(OWN_REACH * side) + 1
        things = cv2.dilate(np.logical_or.reduce(masks).astype(np.uint8), np.ones((reach, reach), np.uint8))
        share = np.linspace(0, 1, 9)[:, None]
        places = ends[:, :1] * (1 - share) + ends[:, 1:] * share + (width / 2, height / 2)
        x, y = (
            np.clip(places[..., axis].astype(int), 0, most - 1) for axis, most in enumerate((width, height))
        )
        ends = ends[things[y, x].mean(axis=1) < 0.5]
    return WallEdges(ends, np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / side)


def ceiling_chances(walls: WallEdges, above: Array, pitch: Array, focal: Array, heading: Array) -> Array:
    """The logarithm of how well each camera explains the edges as ends of walls; 0 where none can be."""
    slope, azimuth, level = seen_from(walls.ends, focal, pitch)
    usual = np.median(slope, axis=0) if len(walls.ends) else np.zeros(0)
    upper = _longest(usual > MIN_SLOPE, walls.length, NUM_ABOVE)
    lower = _longest(usual < -MIN_SLOPE, walls.length, NUM_BELOW)
    if not len(upper) or not len(lower):
        return np.zeros(len(above))
    turn = (azimuth + heading[:, None]) / (np.pi / 2)  # headings count to the left, azimuths to the right
    quarter = np.round(turn)
    off = (turn - quarter) * (np.pi / 2) / np.hypot(DIRECTION_NOISE / np.maximum(level, 0.05), HEADING_STEP)
    fits = np.exp(-0.5 * off**2)
    side = quarter.astype(np.int64) % SIDES
    tops = _Ends(side[:, upper], slope[:, upper], walls.length[upper] * fits[:, upper])
    feet = _Ends(side[:, lower], -slope[:, lower], np.sqrt(walls.length[lower]) * fits[:, lower])
    found, worth = _shares_of(tops.outermost(ABOVE_IT), feet.farthest(FARTHER))
    believed = (RIGHT * (1 - np.exp(-worth / ENOUGH)))[..., None]
    by_share = np.prod(1 - believed + believed * found * STEP * len(SHARES), axis=1)
    return np.asarray(np.log((by_share * _built(np.log(above)[:, None] - SHARES)).sum(axis=1) * STEP + 1e-9))


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Edges that may be upper or lower ends of walls, before each camera: (camera, edge) arrays."""

    side: NDArray[np.int64]  # of the room
    slope: Array  # how steeply up or down each is seen, above 0
    weight: Array

    def outermost(self, penalty: float) -> _Ends:
        """Edges count less that have others of their side outside them."""
        return self._without(self.slope[:, None, :] > 1.03 * self.slope[:, :, None], penalty)

    def farthest(self, penalty: float) -> _Ends:
        """Edges count less that have others of their side between them and the horizon."""
        return self._without(self.slope[:, None, :] < 0.97 * self.slope[:, :, None], penalty)

    def _without(self, others: NDArray[np.bool_], penalty: float) -> _Ends:
        same = self.side[:, None, :] == self.side[:, :, None]
        against = np.where(same & others, self.weight[:, None, :], 0.0).sum(axis=2)
        return _Ends(self.side, np.maximum(self.slope, 1e-3), self.weight * np.exp(-penalty * against))


def _shares_of(tops: _Ends, feet: _Ends) -> tuple[Array, Array]:
    """How likely each of SHARES is by each side of the room, and what its pairs are worth."""
    down, up = feet.slope[:, None, :], tops.slope[:, :, None]
    place = np.floor((np.log(down / (down + up)) - SHARES[0]) / STEP + 0.5).astype(np.int64)
    inside = (place >= 0) & (place < len(SHARES))
    same = tops.side[:, :, None] == feet.side[:, None, :]
    weight = np.where(inside & same, tops.weight[:, :, None] * feet.weight[:, None, :], 0.0)
    num = len(tops.side)
    row = np.arange(num)[:, None, None] * SIDES + tops.side[:, :, None]
    cell = row * len(SHARES) + np.clip(place, 0, len(SHARES) - 1)
    counted = np.bincount(cell.ravel(), weight.ravel(), num * SIDES * len(SHARES))
    counted = counted.reshape(num, SIDES, len(SHARES))
    worth = counted.sum(axis=2)
    return counted @ _BLUR / np.maximum(worth, 1e-12)[..., None], worth


def _longest(wanted: NDArray[np.bool_], length: Array, num: int) -> NDArray[np.intp]:
    places = np.flatnonzero(wanted)
    return places[np.argsort(-length[places], kind="stable")[:num]]


def _built(log_height: Array) -> Array:
    """How likely a ceiling is at this height."""
    usual = gaussian_density(log_height - np.log(CEILING), CEILING_SPREAD)
    high = gaussian_density(log_height - np.log(HIGH_CEILING), HIGH_SPREAD)
    return (1 - HIGH_CEILINGS) * usual + HIGH_CEILINGS * high


_BLUR = gaussian_density(SHARES[:, None] - SHARES, SHARE_NOISE)
