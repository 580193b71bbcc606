"""Finds text that runs up or down the page, and turns it level: sideways tables, labels of axes, margins.

After a quarter turn it is text like any other, so the rules for level text apply to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from penstock.box import Box, enclosing, holds_middle
from penstock.documents.text.columns import WhiteSpace, xy_cut
from penstock.region import Word

TALL = 1.5  # a word of several letters higher than this times its width runs up or down
LINE = 1.7  # times the font size: no font's line is higher
LEVEL = 1.05  # times the font size: what the line of a sideways word takes across the page
MIN_WORDS = 3  # sideways words without which short words nearby count as level


def is_sideways(word: Word) -> bool:
    x0, y0, x1, y1 = word.box
    if len(word.text) < 2 or y1 - y0 <= TALL * (x1 - x0):
        return False
    # a level "it" in a font with tall ascenders is narrow too, but never longer than a line is high
    return y1 - y0 > LINE * word.size or x1 - x0 >= LEVEL * word.size


def split_by_direction(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The level words and the sideways words, both in the order given."""
    tall = {id(w) for w in words if is_sideways(w)}
    if len(tall) >= MIN_WORDS:
        tall |= _companions(words, tall)
    if not tall:
        return list(words), []
    return [w for w in words if id(w) not in tall], [w for w in words if id(w) in tall]


def _companions(words: Sequence[Word], tall: set[int]) -> set[int]:
    """Short words between sideways ones: a figure of one digit shows no direction of its own."""
    boxes = [w.box for w in words if id(w) in tall]
    em = sorted(b[2] - b[0] for b in boxes)[len(boxes) // 2]
    areas = []
    for group in xy_cut(boxes, WhiteSpace(gutter=3 * em, gap=3 * em)):
        if len(group) >= MIN_WORDS:
            areas.append(enclosing([boxes[i] for i in group]))
    return {
        id(w)
        for w in words
        if id(w) not in tall and _is_short(w) and any(holds_middle(area, w.box) for area in areas)
    }


def _is_short(word: Word) -> bool:
    return word.box[3] - word.box[1] > 0.9 * (word.box[2] - word.box[0])


def runs_up(words: Sequence[Word]) -> bool:
    """Whether the words, in the file's order, follow each other up the page rather than down."""
    up = down = 0
    for a, b in pairwise(words):
        if a.box[0] < b.box[2] and b.box[0] < a.box[2]:
            up += b.box[3] <= a.box[1] + 1
            down += b.box[1] >= a.box[3] - 1
    return up >= down


def turned_level(
    words: Sequence[Word], width: float, height: float
) -> tuple[list[Word], Callable[[Box], Box]]:
    """The words on the page turned level, and a function that turns a box back."""
    if runs_up(words):
        turned = [replace(w, box=(height - w.box[3], w.box[0], height - w.box[1], w.box[2])) for w in words]
        return turned, lambda b: (b[1], height - b[2], b[3], height - b[0])
    turned = [replace(w, box=(w.box[1], width - w.box[2], w.box[3], width - w.box[0])) for w in words]
    return turned, lambda b: (width - b[3], b[0], width - b[1], b[2])
