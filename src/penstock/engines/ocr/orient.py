"""Tells how a page must be turned to stand upright, by reading a few lines of it both ways.

The shape of the lines says whether the text runs across or along the page; the recogniser's
confidence in a handful of them says which way up (0.9 to 1.0 upright, under 0.75 upside down). A page
is turned only on clear evidence: a wrong turn ruins a good page (docs/decisions/0003-orientation.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.ocr import recognise
from penstock.engines.ocr.effort import Effort
from penstock.engines.ocr.foreign_scripts import ForeignReader, script_sureness
from penstock.engines.ocr.hangul_network import UNKNOWN, HangulNetwork
from penstock.engines.ocr.ppocr import PPOcr
from penstock.engines.ocr.recognise import LineReading
from penstock.region import LineBox
from penstock.scripts import has_syllable

if TYPE_CHECKING:
    from penstock.box import Pixels

LONG = 1.5  # a line is this much longer than high, or tells nothing
SIDEWAYS = 2.0  # so much more text must run along the page than across it
SAMPLES = 5
FIRST = 2  # samples that are enough where they are clear, as on nearly every upright page
SAMPLE_WIDTH = 10  # heights
CLEAR = 0.85  # mean of the two best samples: 0.9 and more upright, 0.74 at most upside down, Korean apart
AT_ONCE = (
    0.8  # of the quick network: on 36 pages 0.81 and more where it can read them, 0.68 at most upside down
)
APART = 0.15  # the other way round must be this much worse
CELLS, MIN_CELLS = 6, 3  # glyphs of each sample that tell vertical writing from a turned page
HANGUL_CLEAR = 0.75  # the same of Korean: 0.96 and more upright, 0.65 at most upside down
HANGUL_SURE = 0.85  # enough by itself
MIN_SYLLABLES = 3

Score = Callable[["LineSample"], float]


class LineSample:
    """The picture of a line one way up. A reader is asked how well it reads it once, and remembered."""

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        self._scores: dict[Score, float] = {}

    def score(self, reader: Score) -> float:
        if reader not in self._scores:
            self._scores[reader] = reader(self)
        return self._scores[reader]


class Orienter:
    """Finds which way up pages are."""

    def __init__(self, threads: int = 1, effort: Effort = "best") -> None:
        self._ocr = PPOcr(threads, effort)
        self._korean = HangulNetwork(threads=threads)
        self._foreign = ForeignReader(threads)

    def upright(self, pixels: Pixels, lines: Sequence[LineBox] | None = None) -> int:
        """Degrees clockwise to turn the picture by: 0, 90, 180 or 270; 0 when in doubt.

        `lines` saves a look at the page where they are known already.
        """
        found = self._ocr.glance(pixels) if lines is None else lines
        if lines is None and (tilt := _tilt(found)):
            pixels = _levelled(pixels, tilt)  # the glance joins lines that lie askew
            found = self._ocr.glance(pixels)
        across, along = _by_direction(found)
        if sum(map(_length, along)) > SIDEWAYS * sum(map(_length, across)):
            turn = self._turn(_samples(pixels, along))
            return self._look_closely(pixels) if turn is None and lines is None else turn or 0
        return self._way_up(_samples(pixels, across)) or 0

    def close(self) -> None:
        for engine in (self._ocr, self._korean, self._foreign):
            engine.close()

    def _look_closely(self, pixels: Pixels) -> int:
        """For lines that run along the page and could not be read: a glance joins neighbours to one box."""
        _, along = _by_direction(self._ocr.find_lines(pixels))
        return self._turn(_samples(pixels, along)) or 0

    def _turn(self, cuts: Sequence[Pixels]) -> int | None:
        """For lines that run along the page: `cut` laid them on their side. None if unclear."""
        way = self._way_up(cuts)
        if way is None:
            return None
        if self._is_vertical(cuts if way == 0 else [_turned_over(cut) for cut in cuts]):
            return way
        return 270 if way == 0 else 90

    def _way_up(self, cuts: Sequence[Pixels]) -> int | None:
        """0 or 180 as these pictures of lines stand, None if that is not clear."""
        samples = [LineSample(cut) for cut in cuts]
        if len(samples) < FIRST:
            return None
        if self._plainly_upright(samples[:FIRST]):
            return 0
        over = [LineSample(_turned_over(cut)) for cut in cuts]
        for score, enough in (
            (self._legible, CLEAR),
            (self._other_script, CLEAR),
            (self._hangul, HANGUL_CLEAR),
            (self._either, CLEAR),
        ):
            clear = _clear(score, samples, over, enough)
            if clear is not None:
                return clear
        return None

    def _plainly_upright(self, samples: Sequence[LineSample]) -> bool:
        """Whether one of the readers, the cheapest first, reads these lines well as they stand."""
        if self._ocr.settings.quick is None:
            ways: tuple[tuple[Score, float], ...] = (self._legible, CLEAR), (self._hangul, HANGUL_SURE)
        else:
            ways = (self._glimpsed, AT_ONCE), (self._hangul, HANGUL_SURE), (self._legible, CLEAR)
        return any(_best_two(score, samples) >= enough for score, enough in ways)

    def _glimpsed(self, sample: LineSample) -> float:
        return _legible(self._ocr.first_look([sample.pixels]))

    def _legible(self, sample: LineSample) -> float:
        return _legible(self._ocr.read_cuts([sample.pixels]))

    def _hangul(self, sample: LineSample) -> float:
        return _sureness(self._korean, sample.pixels)

    def _other_script(self, sample: LineSample) -> float:
        """Cubed, so that ways up lie as far apart as PP-OCR's: 0.98 upright, 0.87 at most upside down."""
        return script_sureness(self._foreign.read_line(sample.pixels)) ** 3

    def _either(self, sample: LineSample) -> float:
        """For pages in two scripts, of which each may have but one good sample."""
        return max(sample.score(self._legible), sample.score(self._hangul))

    def _is_vertical(self, cuts: Sequence[Pixels]) -> bool:
        """Whether these lines, laid on their side, are columns of upright glyphs: vertical Chinese, Japanese.

        PP-OCR reads both those and turned lines, so their glyphs are turned upright, side by side: of
        vertical writing that makes a line that can be read, of a turned line glyphs that lie.
        """
        strips = [LineSample(strip) for cut in cuts if (strip := _stood_up(cut)) is not None]
        return len(strips) > 1 and _best_two(self._legible, strips) >= CLEAR


