"""Fits the box of a table that a model saw to the lines drawn around it and to the rows that are its own.

A layout model cuts the head off a table, or takes the sentence above for a part of it. A drawn frame is no
sign: its last row may be a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.box import Box, shared_area
from penstock.documents.tables.gutters import white_edges
from penstock.documents.tables.ruled import rulings
from penstock.documents.tables.word_columns import split_at_white, type_height
from penstock.documents.text.lines import around, rows_of_words
from penstock.documents.text.text_layer import distribute
from penstock.region import Region, Word

# In units of the type's height.
REACH, FOOT = 3.0, 1.5  # from the table to a line above or below it that is its own: a head has two lines
END = 1.5  # between the end of a line and the table's side
APART = 2.0  # white between two tables one below the other
MIN_ROWS = 2  # of a table beside another
WHITE = 0.6  # between two cells of a row


def fitted(region: Region, words: Sequence[Word], strokes: Sequence[Box], taken: Sequence[Box]) -> Region:
    """The table with the rows that are its own, and without prose above and below its lines.

    It does not grow over what is `taken`.
    """
    [inside], _ = distribute(words, [region.box])
    em = type_height(inside)
    if not em:
        return region
    box = _with_ruled_rows(region.box, words, strokes, em)
    if any(shared_area(box, other) > shared_area(region.box, other) for other in taken):
        box = region.box
    return replace(region, box=_without_prose(box, words, strokes, em))


def ruled_heights(box: Box, strokes: Sequence[Box], em: float) -> list[float]:
    """The heights of the lines that are as long as the table is wide."""
    across, _ = rulings(strokes)
    x0, _, x1, _ = box
    ends: dict[float, list[float]] = {}
    for rule in across:
        if x0 - END * em < rule.low and rule.high < x1 + END * em:
            low, high, length = ends.get(rule.at, [rule.low, rule.high, 0.0])
            ends[rule.at] = [min(low, rule.low), max(high, rule.high), length + rule.high - rule.low]
    return sorted(at for at, (low, high, _) in ends.items() if low < x0 + END * em and high > x1 - END * em)


def _with_ruled_rows(box: Box, words: Sequence[Word], strokes: Sequence[Box], em: float) -> Box:
    """The box up to its first line and down to its last, over rows of cells only."""
    x0, y0, x1, y1 = box
    for at in ruled_heights(box, strokes, em):
        if y1 < at < y1 + FOOT * em and _are_cells((x0, y1, x1, at), words, em):
            y1 = at
    for at in reversed(ruled_heights(box, strokes, em)):
        if y0 - REACH * em < at < y0 and _are_cells((x0, at, x1, y0), words, em):
            y0 = at
    return x0, y0, x1, y1


def _are_cells(strip: Box, words: Sequence[Word], em: float) -> bool:
    """Whether every line of text in a strip next to the table has several cells."""
    x0, y0, x1, y1 = strip
    inside = [
        word
        for word in words
        if x0 - em < word.box[0]
        and word.box[2] < x1 + em
        and y0 < (word.box[1] + word.box[3]) / 2 < y1 + 0.3 * em
    ]
    return all(len(split_at_white(row, WHITE * em)) > 1 for row in rows_of_words(inside))


def _without_prose(box: Box, words: Sequence[Word], strokes: Sequence[Box], em: float) -> Box:
    """The box without lines of text above its first and below its last line that have no cells."""
    x0, y0, x1, y1 = box
    rules = [at for at in ruled_heights(box, strokes, em) if y0 - em < at < y1 + em]
    if len(rules) < 2:
        return box
    [inside], _ = distribute(words, [box])
    outside = [row for row in rows_of_words(inside) if not rules[0] < _middle(row) < rules[-1]]
    if any(len(split_at_white(row, WHITE * em)) > 1 for row in outside):
        return box
    return (
        x0,
        min(y0, rules[0]) if not outside else rules[0],
        x1,
        max(y1, rules[-1]) if not outside else rules[-1],
    )


def _middle(row: Sequence[Word]) -> float:
    _, top, _, bottom = around(row)
    return (top + bottom) / 2


def parts(table: Region, words: Sequence[Word]) -> list[Region]:
    """The table, or the tables with columns of their own that stand one below the other in it."""
    [inside], _ = distribute(words, [table.box])
    em = type_height(inside)
    runs: list[list[list[Word]]] = [[]]
    for row in rows_of_words(inside):
        if runs[-1] and _top(row) - max(word.box[3] for word in runs[-1][-1]) > APART * em:
            runs.append([])
        if len(split_at_white(row, WHITE * em)) > 1:
            runs[-1].append(row)
        elif runs[-1] and all(word.bold for word in row):
            runs.append([])
    blocks: list[list[list[Word]]] = []
    for run in filter(None, runs):
        if not blocks or (
            min(len(blocks[-1]), len(run)) >= MIN_ROWS and not _same_columns(blocks[-1], run, em)
        ):
            blocks.append(list(run))
        else:
            blocks[-1] += run
    if len(blocks) < 2:
        return [table]
    return [replace(table, box=around([word for row in block for word in row])) for block in blocks]


def _top(row: Sequence[Word]) -> float:
    return min(word.box[1] for word in row)


def _same_columns(upper: Sequence[Sequence[Word]], lower: Sequence[Sequence[Word]], em: float) -> bool:
    """Whether both together keep as many columns as either."""
    apart = [white_edges(rows, em, ()) for rows in (upper, lower)]
    return len(white_edges([*upper, *lower], em, ())) >= max(1, max(map(len, apart)) - 1)
