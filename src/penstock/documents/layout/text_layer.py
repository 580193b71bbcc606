"""Decides what a PDF's text layer is good for, and gives its words to regions.

`trust` judges a whole page, `coverage` one region by where the ink is. Each word belongs to one
region only, so that nothing is lost and nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from penstock.box import Box
from penstock.documents.layout.blocks import MARK
from penstock.documents.layout.broken_encoding import garbling
from penstock.documents.layout.columns import Grain, cut
from penstock.documents.layout.lines import around, as_line, lines_of
from penstock.region import Line, Region, TextLayer, Word

if TYPE_CHECKING:
    from penstock.box import Pixels

INSIDE = 0.5  # share of a word that must lie in a box for the word to belong to it
STICKS_OUT = 1.0  # of a word's height: how far beyond its region's side a word may begin or end
COVERED = (
    0.7  # share of ink words must explain; 590 text regions had 0.77 to 1, pictures inside a PDF mostly 0
)
CELL = 8  # pixels: ink is looked for in squares of this side; a line at 200 dpi is three or four high
STEP = 2  # every second pixel is looked at: strokes of letters are wider, and it takes a quarter of the time
CONTRAST = 48  # levels of grey between the lightest and darkest pixel of an inked square
REACH = 0.25  # of its height: accents and descenders reach this far out of a word's box
NEIGHBOURS = 1.0  # of a line's height: words this near are read as one
MARGIN = 0.35  # of a line's height: detectors draw their boxes this much wider than the letters
WORD_SPACE = 0.85  # of a word's height: justified lines stretch their spaces up to here, gutters are wider
MARK_SPACE = 2.0  # the same from a bullet or number to its text
MOST_LOOSE = 2000  # words of a page in no region; more are a map, and looking beside each would take seconds
MOST_STRAYS = 3  # words of a line that a layout model's box leaves out at one end; more are a region
LEFTOVER_GAP = 0.8  # of a line's height: words farther apart than this are two regions


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a page's layer says what the page shows; `reason` tells why not."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a region's ink its words explain."""

    share: float

    @property
    def ok(self) -> bool:
        return self.share >= COVERED


def trust(layer: TextLayer) -> Trust:
    """Judges encodings, not coverage: a scan with a clean scrap of layer is trusted."""
    words = [w for w in layer.words if w.text.strip()]
    if not words:
        return Trust(ok=False, reason="no text layer")
    placed = sum(w.box[2] > w.box[0] and w.box[3] > w.box[1] for w in words)
    if 2 * placed < len(words):
        return Trust(
            ok=False, reason=f"{len(words) - placed} of {len(words)} words have no place on the page"
        )
    reason = garbling([w.text for w in words])
    return Trust(ok=not reason, reason=reason)


def lines_from(words: Sequence[Word]) -> list[Line]:
    """The words of one region as lines with their spaces."""
    lines = (as_line(row) for row in lines_of(words))
    return [line for line in lines if line.text]


def assign(words: Sequence[Word], boxes: Sequence[Box]) -> tuple[list[list[Word]], list[Word]]:
    """Each word to the box that holds most of it (the smallest on a tie), and the words in none."""
    given: list[list[Word]] = [[] for _ in boxes]
    left: list[Word] = []
    if not boxes or not words:
        return given, list(words)
    owner = _owners(np.array([w.box for w in words]), np.array(boxes, dtype=float))
    for word, best in zip(words, owner, strict=True):
        (given[best] if best >= 0 else left).append(word)
    return given, left


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


def adopt(
    given: Sequence[list[Word]], loose: Sequence[Word], takes: Sequence[bool]
) -> tuple[list[list[Word]], list[Word]]:
    """Loose words that begin or end a region's line go to it, as far as `takes` lets it; and the others.

    A layout model may cut a box a word too narrow: alone, that word would stand after the paragraph.
    """
    grown = [list(words) for words in given]
    for _ in range(MOST_STRAYS):
        lines = [(word, owner) for owner, words in enumerate(grown) if takes[owner] for word in words]
        if not lines or not 0 < len(loose) <= MOST_LOOSE:
            break
        boxes = np.array([word.box for word, _ in lines])
        nearest = [_next_to(word, boxes) for word in loose]
        for word, near in zip(loose, nearest, strict=True):
            if near is not None:
                grown[lines[near][1]].append(word)
        left = [word for word, near in zip(loose, nearest, strict=True) if near is None]
        if len(left) == len(loose):
            break
        loose = left
    return grown, list(loose)


def _next_to(word: Word, boxes: NDArray[np.float64]) -> int | None:
    """Which of the boxes stands a word space beside the word, on its row and about as high."""
    x0, y0, x1, y1 = word.box
    height = y1 - y0
    down = np.minimum(boxes[:, 3], y1) - np.maximum(boxes[:, 1], y0)
    heights = boxes[:, 3] - boxes[:, 1]
    alike = (down > 0.6 * np.maximum(heights, height)) & (height > 0)
    before, after = boxes[:, 0] - x1, x0 - boxes[:, 2]  # how far the word ends before the box, starts after
    reach = MARK_SPACE if MARK.match(word.text) else WORD_SPACE
    beside = ((before > -0.2 * height) & (before < reach * height)) | (
        (after > -0.2 * height) & (after < WORD_SPACE * height)
    )
    gap = np.where(alike & beside, np.maximum(before, after), np.inf)
    best = int(np.argmin(gap))
    return best if np.isfinite(gap[best]) else None


def leftover(words: Sequence[Word]) -> list[list[Word]]:
    """Words that no region holds as groups, one for a new region: neighbours together, one column each."""
    if not words:
        return []
    em = float(np.median([w.box[3] - w.box[1] for w in words])) or 1.0
    grain = Grain(gutter=2.0 * em, gap=LEFTOVER_GAP * em)
    return [[words[i] for i in sorted(group)] for group in cut([w.box for w in words], grain)]


def region_of(words: Sequence[Word]) -> Region:
    """A region around words that had none."""
    return Region(label="text", native_label="leftover", box=around(words))


def coverage(words: Sequence[Word], pixels: Pixels, box: Box, strokes: Sequence[Box] = ()) -> Coverage:
    """Compares the ink in a region with its words.

    `pixels` is the page's picture, `box` the region in it. Drawn lines (`strokes`) are no ink.
    """
    x0, y0, x1, y1 = _clipped(box, pixels.shape[1], pixels.shape[0])
    if x1 - x0 < CELL or y1 - y0 < CELL:
        return Coverage(share=1.0)
    ink = _ink(pixels[y0:y1, x0:x1])
    for stroke in strokes:
        _erase(ink, stroke, x0, y0, CELL)
    inked = int(ink.sum())
    for word in words:
        _erase(ink, word.box, x0, y0, REACH * (word.box[3] - word.box[1]))
    return Coverage(share=1.0 - ink.sum() / inked if inked else 1.0)


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


def unsaid(lines: Sequence[Line], words: Sequence[Word]) -> list[Line]:
    """The lines an OCR engine read where the layer has no words: nothing is said twice."""
    if not lines or not words:
        return list(lines)
    boxes = np.array([w.box for w in words])
    return [line for line in lines if _share_under(line.box, boxes) < INSIDE]


def _share_under(box: Box, words: NDArray[np.float64]) -> float:
    """Share of the box's width that words on its row cover, its margins counted with the words beside."""
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
