"""Computes the edit distance of ordered, labelled trees, fast enough for tables of thousands of cells.

Zhang and Shasha's algorithm (1989), which gives the same number as APTED, computed a row at a time
over many subtrees at once: all keyroots of one nesting level of the second tree lie side by side in
one array. With insertions and deletions at cost 1 the running minimum along a row is
`minimum.accumulate` of the row minus its ramp. A leaf against a subtree needs no search: it becomes the
cheapest node there, and the others are inserted. Tables nest three or four deep and are mostly leaves,
so a pair of trees with n nodes takes some 10 n array operations instead of n squared Python steps.
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
Flags = NDArray[np.bool_]

CHUNK_ROWS = 64  # rows that stay in the cache while every subtree's minimum is taken
CHECK_EVERY_ROWS = 64  # a row of a 5,000-cell table takes under 1 ms


@dataclass(frozen=True, slots=True)
class TreeShape:
    """A tree in postorder: for each node the leftmost leaf below it.

    `keyroots` are the nodes with a left sibling, and the root, that are not leaves; in order.
    """

    leftmost: Ints
    keyroots: Ints

    @property
    def is_leaf(self) -> Flags:
        flags: Flags = self.leftmost == np.arange(len(self.leftmost))
        return flags

    def __len__(self) -> int:
        return len(self.leftmost)


@dataclass(frozen=True, slots=True)
class _Level:
    """Keyroots of one nesting level of the second tree, laid side by side.

    Each takes a column for the empty forest, then one for each node of its subtree in postorder. Where
    there is one keyroot, columns and nodes are slices, which numpy reads without copying.
    """

    ramp: Floats  # distance from the empty forest: 0, 1, 2, ... in each segment
    barrier: Floats  # falls from segment to segment, so that a running minimum never crosses
    nodes: Ints | slice  # the tree's node of each column that is not an empty forest
    columns: Ints | slice  # where those columns are
    before: Ints  # per node column: the column of the forest left of the node's subtree
    spine: Ints  # columns of the inner nodes on a leftmost path
    spine_nodes: Ints
    spine_at: Ints  # where these are among the node columns


class _Clock:
    """Raises DeadlinePassed once the time is over."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._end = time.monotonic() + deadline_s

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise DeadlinePassed(f"Comparing two trees took longer than {self._deadline_s:g} s.")


def tree_shape(children: Sequence[Sequence[int]], root: int = 0) -> tuple[TreeShape, list[int]]:
    """Returns the shape of a tree, given the children of each node, and its nodes in postorder."""
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
    keyroots = sorted(node for leaf, node in last.items() if leaf != node)
    return TreeShape(leftmost, np.array(keyroots, dtype=np.int64)), order


def tree_distance(
    first: TreeShape, second: TreeShape, rename: Floats, deadline_s: float = float("inf")
) -> float:
    """Returns the least cost to turn one tree into the other; insertions and deletions cost 1.

    `rename[i, j]` is the cost of turning node i into node j, both in postorder; it is overwritten.
    Raises DeadlinePassed.
    """
    clock = _Clock(deadline_s)
    _settle_leaves(first, second, rename, clock)
    levels = _levels(second, len(first))
    inner = ~first.is_leaf
    for keyroot in first.keyroots:
        for level in levels:
            _fill(first, int(keyroot), level, rename, inner, clock)
    return float(rename[-1, -1])


def _settle_leaves(first: TreeShape, second: TreeShape, cost: Floats, clock: _Clock) -> None:
    """Distances of all pairs with a leaf, in place of their renames: a leaf becomes the cheapest node of
    a subtree and the rest is inserted. Right because no rename costs more than 1."""
    rows, leaf_columns = np.flatnonzero(first.is_leaf), second.is_leaf
    columns = np.flatnonzero(~leaf_columns)
    renames = cost[:, leaf_columns]  # a copy, before any pair is settled
    for chunk in np.split(rows, range(CHUNK_ROWS, len(rows), CHUNK_ROWS)) if columns.size else ():
        clock.check()
        part = cost[chunk]
        cost[np.ix_(chunk, columns)] = _cheapest_below(part.T, second, columns).T
    for node in np.flatnonzero(~first.is_leaf):
        clock.check()
        cost[node, leaf_columns] = _cheapest_below(renames, first, np.array([node]))[0]


def _cheapest_below(costs: Floats, tree: TreeShape, nodes: Ints) -> Floats:
    """For each of these nodes, the least cost of its subtree (along the first axis) and the rest inserted."""
    return np.stack([costs[tree.leftmost[n] : n + 1].min(axis=0) + (n - tree.leftmost[n]) for n in nodes])


def _fill(first: TreeShape, keyroot: int, level: _Level, cost: Floats, inner: Flags, clock: _Clock) -> None:
    """Distances of all forests left-aligned under `keyroot` to all of the level's.

    `cost` holds renames where a pair of subtrees is still open and tree distances where it is done.
    """
    start = int(first.leftmost[keyroot])
    kept: list[tuple[int, Floats]] = [(start - 1, level.ramp)]  # rows that a later node may still need
    for i in range(start, keyroot + 1):
        if (i - start) % CHECK_EVERY_ROWS == 0:
            clock.check()
        above = kept[-1][1]
        left = int(first.leftmost[i])
        while kept[-1][0] >= left:  # rows inside this node's subtree: no later node needs them
            kept.pop()
        is_open = left == start and bool(inner[i])
        row = _row(kept[-1][1], above, level, cost[i], is_open)
        if is_open:
            cost[i, level.spine_nodes] = row[level.spine]
        kept.append((i, row))


def _row(base: Floats, above: Floats, level: _Level, cost: Floats, is_open: bool) -> Floats:
    """One row: delete the node, insert a node, or map the whole subtree.

    `base` is the row of the forest left of this node's subtree, `above` the one without the node.
    """
    mapped = base[level.before]
    mapped += cost[level.nodes]
    if is_open:
        # both subtrees start where their forests do: the pair itself is mapped, its children before
        mapped[level.spine_at] = above[level.spine - 1] + cost[level.spine_nodes]
    row = above + 1.0
    row[level.columns] = np.minimum(row[level.columns], mapped)
    row += level.barrier
    np.minimum.accumulate(row, out=row)
    row -= level.barrier
    return row


def _levels(tree: TreeShape, other_size: int) -> list[_Level]:
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


def _level(tree: TreeShape, keyroots: list[int], other_size: int) -> _Level:
    roots = np.array(keyroots, dtype=np.int64)
    starts = tree.leftmost[roots]
    sizes = roots - starts + 1
    offsets = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    segment = np.repeat(np.arange(len(roots)), sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    nodes = starts[segment] + within
    columns = offsets[segment] + within + 1
    open_columns = np.flatnonzero((tree.leftmost[nodes] == starts[segment]) & (tree.leftmost[nodes] != nodes))
    ramp = np.zeros(int((sizes + 1).sum()))
    ramp[columns] = within + 1
    # a row minus its ramp lies between -largest and other_size, so this step keeps segments apart
    step = float(other_size + int(sizes.max()) + 2)
    barrier = -ramp - np.repeat(np.arange(len(roots)), sizes + 1) * step
    alone = len(roots) == 1
    return _Level(
        ramp=ramp,
        barrier=barrier,
        nodes=slice(int(nodes[0]), int(nodes[-1]) + 1) if alone else nodes,
        columns=slice(1, None) if alone else columns,
        before=columns - (nodes - tree.leftmost[nodes]) - 1,
        spine=columns[open_columns],
        spine_nodes=nodes[open_columns],
        spine_at=open_columns,
    )
