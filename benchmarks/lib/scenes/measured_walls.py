"""The walls of a measured room, and what is on them: some of it looks like a wall's end, and is none.

A room is a box whose sides lie as its heading says. Ceilings are as high as flats and houses are built, walls
stand behind the furniture, nearer or farther. On walls, floor and ceiling lie flat marks: skirting boards,
cornices, doors, windows with a rail for curtains, pictures, rugs, floorboards, lamps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# metres, and of how many rooms: flats in Korea are built with 2.30, in Japan and Britain with 2.40; 8 and 9
# feet are the USA's; 2.50 and 2.60 are Germany's and France's; 3.00 is an old house's
CEILINGS = {2.30: 0.20, 2.40: 0.20, 2.44: 0.20, 2.50: 0.15, 2.60: 0.10, 2.74: 0.10, 3.00: 0.05}
NEAR, USUAL_GAP = 0.6, 0.5  # of walls stand right behind what is in the room; m, on average
MIN_GAP, AROUND_CAMERA = 0.03, 0.4  # m
FAR_WALLS = (-6.0, -3.0, 6.0)  # m from the camera: left, behind, right
TONES = np.array([205.0, 225.0, 245.0])  # side walls, walls ahead and behind, ceiling
FLOOR_TONE = 130.0


@dataclass(frozen=True, slots=True)
class WallMark:
    """A rectangle on a side of the room: metres along the side's two axes, and how light it is."""

    axis: int  # the side's own
    at_high: bool
    low: tuple[float, float]
    high: tuple[float, float]
    tone: float


@dataclass(frozen=True, slots=True, eq=False)
class Walls:
    """The room's two corners in its own frame, and its marks, those on top last."""

    low: Array
    high: Array
    marks: tuple[WallMark, ...] = ()

    def cast(self, eye: Array, rays: Array) -> tuple[Array, Array]:
        """How far along each ray the room ends, and how light it is there."""
        ends = np.where(rays > 0, self.high, self.low)
        with np.errstate(divide="ignore", invalid="ignore"):
            leave = np.where(rays == 0, np.inf, (ends - eye) / rays)
        depth = np.minimum(np.minimum(leave[..., 0], leave[..., 1]), leave[..., 2])
        side = np.where(leave[..., 0] == depth, 0, np.where(leave[..., 1] == depth, 1, 2))
        tone = np.where((side == 2) & (rays[..., 2] < 0), FLOOR_TONE, TONES[side])
        for mark in self.marks:
            on = np.nonzero((side == mark.axis) & ((rays[..., mark.axis] > 0) == mark.at_high))
            first, second = (axis for axis in range(3) if axis != mark.axis)
            places = [eye[axis] + depth[on] * rays[..., axis][on] for axis in (first, second)]
            inside = np.logical_and.reduce(
                [(low < at) & (at < high) for low, at, high in zip(mark.low, places, mark.high, strict=True)]
            )
            tone[on[0][inside], on[1][inside]] = mark.tone
        return depth, tone


def walls_around(corners: Array, far: float, random: np.random.Generator) -> Walls:
    """A room that holds these points and the camera; `far` is where the wall ahead is at the farthest."""
    tall = float(corners[:, 2].max(initial=0.0))
    heights = [height for height in CEILINGS if height > tall + 0.02]
    chances = np.array([CEILINGS[height] for height in heights])
    ceiling = float(random.choice(heights, p=chances / chances.sum()))
    inside = np.concatenate([corners[:, :2], [[-AROUND_CAMERA] * 2, [AROUND_CAMERA] * 2]])
    ends = np.concatenate([-inside.min(axis=0), inside.max(axis=0)])
    gap = MIN_GAP + random.exponential(USUAL_GAP, 4)
    farthest = np.array([-FAR_WALLS[0], -FAR_WALLS[1], FAR_WALLS[2], far])
    ends = np.where(random.random(4) < NEAR, np.minimum(ends + gap, farthest), farthest)
    low, high = np.array([*-ends[:2], 0.0]), np.array([*ends[2:], ceiling])
    return Walls(low, high, tuple(_marks(low, high, random)))


