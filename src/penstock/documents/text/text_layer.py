"""Decides what a PDF's text layer is good for, and which region holds each word.

`layer_doubt` judges a whole page, `coverage` judges one region by where the ink is. `assign` gives each
word or line to one region at most, so that nothing is read twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from penstock.box import Box, HasBox
from penstock.documents.text.broken_encoding import encoding_fault
from penstock.documents.text.lines import around, row_text, rows_of_words
from penstock.region import Line, TextLayer, Word

if TYPE_CHECKING:
    from penstock.box import Pixels

INSIDE = 0.5  # share of a word that must lie in a box for the word to belong to it
STICKS_OUT = 1.0  # of a word's height: how far beyond its region's side a word may begin or end
COVERED = 0.7  # share of ink words must explain; 590 text regions had 0.77 to 1, pictures of the PDF mostly 0
CELL = 8  # pixels: ink is looked for in squares of this side; a line at 200 dpi is three or four high
STEP = 2  # every second pixel is looked at: strokes of letters are wider, and it takes a quarter of the time
CONTRAST = 48  # levels of grey between the lightest and darkest pixel of an inked square
REACH = 0.25  # of its height: accents and descenders reach this far out of a word's box
NEIGHBOURS = 1.0  # of a line's height: words this near are read as one
MIN_PICTURE = 0.0015  # share of the page: a picture of the layer below this is a bullet or a line
MARGIN = 0.35  # of a line's height: detectors draw their boxes this much wider than the letters

Placed = TypeVar("Placed", bound=HasBox)


def layer_doubt(layer: TextLayer) -> str:
    """Returns why the text layer has not the characters that the page shows; "" for one to be trusted.

    Judges the encoding, not how much text there is: a scan with a few clean words is trusted.
    """
    words = [w for w in layer.words if w.text.strip()]
    if not words:
        return "no text layer"
    placed = sum(w.box[2] > w.box[0] and w.box[3] > w.box[1] for w in words)
    if 2 * placed < len(words):
        return f"{len(words) - placed} of {len(words)} words have no place on the page"
    return encoding_fault([w.text for w in words])


def lines_from(words: Sequence[Word]) -> list[Line]:
    """The words of one region as lines with their spaces."""
    lines = (Line(text=row_text(row), box=around(row)) for row in rows_of_words(words))
    return [line for line in lines if line.text]


def assign(boxes: Sequence[Box], holders: Sequence[Box]) -> list[int | None]:
    """For each box the index of the holder that has most of it, the smallest on a tie; None for no holder."""
    if not boxes or not holders:
        return [None] * len(boxes)
    owner = _owners(np.array(boxes), np.array(holders, dtype=float))
    return [best if best >= 0 else None for best in owner.tolist()]


def distribute(things: Sequence[Placed], holders: Sequence[Box]) -> tuple[list[list[Placed]], list[Placed]]:
    """The things that each holder has, and the things in none. Everything keeps its order."""
    held: list[list[Placed]] = [[] for _ in holders]
    loose: list[Placed] = []
    owners = assign([thing.box for thing in things], holders)
    for thing, owner in zip(things, owners, strict=True):
        (loose if owner is None else held[owner]).append(thing)
    return held, loose


def _owners(words: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each word the index of its box, or -1."""
    owner = _holders(words, boxes, np.zeros(len(words)))
    loose = owner < 0
    if loose.any():
        # a layout model cuts its boxes close: the first and last word of a line may stick out
        heights = words[loose, 3] - words[loose, 1]
        owner[loose] = _holders(words[loose], boxes, STICKS_OUT * heights)
    return owner


def _holders(
    words: NDArray[np.float64], boxes: NDArray[np.float64], reach: NDArray[np.float64]
) -> NDArray[np.int64]:
    """For each word the box, grown by the word's `reach` to the sides, that holds most of it, or -1."""
    grown = boxes[None, :, :] + reach[:, None, None] * np.array([-1.0, -0.3, 1.0, 0.3])
    low = np.maximum(words[:, None, :2], grown[:, :, :2])
    high = np.minimum(words[:, None, 2:], grown[:, :, 2:])
    # one pixel keeps words of no width (a lone combining mark) from vanishing
    shared = np.prod(np.clip(high - low, 0, None) + 1e-3, axis=2) * np.all(high >= low, axis=2)
    size = np.prod(np.clip(words[:, 2:] - words[:, :2], 0, None) + 1e-3, axis=1)
    share = np.minimum(shared / size[:, None], 1.0)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    rank = np.round(share, 2) - 1e-4 * (area / max(float(area.max()), 1.0))
    best = np.argmax(rank, axis=1)
    inside = share[np.arange(len(words)), best] >= INSIDE
    return np.where(inside, best, -1)


