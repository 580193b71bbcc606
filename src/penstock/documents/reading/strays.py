"""Finds the region whose line a loose word begins or ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penstock.documents.reading.page_reading import Draft
from penstock.documents.text.blocks import MARK
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, Word

WORD_SPACE = 0.85  # of a word's height: justified lines stretch their spaces up to here, gutters are wider
STRETCHED = 1.25  # times the spaces of its own line: what a loosely set line may leave before its last word
GUTTER = 2.0  # of a word's height: no line stretches its spaces as far
MARK_SPACE = 2.0  # the same from a bullet or number to its text
MAX_LOOSE = 2000  # words of a page in no region; more are a map, and looking beside each would take seconds
MAX_STRAYS = 3  # words of a line that a layout model's box leaves out at one end; more are a region
# what stands beside these is no part of a line of theirs
UNLINED = PICTURE_LABELS | FORMULA_LABELS | {"table"}


def adopted(drafts: Sequence[Draft], loose: Sequence[Word]) -> tuple[tuple[Draft, ...], tuple[Word, ...]]:
    """Returns the drafts with the loose words that begin or end a line of theirs, and the words still loose.

    A layout model may cut a box a word too narrow: alone, that word would stand after the paragraph.
    """
    for _ in range(MAX_STRAYS):
        left: list[Word] = []
        gained: dict[int, list[Word]] = {}
        for word, owner in zip(loose, _nearest(drafts, loose), strict=True):
            (left if owner is None else gained.setdefault(owner, [])).append(word)
        if not gained:
            break
        drafts = [
            replace(draft, words=(*draft.words, *gained.get(place, ()))) for place, draft in enumerate(drafts)
        ]
        loose = left
    return tuple(drafts), tuple(loose)


def _nearest(drafts: Sequence[Draft], loose: Sequence[Word]) -> list[int | None]:
    """For each loose word the draft with a line that it begins or ends, or None."""
    lined = [place for place, draft in enumerate(drafts) if draft.region.label not in UNLINED]
    owners = [place for place in lined for _ in drafts[place].words]
    if not owners or not 0 < len(loose) <= MAX_LOOSE:
        return [None] * len(loose)
    lined_words = [word for place in lined for word in drafts[place].words]
    boxes = np.array([word.box for word in lined_words])
    leaders = np.array([not word.text.strip(" .·…") for word in lined_words])
    beside = [_next_to(word, boxes, leaders) for word in loose]
    return [None if near is None else owners[near] for near in beside]


def _next_to(word: Word, boxes: NDArray[np.float64], leaders: NDArray[np.bool_]) -> int | None:
    """Which of the boxes stands a word space beside the word, on its row and about as high.

    Dots lead to a number over more than a space, and a dot is not as high as the number.
    """
    x0, y0, x1, y1 = word.box
    height = y1 - y0
    down = np.minimum(boxes[:, 3], y1) - np.maximum(boxes[:, 1], y0)
    heights = boxes[:, 3] - boxes[:, 1]
    to_number = leaders & word.text.isalnum()
    alike = (down > np.where(to_number, 0.6 * heights, 0.6 * np.maximum(heights, height))) & (height > 0)
    before, after = boxes[:, 0] - x1, x0 - boxes[:, 2]  # how far the word ends before the box, starts after
    reach = MARK_SPACE if MARK.match(word.text) else WORD_SPACE
    beside = ((before > -0.2 * height) & (before < reach * height)) | (
        (after > -0.2 * height) & (after < np.where(to_number, MARK_SPACE, WORD_SPACE) * height)
    )
    apart = np.maximum(before, after)
    gap = np.where(alike & beside, apart, np.inf)
    best = int(np.argmin(gap))
    if not np.isfinite(gap[best]):
        best = int(np.argmin(np.where(alike & (apart > 0), apart, np.inf)))
        return best if alike[best] and _ends_stretched(boxes[alike], float(apart[best]), height, x0) else None
    return best


def _ends_stretched(row: NDArray[np.float64], gap: float, height: float, left: float) -> bool:
    """Whether a word after a gap ends a row whose own spaces are nearly as wide: a loosely justified line."""
    ends = row[row[:, 2] <= left][:, [0, 2]]
    last = ends[np.argsort(ends[:, 0])][-MAX_STRAYS - 1 :]
    spaces = last[1:, 0] - last[:-1, 1]
    return len(spaces) > 1 and 0 < gap < min(GUTTER * height, STRETCHED * float(spaces.min()))
