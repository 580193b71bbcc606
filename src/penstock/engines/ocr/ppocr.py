"""PP-OCRv6: finds lines of text and reads Latin, Chinese, Japanese and Greek.

It has no Hangul at all (hangul_network.py reads Korean, reader.py chooses). There are two sizes of it. Small
reads with care. Tiny takes a sixth of the time and knows no kana, fewer Chinese characters and accents: what
it is unsure of is read by small. The networks run in onnxruntime; one `PPOcr` may be shared by threads.

    ocr = PPOcr()
    for line in ocr.read_lines(pixels, ocr.find_lines(pixels)):
        print(line.confidence, line.text)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from penstock.engines.image.crop import scaled
from penstock.engines.ocr import detect, recognise
from penstock.engines.ocr.effort import EFFORT_SETTINGS, Effort
from penstock.engines.ocr.line_network import LineNetwork, open_network
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.weights import registry as weights
from penstock.errors import MissingModel
from penstock.region import LineBox, TextLine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels
    from penstock.engines.weights.onnx import Network


# An A4 page at 111 dpi. On 11 pages it found all lines but 2 that the full 200 dpi shows, in a fifth of
# the time; 0.9 million pixels lost 8.
FIND_PIXELS = 1.2e6
GLANCE_PIXELS = 0.4e6
FINE_PIXELS = 4.8e6  # at most, where the print is small
SMALL_PRINT = 14.0  # pixels: lines this low in the detector's picture begin to be missed or to merge
FINE_PRINT = 20.0  # what the second look brings them to
# tiny reads "3May", "10litrePump" and is sure
_LOST_SPACE = re.compile(r"\d[A-Z]?[a-z]{2,}|[a-z]{3,}\d|[a-z][A-Z][a-z]")
# samples of a clear page that may be smudges or formulas: 2 of 12 on papers, of typewriting and receipts 4
MAY_BE_UNSURE, UNSURE_SHARE = 1, 0.25
BAND_PIXELS = 0.7e6  # shown to the network at once: 175 MB less than 1.2 million, and no slower
BAND_MARGIN = 48  # rows a band sees beyond its own, more than any line of small print is high


class PPOcr:
    """The networks of PP-OCRv6 that an effort needs. Raises MissingModel when the careful ones are not here.

    Without the quick ones everything is read with care, and `missing` says so.
    """

    def __init__(self, threads: int = 1, effort: Effort = "best") -> None:
        self.missing = ""
        self.settings = EFFORT_SETTINGS[effort]
        self._quick = self._open_quick(threads)
        self._careful = LineNetwork("ppocrv6-rec-small", threads)
        self._detector = open_network(self.settings.finder, threads)
        self._glancer = open_network(self.settings.glancer, threads)

    def _open_quick(self, threads: int) -> LineNetwork | None:
        """The quick recogniser; without it, or the quick detector, the effort is the best."""
        if self.settings.quick is None:
            return None
        try:
            weights.path(self.settings.glancer)
            return LineNetwork(self.settings.quick, threads)
        except MissingModel as exc:
            self.missing = f"Every line is read with care, which takes longer. {exc}"
            self.settings = EFFORT_SETTINGS["best"]
            return None

    def find_lines(self, pixels: Pixels, page_area: int = 0) -> list[LineBox]:
        """The lines of a page, by rows; small print gets a second, finer look.

        `page_area` is that of the page that the picture is a part of, in pixels.
        """
        area = max(page_area, pixels.shape[0] * pixels.shape[1])
        if not pixels.size or _is_blank(pixels):
            return []
        scale = min(1.0, math.sqrt(FIND_PIXELS / area))
        found = self._find(self._detector, pixels, scale)
        finer = _finer(found, scale, area)
        if finer > scale:
            found = self._find(self._detector, pixels, finer)
        return detect.in_reading_rows(found)

    def glance(self, pixels: Pixels) -> list[LineBox]:
        """The lines of a page, roughly: enough to tell how they run, at a quarter of the cost."""
        area = pixels.shape[0] * pixels.shape[1]
        if not area or _is_blank(pixels):
            return []
        return self._find(self._glancer, pixels, min(1.0, math.sqrt(GLANCE_PIXELS / area)))

    def read_lines(self, pixels: Pixels, lines: Sequence[LineBox]) -> list[TextLine]:
        """One `TextLine` for each line, in the same order; text is empty where nothing was read."""
        read = self.read_cuts([recognise.cut(pixels, line) for line in lines])
        return [
            TextLine(reading.text, line.box, reading.confidence, quad=line.quad)
            for line, reading in zip(lines, read, strict=True)
        ]

    def read_cuts(self, cuts: Sequence[Pixels]) -> list[LineReading]:
        """What pictures say that hold one level line each, read with care."""
        return self._careful.read(cuts)

    def read_quickly(self, cuts: Sequence[Pixels], sure: float = 0.0) -> list[LineReading]:
        """The same, with care only where the quick network is less sure than the effort or `sure` demands."""
        return self.second_look(cuts, self.first_look(cuts), sure)

    def first_look(self, cuts: Sequence[Pixels]) -> list[LineReading]:
        """What the quick network makes of them; the careful one, where there is no quick one."""
        return (self._quick or self._careful).read(cuts)

    def second_look(
        self, cuts: Sequence[Pixels], first: Sequence[LineReading], sure: float = 0.0
    ) -> list[LineReading]:
        """The readings of a first look, with care where it was unsure."""
        if self._quick is None:
            return list(first)
        doubted = [index for index, reading in enumerate(first) if self.is_doubtful(reading, sure)]
        again = self.read_cuts([cuts[index] for index in doubted])
        better = dict(zip(doubted, again, strict=True))
        return [better.get(index, reading) for index, reading in enumerate(first)]

    def is_doubtful(self, first: LineReading, sure: float = 0.0) -> bool:
        """Whether a reading of the quick network, if there is one, wants a second look."""
        enough = max(sure, self.settings.sure)
        return self._quick is not None and (first.confidence < enough or is_odd(first.text))

    def is_unclear(self, samples: Sequence[LineReading]) -> bool:
        """Whether a page of which these are samples at first look is better read with care from the start."""
        if self._quick is None or not samples:
            return False
        seldom = sum(_has_seldom(reading.text) for reading in samples) > 1
        unsure = sum(reading.confidence < self.settings.page_sure for reading in samples)
        may_be = max(MAY_BE_UNSURE, UNSURE_SHARE * len(samples))
        return seldom or unsure > may_be or unsure == len(samples)

    def close(self) -> None:
        """Lets the networks go; a call after this is an error of the program."""
        for network in (self._detector, self._glancer, self._quick, self._careful):
            if network is not None:
                network.close()

    def _find(self, detector: Network, pixels: Pixels, scale: float) -> list[LineBox]:
        height, width = pixels.shape[:2]
        picture = scaled(pixels, scale)
        likely = np.zeros(picture.shape[:2], dtype=np.float32)
        rows, columns = detect.printed(picture) if self.settings.trimmed else (slice(None), slice(None))
        likely[rows, columns] = _map(detector, picture[rows, columns])
        return detect.lines_in_map(likely, scale, width, height)


def _map(detector: Network, pixels: Pixels) -> NDArray[np.float32]:
    """The detector's map of a whole picture, painted band by band."""
    height, width = pixels.shape[:2]
    likely = np.zeros((height, width), dtype=np.float32)
    for start, end in _bands(width, height):
        above, below = max(0, start - BAND_MARGIN), min(height, end + BAND_MARGIN)
        painted = detector(detect.as_input(pixels[above:below]))[0][0, 0]
        likely[start:end] = painted[start - above : end - above, :width]
    return likely