def coverage(words: Sequence[HasBox], pixels: Pixels, box: Box, strokes: Sequence[Box] = ()) -> float:
    """Returns the share of a region's ink that its words explain, or other things do.

    `pixels` is the page's picture, `box` the region in it. Drawn lines (`strokes`) do not count as ink.
    """
    x0, y0, x1, y1 = _clipped(box, pixels.shape[1], pixels.shape[0])
    if x1 - x0 < CELL or y1 - y0 < CELL:
        return 1.0
    ink = _ink(pixels[y0:y1, x0:x1])
    for stroke in strokes:
        _erase(ink, stroke, x0, y0, CELL)
    inked = int(ink.sum())
    _erase_words(ink, words, x0, y0)
    return float(1.0 - ink.sum() / inked) if inked else 1.0


def unexplained(words: Sequence[HasBox], pixels: Pixels, strokes: Sequence[Box] = ()) -> Box | None:
    """Returns the box around the ink of a page that neither its words nor its drawn lines explain."""
    ink = _ink(pixels)
    for stroke in strokes:
        _erase(ink, stroke, 0, 0, CELL)
    _erase_words(ink, words, 0, 0)
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return None
    x0, y0, x1, y1 = (float(CELL * at) for at in (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1))
    return x0, y0, x1, y1


def _erase_words(ink: NDArray[np.bool_], words: Sequence[HasBox], left: int, top: int) -> None:
    for word in words:
        _erase(ink, word.box, left, top, REACH * (word.box[3] - word.box[1]))


def _clipped(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = box
    return max(0, int(x0)), max(0, int(y0)), min(width, round(x1)), min(height, round(y1))


def _ink(crop: Pixels) -> NDArray[np.bool_]:
    """Squares of CELL pixels with contrast: strokes of letters, not fills or soft shading."""
    side = CELL // STEP
    green = np.ascontiguousarray(crop[::STEP, ::STEP, 1])  # the channel nearest to lightness
    rows, columns = max(1, green.shape[0] // side), max(1, green.shape[1] // side)
    padded = green[: rows * side, : columns * side]
    bands = padded.reshape(rows, -1, padded.shape[1])
    high = bands.max(axis=1).reshape(rows, columns, -1).max(axis=2)
    low = bands.min(axis=1).reshape(rows, columns, -1).min(axis=2)
    inked: NDArray[np.bool_] = high.astype(np.int16) - low > CONTRAST
    return inked


def _erase(ink: NDArray[np.bool_], box: Box, left: int, top: int, reach: float) -> None:
    x0, y0, x1, y1 = box
    rows = slice(max(0, int((y0 - reach - top) // CELL)), max(0, int((y1 + reach - top) // CELL) + 1))
    columns = slice(max(0, int((x0 - reach - left) // CELL)), max(0, int((x1 + reach - left) // CELL) + 1))
    ink[rows, columns] = False


def lines_not_in_layer(lines: Sequence[Placed], words: Sequence[Word]) -> list[Placed]:
    """The lines found on the picture where the layer has no words, so that nothing is read twice."""
    if not lines or not words:
        return list(lines)
    boxes = np.array([w.box for w in words])
    return [line for line in lines if _share_under(line.box, boxes) < INSIDE]


def _share_under(box: Box, words: NDArray[np.float64]) -> float:
    """Share of the box's width that words on its row cover, each with the margin next to it."""
    x0, y0, x1, y1 = box
    down = np.minimum(words[:, 3], y1) - np.maximum(words[:, 1], y0)
    heights = np.minimum(words[:, 3] - words[:, 1], y1 - y0)
    row = words[down > 0.5 * heights]
    margin = MARGIN * (y1 - y0)  # or a lone figure would fill less than half of the box drawn around it
    left, right = np.maximum(row[:, 0] - margin, x0), np.minimum(row[:, 2] + margin, x1)
    order = np.argsort(left)
    reach = NEIGHBOURS * (y1 - y0)  # the spaces between words of one line belong to it: "- 8 -" is a line
    covered, end = 0.0, -np.inf
    for start, stop in zip(left[order], right[order], strict=True):
        if stop > max(start, end):
            covered += stop - (end if start - end <= reach else start)
            end = stop
    return float(covered) / max(x1 - x0, 1.0)
