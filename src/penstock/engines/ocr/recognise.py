"""Cuts lines of text out of a page and decodes what PP-OCRv6's recogniser says of them.

Arrays in, arrays and strings out; the session that runs the network is in ocr.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.image import crop
from penstock.engines.ocr.latin_marks import with_latin_marks
from penstock.region import LineBox
from penstock.scripts import is_unspaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

HEIGHT = 48  # of the network's input
MIN_WIDTH = 160  # narrower pictures are padded, for the network was taught with margins
MAX_WIDTH = 4800  # 6,000 were still read without a fault; the bound is for memory, 45 MB here
STEP = 8  # columns of the picture for each step of the network's output
REACH = 36  # columns to either side that a symbol covers: three quarters of a square glyph
INK_CONTRAST = 64  # of 256, between the darkest and the brightest pixel of a column with ink
# Receipts lose most words by a space that is not read: on 12 of them these give a word recall of 0.90 for
# 0.88, and a precision of 0.888 for 0.882.
NEARLY = 0.3  # chance of a space between two symbols, where another symbol was likelier
WHITE = 1 / 3  # of the line's height without ink
# Doubtful lines of 12 receipts, read softened: word recall 0.917 for 0.903; BLUR 1/20 gives 0.90, 1/40 0.915.
BLUR = 1 / 30  # of the line's height
MIN_BLUR = 0.6  # pixels
LETTER_SPACED = 3.0  # times the usual gap of the line: titles are set with letters apart
CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")
TALL = 1.5  # higher than this many widths: the text runs downwards


@dataclass(frozen=True, slots=True)
class LineReading:
    """What the recogniser made of a line.

    `passed_over` is the share of the ink that got no symbol: 0 for the scripts it knows (0.03 at most on 200
    printed and handwritten lines), near 1 for Hangul, at which it falls silent. `sures` has the confidence in
    each character that is no space; it is empty where characters were changed after they were read.
    """

    text: str
    confidence: float
    passed_over: float
    sures: tuple[float, ...] = ()


def cut(pixels: Pixels, line: LineBox) -> Pixels:
    """The line's own picture, level; text that runs downwards is laid on its side."""
    found = _warped(pixels, line) if line.quad else crop.cut(pixels, line.box)
    if found.shape[0] >= TALL * found.shape[1]:
        found = np.rot90(found)
    return np.ascontiguousarray(found)


def _warped(pixels: Pixels, line: LineBox) -> Pixels:
    width, height = max(1, round(line.width)), max(1, round(line.height))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    turn = cv2.getPerspectiveTransform(np.array(line.quad, dtype=np.float32), target)
    level = cv2.warpPerspective(
        pixels, turn, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(level, dtype=np.uint8)


def softened(line: Pixels) -> Pixels:
    """The line with soft edges: receipts are scanned in black and white, and dots stand for strokes."""
    return np.asarray(cv2.GaussianBlur(line, (0, 0), max(MIN_BLUR, line.shape[0] * BLUR)), dtype=np.uint8)


def at_height(line: Pixels) -> Pixels:
    """The line at the network's height, its proportions kept."""
    height, width = line.shape[:2]
    to = max(1, round(width * HEIGHT / height))
    how = cv2.INTER_AREA if height > HEIGHT else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(line, (to, HEIGHT), interpolation=how), dtype=np.uint8)