def _legible(readings: Sequence[LineReading]) -> float:
    [reading] = readings
    return reading.confidence * (1 - reading.passed_over)


def _length(line: LineBox) -> float:
    x0, y0, x1, y1 = line.box
    return max(x1 - x0, y1 - y0)


def _by_direction(lines: Sequence[LineBox]) -> tuple[list[LineBox], list[LineBox]]:
    """Lines that run across the page, lines that run along it; the short ones are neither."""
    across, along = [], []
    for line in lines:
        x0, y0, x1, y1 = line.box
        if x1 - x0 > LONG * (y1 - y0):
            across.append(line)
        elif y1 - y0 > LONG * (x1 - x0):
            along.append(line)
    return across, along


def _samples(pixels: Pixels, lines: Sequence[LineBox]) -> list[Pixels]:
    """The beginnings of a few long lines, upright or at a right angle to that."""
    by_length = sorted(lines, key=_length, reverse=True)
    longest = by_length[: max(SAMPLES, len(lines) // 3)]
    chosen = sorted({round(at) for at in np.linspace(0, len(longest) - 1, SAMPLES)}) if longest else []
    cuts = (recognise.cut(pixels, _one_way(longest[at])) for at in chosen)
    return [np.ascontiguousarray(cut[:, : SAMPLE_WIDTH * cut.shape[0]]) for cut in cuts]


def _tilt(lines: Sequence[LineBox]) -> float:
    """The degrees by which most lines are off the page's sides; 0 where most are level."""
    slanted = [line.quad for line in lines if line.quad is not None]
    if 2 * len(slanted) <= len(lines):
        return 0.0
    angles = [math.degrees(math.atan2(b[1] - a[1], b[0] - a[0])) for a, b, *_ in slanted]
    return median((angle + 45) % 90 - 45 for angle in angles)


def _levelled(pixels: Pixels, tilt: float) -> Pixels:
    """The picture turned back by a few degrees in its own frame: its corners may be cut."""
    height, width = pixels.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), tilt, 1.0)
    level = cv2.warpAffine(pixels, turn, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(level, dtype=np.uint8)


def _one_way(line: LineBox) -> LineBox:
    """The line as one that runs down where it runs along the page: a tilt must not decide which way is up.

    A tilted line is cut by its own corners: a level box around it holds its neighbours, too.
    """
    if line.quad is None or line.quad[1][1] - line.quad[0][1] > -abs(line.quad[1][0] - line.quad[0][0]):
        return line
    first, second, third, last = line.quad
    return replace(line, quad=(third, last, first, second))


def _stood_up(line: Pixels) -> Pixels | None:
    """Returns a line of the first glyphs of a sideways one, each turned upright; None if it has too few."""
    cells = _cells(line)
    if len(cells) < MIN_CELLS:
        return None
    return np.ascontiguousarray(np.concatenate([np.rot90(cell, -1) for cell in cells], axis=1))


def _cells(line: Pixels) -> list[Pixels]:
    """A few squares of a line, each as high as its ink and beginning where ink begins."""
    dark = line.min(axis=2).astype(np.int16)
    inked = np.flatnonzero(np.ptp(dark, axis=1) > recognise.INK_CONTRAST)
    if not len(inked):
        return []
    top, side = inked[0], inked[-1] + 1 - inked[0]
    columns = (np.ptp(dark, axis=0) > recognise.INK_CONTRAST).astype(np.int8)
    begins = np.flatnonzero(np.diff(columns, prepend=0) == 1)
    found: list[Pixels] = []
    after = 0
    for start in begins[begins + side <= line.shape[1]]:
        if start >= after and len(found) < CELLS:
            found.append(np.ascontiguousarray(line[top : top + side, start : start + side]))
            after = start + side
    return found


def _clear(
    score: Score, samples: Sequence[LineSample], over: Sequence[LineSample], enough: float
) -> int | None:
    """0 or 180, whichever way the pictures score `enough` and the other way clearly less."""
    as_is, turned = _best_two(score, samples), _best_two(score, over)
    if max(as_is, turned) < enough or abs(as_is - turned) < APART:
        return None
    return 0 if as_is > turned else 180


def _turned_over(cut: Pixels) -> Pixels:
    return np.ascontiguousarray(cut[::-1, ::-1])


def _best_two(score: Score, samples: Sequence[LineSample]) -> float:
    """Two lines that read well are proof; others may be pictures, formulas or badly cut."""
    return sum(sorted(sample.score(score) for sample in samples)[-2:]) / 2


def _sureness(network: HangulNetwork, cut: Pixels) -> float:
    """Returns how surely a line is upright Korean: upside down it has single letters and unknown signs."""
    symbols = network.read_line(cut)
    if sum(has_syllable(symbol.text) for symbol in symbols) < MIN_SYLLABLES:
        return 0.0
    return fmean(0.0 if _is_odd(symbol.text) else symbol.confidence for symbol in symbols)


def _is_odd(letter: str) -> bool:
    return letter == UNKNOWN or "\u3131" <= letter <= "\u318e"