def _marks(low: Array, high: Array, random: np.random.Generator) -> list[WallMark]:
    """What is on the sides of a room."""
    made = [*_floor(low, high, random), *_ceiling(low, high, random)]
    walls = [(axis, at_high) for axis in (0, 1) for at_high in (False, True)]
    skirting = float(random.uniform(0.05, 0.14)) if random.random() < 0.6 else 0.0
    cornice = float(random.uniform(0.04, 0.12)) if random.random() < 0.25 else 0.0
    white = float(random.uniform(-25, 25))
    for axis, at_high in walls:
        along = low[1 - axis], high[1 - axis]
        tone = float(TONES[axis])
        for part in (
            _pictures(along, tone, random),
            _window(along, float(high[2]), tone, random),
            _door(along, tone, random),
        ):
            made += [WallMark(axis, at_high, *corners, light) for corners, light in part]
        bands = [(0.0, skirting), (high[2] - cornice, high[2])]
        ends = [((along[0], bottom), (along[1], top)) for bottom, top in bands if top > bottom]
        made += [WallMark(axis, at_high, *corners, tone + white) for corners in ends]
    return made


Rectangle = tuple[tuple[tuple[float, float], tuple[float, float]], float]


def _place(along: tuple[float, float], wide: float, random: np.random.Generator) -> tuple[float, float]:
    start = float(random.uniform(along[0], max(along[0], along[1] - wide)))
    return start, start + wide


def _framed(
    ends: tuple[float, float], bottom: float, top: float, rim: float, tones: tuple[float, float]
) -> list[Rectangle]:
    """A frame and what is in it."""
    inner = (ends[0] + rim, bottom + (rim if bottom else 0.0)), (ends[1] - rim, top - rim)
    return [(((ends[0], bottom), (ends[1], top)), tones[0]), (inner, tones[1])]


def _door(along: tuple[float, float], tone: float, random: np.random.Generator) -> list[Rectangle]:
    if random.random() > 0.35:
        return []
    ends = _place(along, float(random.uniform(0.8, 1.0)), random)
    tones = tone + float(random.uniform(-60, 20)), tone + float(random.uniform(-90, 20))
    return _framed(ends, 0.0, float(random.uniform(2.0, 2.15)), 0.07, tones)


def _window(
    along: tuple[float, float], ceiling: float, tone: float, random: np.random.Generator
) -> list[Rectangle]:
    if random.random() > 0.35:
        return []
    ends = _place(along, float(random.uniform(0.8, 2.4)), random)
    top = float(random.uniform(2.0, ceiling - 0.1))
    tones = tone + float(random.uniform(-40, 25)), float(random.uniform(120, 250))
    made = _framed(ends, float(random.choice([0.1, 0.5, 0.9, 1.0])), top, 0.06, tones)
    if random.random() < 0.5:  # a rail for curtains
        rail = float(random.uniform(top, ceiling - 0.04))
        made.append((((ends[0] - 0.2, rail), (ends[1] + 0.2, rail + 0.03)), tone - 110))
    return made


def _pictures(along: tuple[float, float], tone: float, random: np.random.Generator) -> list[Rectangle]:
    made: list[Rectangle] = []
    for _ in range(int(random.integers(0, 3))):
        wide, tall = random.uniform(0.3, 1.2), random.uniform(0.3, 0.9)
        middle = float(random.uniform(1.35, 1.7))
        ends = _place(along, float(wide), random)
        tones = float(random.uniform(20, 200)), float(random.uniform(60, 220))
        made += _framed(ends, middle - float(tall) / 2, middle + float(tall) / 2, 0.03, tones)
    return made


def _floor(low: Array, high: Array, random: np.random.Generator) -> list[WallMark]:
    """Floorboards in some rooms, a rug in some."""
    made = []
    if random.random() < 0.3:
        wide, lighter = float(random.uniform(0.1, 0.2)), float(random.uniform(4, 14))
        starts = np.arange(low[0], high[0], 2 * wide)
        made += [
            WallMark(
                2, False, (float(x), float(low[1])), (float(x) + wide, float(high[1])), FLOOR_TONE + lighter
            )
            for x in starts
        ]
    if random.random() < 0.4:
        middle = random.uniform((-1.5, 1.5), (1.5, 4.5))
        half = random.uniform(0.5, 1.5, 2)
        tone = float(random.uniform(40, 220))
        made.append(WallMark(2, False, tuple(middle - half), tuple(middle + half), tone))
    return made


def _ceiling(low: Array, high: Array, random: np.random.Generator) -> list[WallMark]:
    """A lamp, flat as a panel, in some rooms."""
    if random.random() > 0.4:
        return []
    middle = random.uniform(low[:2], high[:2])
    half = random.uniform(0.15, 0.5, 2)
    return [
        WallMark(2, True, tuple(middle - half), tuple(middle + half), float(random.choice([255.0, 215.0])))
    ]
