"""The box of a table on its printed page: its words, the lines around them, and rows that say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from penstock.box import Box, enclosing
from penstock.region import TableCell, TextLayer
from penstock.workers.office.placing import box_of

NEAR_LINES = 1.5  # heights of a line of text: how far a table's frame is from its words
TOUCHING = 0.2  # heights of a line of text: how far lines that meet are from each other
MAX_LINES = 5_000  # of a page whose lines are followed; one with more is a drawing


def table_box(cells: Sequence[TableCell], words: Sequence[Sequence[int]], layer: TextLayer) -> Box:
    """Returns the box. `words` are those of each cell."""
    own = {word for each in words for word in each}
    em = median(layer.words[word].box[3] - layer.words[word].box[1] for word in own)
    box = _with_frame(box_of(layer.words, own), layer.strokes, em)
    if len(layer.strokes) > MAX_LINES or not _has_silent_edge(cells, words):
        return box
    others = [word.box for number, word in enumerate(layer.words) if number not in own]
    return _with_lines_that_go_on(box, layer.strokes, others, TOUCHING * em)


def _with_frame(box: Box, strokes: Sequence[Box], em: float) -> Box:
    """Returns the box of a table's words with the lines that are drawn around it."""
    left, top, right, bottom = box
    reach = NEAR_LINES * em
    lines = [
        line
        for line in strokes
        if line[0] < right + reach and line[2] > left - reach
        and line[1] > top - reach and line[3] < bottom + reach
    ]  # fmt: skip
    return enclosing([box, *lines])


def _has_silent_edge(cells: Sequence[TableCell], words: Sequence[Sequence[int]]) -> bool:
    """Whether the first or the last row says nothing."""
    said = [cell for cell, each in zip(cells, words, strict=True) if each]
    last = max(cell.row + cell.row_span for cell in cells)
    return all(cell.row > 0 for cell in said) or all(cell.row + cell.row_span < last for cell in said)


def _with_lines_that_go_on(box: Box, strokes: Sequence[Box], others: Sequence[Box], gap: float) -> Box:
    """Returns the box with the lines that it meets, and those that they meet, around no word of another."""
    left = list(strokes)
    while True:
        met = [line for line in left if _meet(box, line, gap)]
        fitting = [line for line in met if not any(_meet(enclosing([box, line]), word, 0) for word in others)]
        grown = enclosing([box, *fitting])
        if grown == box or any(_meet(grown, word, 0) for word in others):
            return box
        box = grown
        left = [line for line in left if line not in met]


def _meet(box: Box, other: Box, gap: float) -> bool:
    return (
        other[0] <= box[2] + gap and other[2] >= box[0] - gap
        and other[1] <= box[3] + gap and other[3] >= box[1] - gap
    )  # fmt: skip
