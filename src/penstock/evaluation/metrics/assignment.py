"""Finds the cheapest assignment of rows to columns, by shortest augmenting paths (Jonker & Volgenant 1987).

Follows Crouse's rectangular variant (2016) step by step: among assignments of equal cost it finds the
one that SciPy finds, on which official scores rest. SciPy itself takes longer to load than a page takes to
score; only large problems go to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_OWN_ROWS = 160  # rows; beyond this SciPy's compiled loop wins back its second of loading

Costs = NDArray[np.float64]


def assign(costs: Costs) -> dict[int, int]:
    """Returns columns by row. If there are fewer columns than rows, some rows get none."""
    if 0 in costs.shape:
        return {}
    if min(costs.shape) > MAX_OWN_ROWS:
        return _by_scipy(costs)
    if costs.shape[0] > costs.shape[1]:
        return dict(sorted((row, column) for column, row in enumerate(_solved(costs.T))))
    return dict(enumerate(_solved(costs)))


def _by_scipy(costs: Costs) -> dict[int, int]:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(costs)
    return dict(zip(rows.tolist(), columns.tolist(), strict=True))


def _solved(costs: Costs) -> list[int]:
    """Returns the column of every row; there must be at least as many columns as rows."""
    rows, columns = costs.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    column_of, row_of = np.full(rows, -1), np.full(columns, -1)
    for row in range(rows):
        path = _ShortestPath(costs, row_price, column_price, row_of, row)
        row_price[row] += path.length
        others = path.seen_rows[1:]
        row_price[others] += path.length - path.distance[column_of[others]]
        seen = path.seen_columns
        column_price[seen] -= path.length - path.distance[seen]
        _augment(path.came_from, path.sink, row, column_of, row_of)
    return [int(column) for column in column_of]


def _augment(
    came_from: NDArray[np.int64],
    column: int,
    start: int,
    column_of: NDArray[np.int64],
    row_of: NDArray[np.int64],
) -> None:
    """Flips the path's assignments, from its free column back to the row it began with."""
    while True:
        row = int(came_from[column])
        row_of[column] = row
        column_of[row], column = column, int(column_of[row])
        if row == start:
            return


class _ShortestPath:
    """The shortest way from a row to a free column over edges of reduced cost.

    Keeps the open columns in a list, at first from the last to the first. Of equally near ones it takes the
    last free one in the list, else the first.
    """

    def __init__(
        self, costs: Costs, row_price: Costs, column_price: Costs, row_of: NDArray[np.int64], row: int
    ) -> None:
        columns = costs.shape[1]
        self.length = 0.0
        self.distance = np.full(columns, np.inf)
        self.came_from = np.full(columns, -1)
        self.seen_rows: list[int] = []
        self.seen_columns: list[int] = []
        left = np.arange(columns - 1, -1, -1)
        while True:
            self.seen_rows.append(row)
            reached = self.length + costs[row, left] - row_price[row] - column_price[left]
            nearer = left[reached < self.distance[left]]
            self.distance[left] = np.minimum(self.distance[left], reached)
            self.came_from[nearer] = row
            at = self._nearest(left, row_of)
            column = int(left[at])
            self.length = float(self.distance[column])
            self.seen_columns.append(column)
            if row_of[column] < 0:
                self.sink = column
                return
            row = int(row_of[column])
            left[at] = left[-1]
            left = left[:-1]

    def _nearest(self, left: NDArray[np.int64], row_of: NDArray[np.int64]) -> int:
        distances = self.distance[left]
        nearest = np.flatnonzero(distances == distances.min())
        free = nearest[row_of[left[nearest]] < 0]
        return int(free[-1] if free.size else nearest[0])
