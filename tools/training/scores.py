"""How far two formulas are apart."""

from __future__ import annotations

from collections.abc import Sequence


def edit_distance(first: Sequence[str], second: Sequence[str]) -> float:
    """Insertions, deletions and changes of tokens over the longer one's length: from 0, the same, to 1."""
    if not first and not second:
        return 0.0
    row = list(range(len(second) + 1))
    for at, one in enumerate(first, start=1):
        before, row[0] = row[0], at
        for to, other in enumerate(second, start=1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (one != other))
    return row[-1] / max(len(first), len(second))
