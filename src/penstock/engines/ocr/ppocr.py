"""PP-OCRv6 small: finds lines of text and reads Latin, Chinese, Japanese and Greek.

It has no Hangul at all (tesseract.py reads Korean, reader.py chooses). Both networks run in
onnxruntime; one `PPOcr` may be shared by any number of threads.

    ocr = PPOcr()
    for line in ocr.read_lines(pixels, ocr.find_lines(pixels)):
        print(line.confidence, line.text)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from penstock.box import Box
from penstock.engines.ocr import detect, recognise
from penstock.engines.ocr.detect import LineBox, Quad
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network
from penstock.engines.weights.onnx_denormals import flushed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

__all__ = ["LineBox", "PPOcr", "TextLine"]

# An A4 page at 111 dpi. On 11 pages it found all lines but 2 that the full 200 dpi shows, in a fifth of
# the time; 0.9 million pixels lost 8.
FIND_PIXELS = 1.2e6
GLANCE_PIXELS = 0.4e6
FINE_PIXELS = 4.8e6  # at most, where the print is small
SMALL_PRINT = 14.0  # pixels: lines this low in the detector's picture begin to be missed or to merge
FINE_PRINT = 20.0  # what the second look brings them to
BAND_PIXELS = 0.7e6  # shown to the network at once: 175 MB less than 1.2 million, and no slower
BLANK_RANGE = 24  # of 256: paper without ink, even when it is shaded or compressed
BAND_MARGIN = 48  # rows a band sees beyond its own, more than any line of small print is high


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line as it was read. `reader` is the engine that did: "ppocr" or "tesseract"."""

    text: str
    box: Box
    confidence: float
    reader: str = "ppocr"
    quad: Quad | None = None


class PPOcr:
    """Both networks of PP-OCRv6 small. Raises MissingModel when their weights are not here."""

    def __init__(self, threads: int = 1) -> None:
        self._detector = _open("ppocrv6-det-small", threads)
        self._recogniser = _open("ppocrv6-rec-small", threads)
        # what each output stands for: blank, the characters its file lists, space
        self._charset = np.array(["", *self._recogniser.metadata["character"].split("\n"), " "])

    def find_lines(self, pixels: Pixels) -> list[LineBox]:
        """The lines of a page, by rows; small print gets a second, finer look."""
        area = pixels.shape[0] * pixels.shape[1]
        if not area or _is_blank(pixels):
            return []
        scale = min(1.0, math.sqrt(FIND_PIXELS / area))
        found = self._find(pixels, scale)
        finer = _finer(found, scale, area)
        if finer > scale:
            found = self._find(pixels, finer)
        return detect.in_reading_rows(found)

    def glance(self, pixels: Pixels) -> list[LineBox]:
        """The lines of a page, roughly: enough to tell how they run, at a quarter of the cost."""
        area = pixels.shape[0] * pixels.shape[1]
        if not area or _is_blank(pixels):
            return []
        return self._find(pixels, min(1.0, math.sqrt(GLANCE_PIXELS / area)))

    def read_lines(self, pixels: Pixels, lines: Sequence[LineBox]) -> list[TextLine]:
        """One `TextLine` for each line, in the same order; text is empty where nothing was read."""
        read = self.read_cuts([recognise.cut(pixels, line) for line in lines])
        return [
            TextLine(reading.text, line.box, reading.confidence, quad=line.quad)
            for line, reading in zip(lines, read, strict=True)
        ]

    def read_cuts(self, cuts: Sequence[Pixels]) -> list[LineReading]:
        """What pictures say that hold one level line each."""
        parts = [recognise.pieces(recognise.at_height(cut)) for cut in cuts]
        flat = [piece for pieces in parts for piece in pieces]
        read: dict[int, LineReading] = {}
        for batch in recognise.batches([piece.shape[1] for piece in flat]):
            lines = [flat[index] for index in batch]
            chances = self._recogniser(recognise.stacked(lines))[0]
            read.update(zip(batch, recognise.decoded(chances, self._charset, lines), strict=True))
        in_order = iter([read[index] for index in range(len(flat))])
        return [recognise.joined([next(in_order) for _ in pieces]) for pieces in parts]

    def close(self) -> None:
        """Lets the networks go; a call after this is an error of the program."""
        self._detector.close()
        self._recogniser.close()

    def _find(self, pixels: Pixels, scale: float) -> list[LineBox]:
        height, width = pixels.shape[:2]
        likely = self._map(detect.scaled(pixels, scale))
        return detect.lines_in_map(likely, scale, width, height)

    def _map(self, pixels: Pixels) -> NDArray[np.float32]:
        """The detector's map of a whole picture, painted band by band."""
        height, width = pixels.shape[:2]
        likely = np.zeros((height, width), dtype=np.float32)
        for start, end in _bands(width, height):
            above, below = max(0, start - BAND_MARGIN), min(height, end + BAND_MARGIN)
            painted = self._detector(detect.as_input(pixels[above:below]))[0][0, 0]
            likely[start:end] = painted[start - above : end - above, :width]
        return likely


def _open(name: str, threads: int) -> Network:
    network = Network(bytes(flushed(weights.path(name).read_bytes())), threads)
    network.name = name
    return network


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


def _is_blank(pixels: Pixels) -> bool:
    return int(pixels.max()) - int(pixels.min()) < BLANK_RANGE
