"""Which boxes fit an outline, for many cameras at once.

A draw is a camera, an angle of the thing, and the place of its foot. For each draw the box is found
that fits the outline and the sizes of its class best (two steps of Gauss and Newton on the logarithms of
width, depth and height). Then one box near it is drawn, and counts as much more as it is likelier than it was
to be drawn. So a few thousand draws do what millions of guessed boxes would, and a side that the frame cuts
or a nearer thing hides is as long as its class makes it, but never shorter than what is seen of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.photos.sizing.gaussian import cholesky, correlate, precision_matrix, solve
from penstock.photos.sizing.outline import Outline

Array = NDArray[np.float64]

STEPS = 2
NUDGE = 0.01  # of a logarithm, for slopes
SIDE_NOISE = 0.04  # of the outline's width or height: masks are that good, and things are no boxes
FOOT_NOISE = 0.10  # of its height: legs and cushions
MIN_FAR, MAX_FAR = 0.3, 14.0  # m: nearer one cannot photograph it, farther is no room
NEVER = -1e6  # the logarithm of no evidence


@dataclass(frozen=True, slots=True, eq=False)
class SizePrior:
    """The logarithms of width, depth and height a class has, and how they vary together."""

    mean: Array  # (3,)
    covariance: Array  # (3, 3)

    def chance(self, sides: Sequence[int], logs: Array, noise: float) -> float:
        """The logarithm of how likely these sides have these lengths, which are measured to `noise`."""
        if not len(sides):
            return 0.0
        off, around = logs - self.mean[sides], self._around(sides, noise)
        return float(-0.5 * (off @ np.linalg.solve(around, off) + np.linalg.slogdet(around)[1]))

    def given(self, sides: Sequence[int], logs: Array, noise: float) -> SizePrior:
        """What is known of all sides once these have been measured."""
        if not len(sides):
            return self
        gain = self.covariance[:, sides] @ np.linalg.inv(self._around(sides, noise))
        mean = self.mean + gain @ (logs - self.mean[sides])
        return SizePrior(mean, self.covariance - gain @ self.covariance[sides])

    def _around(self, sides: Sequence[int], noise: float) -> Array:
        return np.asarray(self.covariance[np.ix_(sides, sides)] + noise**2 * np.eye(len(sides)))


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Cameras, and how and where a thing is before each: arrays of one length."""

    focal: Array
    above: Array
    pitch: Array
    yaw: Array
    foot: Array  # the pixel row of its lowest point
    base: Array  # m above the floor
    middle: tuple[float, float]  # of the photo, pixels

    def far(self) -> Array:
        """How far along the floor the foot is; infinite where no thing can be."""
        cos, sin = np.cos(self.pitch), np.sin(self.pitch)
        slope = (self.foot - self.middle[1]) / self.focal
        down = sin + slope * cos
        with np.errstate(divide="ignore", invalid="ignore"):
            far = (self.above - self.base) * (cos - slope * sin) / down
        return np.where((far > MIN_FAR) & (far < MAX_FAR) & np.isfinite(far), far, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """For each draw: the logarithm of its evidence, a size drawn from what fits, and how far it is."""

    evidence: Array
    size: Array  # (draws, 3)
    far: Array


def fit_boxes(
    prior: SizePrior, draws: Draws, seen: Outline, random: np.random.Generator, noise: float = 1.0
) -> Fits:
    """The same draws always get the same fits. `noise` multiplies what outlines may be off."""
    far = draws.far()
    possible = np.isfinite(far)
    view = _View(draws, np.where(possible, far, 1.0), seen, noise)
    mean, precision = prior.mean[:, None], np.asarray(np.linalg.inv(prior.covariance), np.float64)
    best = np.tile(mean, len(far))
    for _ in range(STEPS):
        off, slopes = view.off_and_slopes(best)
        pull = np.einsum("kdn,kn->dn", slopes, off) + precision @ (best - mean)
        bend = precision_matrix(slopes, precision)
        best = best - np.clip(solve(bend, pull), -0.6, 0.6)
    drawn, density = _drawn_near(best, view, precision, random)
    misfit = (view.off(drawn) ** 2).sum(axis=0) + ((drawn - mean) * (precision @ (drawn - mean))).sum(axis=0)
    chance = -0.5 * (misfit + np.linalg.slogdet(prior.covariance)[1]) - view.num_ends * np.log(noise)
    return Fits(np.where(possible, chance - density, NEVER), np.exp(drawn).T, far)


def _drawn_near(
    best: Array, view: _View, precision: Array, random: np.random.Generator
) -> tuple[Array, Array]:
    """A box near each best one, and the logarithm of how likely it was to be drawn.

    Open sides do not hold it there: they allow all that is longer, which no bell around the best box does.
    """
    _, slopes = view.off_and_slopes(best)
    root = cholesky(precision_matrix(slopes[~view.is_open], precision))
    step = random.normal(size=best.T.shape).T
    density = np.log(root[[0, 3, 5]]).sum(axis=0) - 0.5 * (step**2).sum(axis=0)
    return best + correlate(root, step), density


class _View:
    """Boxes set on their base before each draw's camera, and projected."""

    def __init__(self, draws: Draws, far: Array, seen: Outline, noise: float) -> None:
        self._seen, self._noise, self._middle = seen, noise, draws.middle
        # single precision is far finer than any outline, and half the time
        small = [np.asarray(values, np.float32) for values in (far, draws.focal, draws.above - draws.base)]
        self._far, self._focal, self._above = small
        self._cos, self._sin = np.float32(np.cos(draws.pitch)), np.float32(np.sin(draws.pitch))
        self._turn = np.float32(np.cos(draws.yaw)), np.float32(np.sin(draws.yaw))
        across, along = np.array([[-0.5, 0.5, 0.5, -0.5], [-0.5, -0.5, 0.5, 0.5]], np.float32)
        self._steps = across[:, None], along[:, None]
        feet = [foot for foot in (seen.foot_left, seen.foot_right) if foot is not None]
        sides = [bool(seen.open_sides & {"left", "right"}), "top" in seen.open_sides]
        self.is_open = np.array(sides + [False] * len(feet))  # of the rows of `off`
        self.num_ends = int((~self.is_open).sum())  # of the thing that are seen

    def off_and_slopes(self, logs: Array) -> tuple[Array, Array]:
        """How far what is seen is off, and how that changes with each side."""
        off = self.off(logs)
        slopes = []
        for axis in range(3):
            nudged = logs.copy()
            nudged[axis] += NUDGE
            slopes.append((self.off(nudged) - off) / NUDGE)
        return off, np.stack(slopes, axis=1)

    def off(self, logs: Array) -> Array:
        """How far what is seen is off, in standard deviations: a row for each end."""
        seen, side, foot = self._seen, SIDE_NOISE * self._noise, FOOT_NOISE * self._noise
        u, v = self._project(np.exp(logs.astype(np.float32)))
        left, right, top = u.min(axis=(0, 1)), u.max(axis=(0, 1)), v.min(axis=(0, 1))
        wider = np.log(np.maximum(right - left, 1.0) / seen.wide) / side
        higher = (seen.y0 - top) / (side * seen.tall)
        # an open side is at least as far out as what is seen of it
        off = [np.minimum(0.0, wider) if seen.open_sides & {"left", "right"} else wider]
        off.append(np.minimum(0.0, higher) if "top" in seen.open_sides else higher)
        place = np.arange(u.shape[2])
        for at, row in ((u[0].argmin(axis=0), seen.foot_left), (u[0].argmax(axis=0), seen.foot_right)):
            if row is not None:
                off.append((v[0, at, place] - row) / (foot * seen.tall))
        return np.stack(off).astype(np.float64)

    def _project(self, size: Array) -> tuple[Array, Array]:
        """Pixels of the corners: (under or top, corner, draw)."""
        width, depth, height = size
        (cos, sin), (across, along) = self._turn, self._steps
        x, y = across * width * cos - along * depth * sin, across * width * sin + along * depth * cos
        forward = self._far + y - y.min(axis=0)
        lifted = np.stack([np.zeros_like(height), height])[:, None]
        below = self._above - lifted
        ahead = np.maximum(below * self._sin + forward * self._cos, 0.05)
        down = below * self._cos - forward * self._sin
        v = np.float32(self._middle[1]) + self._focal * down / ahead
        return self._shifted(x, ahead), v

    def _shifted(self, x: Array, ahead: Array) -> Array:
        """Columns of the corners, the box moved sideways to where the outline is."""
        focal, middle = self._focal, np.float32(self._middle[0])
        target, ends = self._anchor()
        per_pixel = ahead.mean(axis=(0, 1)) / focal
        aside = (target - middle) * per_pixel
        u = middle + focal * (aside + x) / ahead
        at = ends[0] * u.min(axis=(0, 1)) + ends[1] * u.max(axis=(0, 1))
        return np.asarray(u + focal * ((target - at) * per_pixel) / ahead)

    def _anchor(self) -> tuple[float, tuple[float, float]]:
        """A column of the outline that is the thing's own, and which ends of a box to put there."""
        seen, sides = self._seen, self._seen.open_sides & {"left", "right"}
        if sides == {"left"}:
            return seen.x1, (0.0, 1.0)
        if sides == {"right"}:
            return seen.x0, (1.0, 0.0)
        return (seen.x0 + seen.x1) / 2, (0.5, 0.5)