def _bands(width: int, height: int) -> Iterable[tuple[int, int]]:
    count = max(1, math.ceil(width * height / BAND_PIXELS))
    edges = [round(height * index / count) for index in range(count + 1)]
    return pairwise(edges)


def _finer(found: list[LineBox], scale: float, area: int) -> float:
    """The scale at which the smallest print (10th percentile) has a height the detector likes."""
    if not found or scale == 1.0:
        return scale
    low = float(np.percentile([min(line.width, line.height) for line in found], 10)) * scale
    if low > SMALL_PRINT:
        return scale
    return min(1.0, math.sqrt(FINE_PIXELS / area), scale * FINE_PRINT / low)


def is_odd(text: str) -> bool:
    """Whether a text has what tiny mistakes and is sure of: some accents, wide marks, a lost space."""
    return _has_seldom(text) or _has_wide_marks(text) or _LOST_SPACE.search(text) is not None


def _has_seldom(text: str) -> bool:
    """Whether letters tell of a language whose accents tiny mistakes: Polish, Romanian, Turkish.

    It reads ł as t, ț as t, ı as nothing, and is sure; other accents of the same line it has right.
    """
    return any("\u0100" <= letter <= "\u024f" for letter in text)


def _has_wide_marks(text: str) -> bool:
    """Whether a line without Chinese has Chinese punctuation: tiny reads ": " as "：" on receipts."""
    is_chinese = any("\u3400" <= letter <= "\u9fff" for letter in text)
    return not is_chinese and any("\uff01" <= mark <= "\uff5e" for mark in text)


def _is_blank(pixels: Pixels) -> bool:
    return int(pixels.max()) - int(pixels.min()) < detect.BLANK_RANGE
