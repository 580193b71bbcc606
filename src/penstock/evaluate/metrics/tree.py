"""Edit distance of ordered, labelled trees, fast enough for tables of thousands of cells.

Zhang and Shasha's algorithm (1989), which gives the same number as APTED, computed a row at a time
over many subtrees at once: all keyroots of one nesting level of the second tree lie side by side in
one array. With insertions and deletions at cost 1 the running minimum along a row is
`minimum.accumulate` of the row minus its ramp. Tables nest three or four deep, so a pair of trees
with n nodes takes some 10 n array operations instead of n squared Python steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.errors import DeadlinePassed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHECK_EVERY_ROWS = 64  # a row of a 5,000-cell table takes under 1 ms


@dataclass(frozen=True, slots=True)
class Shape:
    """A tree in postorder: for each node the leftmost leaf below it. `keyroots` are in order."""

    leftmost: Ints
    keyroots: Ints

    def __len__(self) -> int:
        return len(self.leftmost)


@dataclass(frozen=True, slots=True)
class _Level:
    """Keyroots of one nesting level of the second tree, laid side by side.

    Each takes a column for the empty forest, then one for each node of its subtree in postorder.
    """

    ramp: Floats  # distance from the empty forest: 0, 1, 2, ... in each segment
    barrier: Floats  # falls from segment to segment, so that a running minimum never crosses
    single: bool  # all keyroots are leaves, so no running minimum is needed
    nodes: Ints  # the tree's node of each column that is not an empty forest
    columns: Ints  # where those columns are
    on_path: NDArray[np.bool_]  # per node column: its leftmost leaf is the segment's
    before: Ints  # per node column: the column of the forest left of the node's subtree
    spine: Ints  # columns of the nodes on a leftmost path
    spine_nodes: Ints


def shape(children: Sequence[Sequence[int]], root: int = 0) -> tuple[Shape, list[int]]:
    """The shape of a tree given as children of each node, and its nodes in postorder."""
    order: list[int] = []
    stack = [root]
    while stack:  # parents before children, right to left: postorder reversed
        node = stack.pop()
        order.append(node)
        stack.extend(children[node])
    order.reverse()
    place = {node: i for i, node in enumerate(order)}
    leftmost = np.empty(len(order), dtype=np.int64)
    for i, node in enumerate(order):
        below = children[node]
        leftmost[i] = leftmost[place[below[0]]] if below else i
    last = {int(leaf): i for i, leaf in enumerate(leftmost)}  # the highest node over each leftmost leaf
    return Shape(leftmost, np.array(sorted(last.values()), dtype=np.int64)), order


def tree_distance(first: Shape, second: Shape, rename: Floats, deadline_s: float = float("inf")) -> float:
    """The least cost to turn one tree into the other; insertions and deletions cost 1.

    `rename[i, j]` is the cost of turning node i into node j, both in postorder; it is used up.
    Raises DeadlinePassed.
    """
    end = time.monotonic() + deadline_s
    levels = _levels(second, len(first))
    for keyroot in first.keyroots:
        for level in levels:
            _fill(first, int(keyroot), level, rename, end, deadline_s)
    return float(rename[-1, -1])


def _fill(first: Shape, keyroot: int, level: _Level, cost: Floats, end: float, deadline_s: float) -> None:
    """Distances of all forests left-aligned under `keyroot` to all of the level's.

    `cost` holds renames where a pair of subtrees is still open and tree distances where it is done.
    """
    start = int(first.leftmost[keyroot])
    kept: list[tuple[int, Floats]] = [(start - 1, level.ramp)]  # rows a later node may still ask for
    for i in range(start, keyroot + 1):
        if (i - start) % CHECK_EVERY_ROWS == 0 and time.monotonic() > end:
            raise DeadlinePassed(f"Comparing two trees took longer than {deadline_s:g} s.")
        above = kept[-1][1]
        left = int(first.leftmost[i])
        while kept[-1][0] >= left:  # rows inside this node's subtree: nobody asks again
            kept.pop()
        row = _row(kept[-1][1], above, level, cost[i], left == start)
        if left == start:
            cost[i, level.spine_nodes] = row[level.spine]
        kept.append((i, row))


def _row(base: Floats, above: Floats, level: _Level, cost: Floats, on_path: bool) -> Floats:
    """One row: delete the node, insert a node, or map the whole subtree.

    `base` is the row of the forest left of this node's subtree, `above` the one without the node.
    """
    costs = cost[level.nodes]
    mapped = base[level.before] + costs
    if on_path:
        # both subtrees start where their forests do: the pair itself is mapped, its children before
        mapped = np.where(level.on_path, above[level.columns - 1] + costs, mapped)
    row = above + 1.0
    row[level.columns] = np.minimum(row[level.columns], mapped)
    if level.single:
        row[level.columns] = np.minimum(row[level.columns], row[level.columns - 1] + 1.0)
        return row
    row += level.barrier
    np.minimum.accumulate(row, out=row)
    row -= level.barrier
    return row


def _levels(tree: Shape, other_size: int) -> list[_Level]:
    """Keyroots grouped so that those nested in others come earlier."""
    height: dict[int, int] = {}
    pending: list[int] = []  # keyroots not yet under a larger one
    for keyroot in tree.keyroots.tolist():
        inside = 0
        while pending and pending[-1] >= tree.leftmost[keyroot]:
            inside = max(inside, height[pending.pop()] + 1)
        height[keyroot] = inside
        pending.append(keyroot)
    grouped: dict[int, list[int]] = {}
    for keyroot, level in height.items():
        grouped.setdefault(level, []).append(keyroot)
    return [_level(tree, grouped[level], other_size) for level in sorted(grouped)]


def _level(tree: Shape, keyroots: list[int], other_size: int) -> _Level:
    roots = np.array(keyroots, dtype=np.int64)
    starts = tree.leftmost[roots]
    sizes = roots - starts + 1
    offsets = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    segment = np.repeat(np.arange(len(roots)), sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    nodes = starts[segment] + within
    columns = offsets[segment] + within + 1
    on_path = tree.leftmost[nodes] == starts[segment]
    before = columns - (nodes - tree.leftmost[nodes]) - 1
    ramp = np.zeros(int((sizes + 1).sum()))
    ramp[columns] = within + 1
    # a row minus its ramp lies between -largest and other_size, so this step keeps segments apart
    step = float(other_size + int(sizes.max()) + 2)
    barrier = -ramp - np.repeat(np.arange(len(roots)), sizes + 1) * step
    single = bool(sizes.max() == 1)
    return _Level(ramp, barrier, single, nodes, columns, on_path, before, columns[on_path], nodes[on_path])
