"""Finds how far each place of a page must move up or down for its text lines to be level.

A grid of shifts, smooth as paper is: along every traced line, height plus shift is constant. That is linear
in the shifts, so one least-squares solution finds them, however the sheet is bent: curled, folded, seen from
the side. Lines that do not fit (slanted labels of a chart) lose their weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.engines.page_photo.flat_map import sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.engines.page_photo.text_lines import TracedLine

    Floats = NDArray[np.float64]

ACROSS, DOWN = 16, 10  # nodes: a fold shows between two of 16, and 10 are about a paragraph apart
SMOOTH = 0.6  # the cost of a shift that is no straight course, against a point that is off by a pixel
TWIST = 0.05  # how much of that a twist costs: lines seen from the side run together
CALM = 1e-3  # how much any shift costs: where no line tells, nothing moves
ROUNDS = 4  # of the solution, each with less weight for lines that do not fit
SEARCH = 6  # steps to the place that a shift brings to a given height
APART = 16  # pixels between places that are searched for; those between are interpolated
MAX_POINTS = 3000


@dataclass(frozen=True, slots=True)
class Bending:
    """Shifts in pixels at the nodes of a grid over a picture; `left` is what the lines still bend by."""

    shifts: Floats  # (DOWN, ACROSS)
    width: int
    height: int
    left: float

    def at(self, x: Floats, y: Floats) -> Floats:
        """The shift at each place."""
        across = (x / max(1, self.width) * (ACROSS - 1)).astype(np.float32)
        down = (y / max(1, self.height) * (DOWN - 1)).astype(np.float32)
        across, down = np.clip(across, 0, ACROSS - 1), np.clip(down, 0, DOWN - 1)
        grid = self.shifts.astype(np.float32)
        shift = sampled(grid, np.stack([across, down], axis=-1))
        return np.asarray(shift, np.float64).reshape(x.shape)

    def source(self, x: Floats, y: Floats) -> Floats:
        """Where on the bent picture the level picture's place (x, y) is: its height there."""
        found = y - self.at(x, y)
        for _ in range(SEARCH):
            found = y - self.at(x, found)
        return found

    def sources(self) -> NDArray[np.float32]:
        """Where on the bent picture each pixel of the level picture is, as (x, y)."""
        columns, rows = np.arange(0.0, self.width + APART, APART), np.arange(0.0, self.height + APART, APART)
        x, y = (np.asarray(axis, np.float64) for axis in np.meshgrid(columns, rows))
        coarse = np.stack([x, self.source(x, y)], axis=-1).astype(np.float32)
        pixels = np.meshgrid(np.arange(self.width) / APART, np.arange(self.height) / APART)
        return np.asarray(sampled(coarse, np.stack(pixels, axis=-1).astype(np.float32)), np.float32)


def bending(lines: Sequence[TracedLine], width: int, height: int, smooth: float = SMOOTH) -> Bending:
    """The shifts that level the lines of a picture."""
    chosen = _thinned(lines)
    points = np.concatenate(chosen)
    owner = np.repeat(np.arange(len(chosen)), [len(own) for own in chosen])
    weights = _of_nodes(points, width, height)
    centred, wanted = _off_mean(weights, owner), -_off_mean(points[:, 1:], owner)[:, 0]
    rules = _rules(smooth)
    trust = np.ones(len(points))
    for _ in range(ROUNDS):
        normal = centred.T @ (centred * trust[:, None]) + rules * len(points) / 100
        shifts = np.linalg.solve(normal, centred.T @ (trust * wanted))
        off = np.abs(centred @ shifts - wanted)
        spread = max(0.5, 1.5 * float(np.median(off)))
        trust = 1.0 / (1.0 + (off / spread) ** 2)
    return Bending(np.asarray(shifts, np.float64).reshape(DOWN, ACROSS), width, height, float(np.median(off)))


def _thinned(lines: Sequence[TracedLine]) -> list[Floats]:
    """The points of each line, every so many of them where there are more than MAX_POINTS."""
    step = math.ceil(sum(len(line.points) for line in lines) / MAX_POINTS)
    return [line.points[::step] for line in lines]


def _of_nodes(points: Floats, width: int, height: int) -> Floats:
    """How much of each node's shift each point has: (points, nodes)."""
    x = np.clip(points[:, 0] / width * (ACROSS - 1), 0, ACROSS - 1.001)
    y = np.clip(points[:, 1] / height * (DOWN - 1), 0, DOWN - 1.001)
    column, row = x.astype(int), y.astype(int)
    right, low = x - column, y - row
    found = np.zeros((len(points), ACROSS * DOWN))
    each = np.arange(len(points))
    for i, j, share in (
        (0, 0, (1 - right) * (1 - low)),
        (1, 0, right * (1 - low)),
        (0, 1, (1 - right) * low),
        (1, 1, right * low),
    ):
        found[each, (row + j) * ACROSS + column + i] = share
    return found


def _off_mean(values: Floats, owner: NDArray[np.int64]) -> Floats:
    """The values without the mean of their own line: a line's height itself is free."""
    counts = np.bincount(owner)
    means = np.zeros((len(counts), values.shape[1]))
    np.add.at(means, owner, values)
    return values - (means / counts[:, None])[owner]


def _rules(smooth: float) -> Floats:
    """What unevenness of the shifts costs, as a quadratic form of the nodes."""

    def second(count: int) -> Floats:
        return np.diff(np.eye(count), n=2, axis=0)

    across, down = np.kron(np.eye(DOWN), second(ACROSS)), np.kron(second(DOWN), np.eye(ACROSS))
    mixed = np.kron(np.diff(np.eye(DOWN), axis=0), np.diff(np.eye(ACROSS), axis=0))
    form = across.T @ across + 4 * down.T @ down + TWIST * mixed.T @ mixed
    return np.asarray(smooth * form + CALM * np.eye(ACROSS * DOWN))
