"""Finds columns of running text among lines: full lines one under the other, of even height.

For pages on which a layout model sees no blocks, or one large table: newspapers, gazettes. Titles, names
and amounts, and labels of a drawing are not running text, and in no column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.box import Box

MIN_LINES = 4  # of a column; fewer may be cells of a table
MAX_LINES = 1500  # of a page, each compared with each: 150 MB; a dense newspaper page has 800
FULL = 0.7  # of the column's width: at least half of its lines reach this far, names in a list do not
# In heights of a line.
GAP = 0.7
INDENT = 3.0
ALIKE = 0.75  # the lower of two lines over the higher
MIN_WIDTH = 6.0  # of a newspaper's columns, in boxes drawn around lines; a column of figures is narrower


def text_columns(boxes: Sequence[Box]) -> list[list[int]]:
    """Indices of the lines of each column, top to bottom; no line is in two."""
    if not MIN_LINES <= len(boxes) <= MAX_LINES:
        return []
    array = np.array(boxes, dtype=np.float64)
    below = _below(array)
    # a line with two below it spans columns; one with two above it stands under two
    alone = (below.sum(axis=1) == 1)[:, None] & (below.sum(axis=0) == 1)[None, :]
    linked = below & alone & _matches(array)
    follower = {int(a): int(b) for a, b in np.argwhere(linked)}
    firsts = sorted(set(range(len(boxes))) - set(follower.values()))
    chains = [_chain(first, follower) for first in firsts]
    return [chain for chain in chains if len(chain) >= MIN_LINES and _is_full([boxes[i] for i in chain])]


def _below(boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[i, j]: j lies right under i, whatever it is."""
    x0, y0, x1, y1 = boxes.T
    shared = np.minimum(x1[:, None], x1[None, :]) - np.maximum(x0[:, None], x0[None, :])
    shorter = np.minimum((x1 - x0)[:, None], (x1 - x0)[None, :])
    # boxes of lines run into each other, so it is their middles that tell which is lower
    step = ((y0 + y1)[None, :] - (y0 + y1)[:, None]) / 2
    half = (y1 - y0)[:, None] / 2
    near = y0[None, :] - y1[:, None] < GAP * 2 * np.minimum(half, half.T)
    under = (shared > 0.5 * shorter) & (step > half) & near
    nearest = np.where(under, step, np.inf).min(axis=1)
    found: NDArray[np.bool_] = under & (step < nearest[:, None] + half)
    return found


def _matches(boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[i, j]: j can be the next line after i: as high, and beginning about where i does."""
    x0, y0, _, y1 = boxes.T
    height = y1 - y0
    higher = np.maximum(height[:, None], height[None, :])
    alike = np.minimum(height[:, None], height[None, :]) >= ALIKE * higher
    found: NDArray[np.bool_] = alike & (np.abs(x0[:, None] - x0[None, :]) < INDENT * higher)
    return found


def _chain(first: int, follower: dict[int, int]) -> list[int]:
    chain = [first]
    while (after := follower.get(chain[-1])) is not None:
        chain.append(after)
    return chain


def _is_full(lines: Sequence[Box]) -> bool:
    width = max(line[2] for line in lines) - min(line[0] for line in lines)
    height = float(np.median([line[3] - line[1] for line in lines]))
    usual = float(np.median([line[2] - line[0] for line in lines]))
    return usual >= FULL * width and width >= MIN_WIDTH * height
