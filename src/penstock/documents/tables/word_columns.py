"""Finds the columns that rows of words share, by the white between them.

A gutter is white that nearly all rows share: a heading over several columns may cross it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from penstock.documents.text.runs import runs_of
from penstock.region import Word

# In units of the type's height.
GUTTER = 0.45  # narrowest white between columns: twice a word's space
FEW_ROWS, WIDE_GUTTER = 5, 0.6  # in fewer rows spaces between words stand above each other by chance
CROSSING = 0.2  # share of the rows that may cross a gutter


def type_height(words: Sequence[Word]) -> float:
    return median(word.size or word.box[3] - word.box[1] for word in words) if words else 0.0


def column_edges(rows: Sequence[Sequence[Word]], em: float, min_width: float | None = None) -> list[float]:
    """The middles of the gutters that the rows share, left to right."""
    shown = [row for row in rows if row]
    steps = sorted(step for row in shown for step in _covered(row))
    if not steps or em <= 0:
        return []
    wide = min_width or (GUTTER if len(shown) >= FEW_ROWS else WIDE_GUTTER) * em
    most = CROSSING * len(shown)
    found: list[float] = []
    count, start = 0, steps[0][0]
    for at, change in steps:
        if change > 0 and count <= most < count + 1:
            if at - start >= wide:
                found.append((start + at) / 2)
        elif change < 0 and count - 1 <= most < count:
            start = at
        count += change
    return found


def _covered(row: Sequence[Word]) -> list[tuple[float, int]]:
    """Where the words of a row begin (+1) and end (-1), words that touch taken together."""
    spans: list[list[float]] = []
    for low, high in sorted((word.box[0], word.box[2]) for word in row):
        if spans and low <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], high)
        else:
            spans.append([low, high])
    return [step for low, high in spans for step in ((low, 1), (high, -1))]


def split_at_white(row: Sequence[Word], white: float) -> list[list[Word]]:
    """The row cut at white of at least this width."""
    return runs_of(row, lambda part, word: word.box[0] - part[-1].box[2] < white)