def pieces(line: Pixels) -> list[Pixels]:
    """The line, cut at its blankest columns where it is longer than the network should see."""
    found = []
    while line.shape[1] > MAX_WIDTH:
        spread = line[:, MAX_WIDTH // 2 : MAX_WIDTH].astype(np.float32).std(axis=(0, 2))
        gap = cv2.blur(spread[None, :], (HEIGHT // 4, 1))[0]
        at = MAX_WIDTH // 2 + int(gap.argmin())
        found.append(line[:, :at])
        line = line[:, at:]
    return [*found, line]


def as_input(line: Pixels) -> NDArray[np.float32]:
    """What the network sees of a line: -1..1, BGR, a narrow one padded with its grey."""
    width = line.shape[1]
    seen = np.zeros((1, 3, HEIGHT, max(MIN_WIDTH, width)), dtype=np.float32)
    seen[0, :, :, :width] = line[:, :, ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1
    return seen


def decoded(chances: NDArray[np.float32], charset: NDArray[np.str_], line: Pixels) -> LineReading:
    """What the network said of `line`: best symbol a step, repeats and blanks (0) dropped."""
    best = chances.argmax(axis=1)
    keep = best != 0
    keep[1:] &= best[1:] != best[:-1]
    symbols, steps = charset[best[keep]], np.flatnonzero(keep)
    sure = chances[steps, best[keep]]
    dark = _dark(line)
    text = _spaced(symbols, steps, chances[:, -1], dark)
    confidence = float(sure.mean()) if len(sure) else 0.0
    return LineReading(text, confidence, _passed_over(dark, steps), tuple(sure[symbols != " "].tolist()))


def _spaced(
    symbols: NDArray[np.str_],
    steps: NDArray[np.intp],
    space_chances: NDArray[np.float32],
    dark: NDArray[np.bool_],
) -> str:
    """The symbols as text, with the spaces that the network nearly saw or the picture plainly shows."""
    if len(symbols) < 2:
        return "".join(symbols)
    gaps = _widest_whites(dark, steps * STEP + STEP // 2)
    wide = max(WHITE * HEIGHT, LETTER_SPACED * float(np.median(gaps)))
    between = np.maximum(np.maximum.reduceat(space_chances, steps)[:-1], space_chances[steps[1:]])
    shown = gaps >= wide
    text: list[str] = symbols.tolist()
    parts = list(text)
    for i in np.flatnonzero((between >= NEARLY) | shown).tolist():
        if _may_part(text[i], text[i + 1]) and (shown[i] or not _leaves_a_consonant(text, i)):
            parts[i] += " "
    return "".join(parts)


def _may_part(before: str, after: str) -> bool:
    """Whether a space may stand between two symbols: not in scripts without spaces, nor in a row of dots."""
    if is_unspaced(before) or is_unspaced(after) or " " in (before, after):
        return False
    return before != after or before.isalnum()


def _leaves_a_consonant(text: Sequence[str], place: int) -> bool:
    """Whether a space behind `place` would leave a small consonant alone, which is no word: t o, o f."""
    first = text[place] in CONSONANTS and (place == 0 or text[place - 1] == " ")
    last = text[place + 1] in CONSONANTS and (place + 2 == len(text) or text[place + 2] == " ")
    return first or last


def _widest_whites(dark: NDArray[np.bool_], edges: NDArray[np.intp]) -> NDArray[np.intp]:
    """The longest run of columns without ink between each two neighbours of `edges`."""
    columns = np.arange(edges[0], edges[-1])
    inked = np.ones(len(columns), dtype=np.bool_)  # what lies beyond the line's picture is no gap
    seen = dark[edges[0] : edges[-1]]
    inked[: len(seen)] = seen
    before = np.maximum.accumulate(np.where(inked, columns, edges[0] - 1))
    begins = np.repeat(edges[:-1], np.diff(edges)) - 1
    whites: NDArray[np.intp] = np.maximum.reduceat(
        columns - np.maximum(before, begins), edges[:-1] - edges[0]
    )
    return whites


def _dark(line: Pixels) -> NDArray[np.bool_]:
    """Which columns of a line have ink."""
    low = np.minimum(np.minimum(line[:, :, 0], line[:, :, 1]), line[:, :, 2])
    found: NDArray[np.bool_] = low.max(axis=0) - low.min(axis=0) > INK_CONTRAST
    return found


def _passed_over(dark: NDArray[np.bool_], steps: NDArray[np.intp]) -> float:
    """Share of the columns with ink that have no symbol near them."""
    if not dark.any():
        return 0.0
    columns = np.zeros((1, len(dark)), dtype=np.uint8)
    at = steps * STEP + STEP // 2
    columns[0, at[at < len(dark)]] = 1
    near = cv2.dilate(columns, np.ones((1, 2 * REACH + 1), dtype=np.uint8))[0] > 0
    return float((dark & ~near).sum() / dark.sum())


def joined(parts: list[LineReading]) -> LineReading:
    """The pieces of one line as one, weighed by the length of their text."""
    plain = " ".join(part.text.strip() for part in parts).strip()
    text = with_latin_marks(plain)
    sures = tuple(sure for part in parts for sure in part.sures)
    if text.replace(" ", "") != plain.replace(" ", ""):
        sures = ()
    lengths = [max(1, len(part.text)) for part in parts]
    confidence = float(np.average([part.confidence for part in parts], weights=lengths))
    return LineReading(text, confidence, float(np.mean([part.passed_over for part in parts])), sures)
