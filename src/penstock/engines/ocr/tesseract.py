"""Reads lines of Korean with Tesseract's LSTM and the `kor` data.

The data knows Hangul, digits and punctuation but no Latin letter: those come out as digits of low
confidence, and mixed.py has them read again. One `Tesseract` may be shared by threads: each gets
an instance of its own, all are freed by `close()`.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.engines.weights import registry as weights
from penstock.errors import EngineError, MissingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Grey = NDArray[np.uint8]

LINE_HEIGHTS = (36, 60)  # of a line with its margins; between them CER does not change (0.203-0.206)
FAINTEST = 24  # of 256: a picture with less contrast is blank
DARKEN = 2.0  # exponent; 3 reads black text a little worse
BORDER = 8  # white pixels around a line; 4 and 12 read the same
SLIVER = 0.25  # of the height: what reaches in from the lines above and below is lower than this


@dataclass(frozen=True, slots=True)
class Symbol:
    """One character of a line. `x0`, `x1` are pixels of the line's picture, and rough ones."""

    text: str
    x0: float
    x1: float
    confidence: float  # of its word: Tesseract's own for a symbol is near 1 whatever it read
    spaced: bool  # a space stands before it


class Tesseract:
    """Lines of one language's data. Raises MissingModel when the data is not here."""

    def __init__(self, lang: str = "kor") -> None:
        self._data = weights.path(f"tesseract-{lang}")
        self._own = threading.local()
        self._all: list[Any] = []
        self._lock = threading.Lock()
        self._closed = False
        self._api()  # so that data that cannot be read is told now, not on some page

    def read_line(self, line: Pixels) -> list[Symbol]:
        """The characters of a picture that holds one level line."""
        if np.ptp(line) < FAINTEST:
            return []  # Tesseract reads "~00의" in a blank picture
        grey, scale = _prepared(line)
        api = self._api()
        height, width = grey.shape
        api.SetImageBytes(grey.tobytes(), width, height, 1, width)
        if not api.Recognize():
            raise EngineError(f"Tesseract failed on a line of {line.shape[1]}x{line.shape[0]} pixels.")
        found = _symbols(api, scale)
        api.Clear()
        return found

    def close(self) -> None:
        """Frees the instances of all threads; no thread may be reading."""
        with self._lock:
            self._closed = True
            for api in self._all:
                api.End()
            self._all.clear()

    def _api(self) -> Any:
        if self._closed:
            raise EngineError("Tesseract was closed and cannot read.")
        api = getattr(self._own, "api", None)
        if api is None:
            api = self._own.api = self._opened()
        return api

    def _opened(self) -> Any:
        # before its first import: Tesseract would start four OpenMP threads a line and slow down
        os.environ.setdefault("OMP_THREAD_LIMIT", "1")
        import tesserocr

        folder, lang = str(self._data.parent), self._data.stem
        with self._lock:
            try:
                mode = {"psm": tesserocr.PSM.SINGLE_LINE, "oem": tesserocr.OEM.LSTM_ONLY}
                api = tesserocr.PyTessBaseAPI(path=folder, lang=lang, **mode)
            except RuntimeError as exc:
                advice = "Run: penstock models verify"
                raise MissingModel(f"Tesseract cannot open {self._data}: {exc}.", advice) from exc
            # without it there is a space between most syllables of a proportional font
            api.SetVariable("preserve_interword_spaces", "1")
            self._all.append(api)
        return api


def _symbols(api: Any, scale: float) -> list[Symbol]:
    import tesserocr

    level, iterator = tesserocr.RIL, api.GetIterator()
    if iterator is None or iterator.Empty(level.SYMBOL):
        return []
    # the iterator's own text has spaces that `preserve_interword_spaces` took out of this one
    text = api.GetUTF8Text()
    found: list[Symbol] = []
    at = 0
    for one in tesserocr.iterate_level(iterator, level.SYMBOL):
        symbol = one.GetUTF8Text(level.SYMBOL)
        # most syllables are words to Tesseract: only the text tells where it saw spaces
        begin = max(at, text.find(symbol, at))
        x0, _, x1, _ = one.BoundingBox(level.SYMBOL)
        sure = one.Confidence(level.WORD) / 100
        found.append(Symbol(symbol, (x0 - BORDER) / scale, (x1 - BORDER) / scale, sure, begin > at))
        at = begin + len(symbol)
    return found


def _prepared(line: Pixels) -> tuple[Grey, float]:
    """Dark on white, alone, at a height Tesseract likes, and by how much it was scaled."""
    grey = _alone(_dark_on_light(np.asarray(cv2.cvtColor(line, cv2.COLOR_RGB2GRAY), dtype=np.uint8)))
    height = grey.shape[0]
    scale = min(max(height, LINE_HEIGHTS[0]), LINE_HEIGHTS[1]) / height
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    fitted = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=how)
    around = int(np.median(fitted))
    bordered = cv2.copyMakeBorder(
        fitted, BORDER, BORDER, BORDER, BORDER, cv2.BORDER_CONSTANT, value=(around,)
    )
    return np.asarray(bordered, dtype=np.uint8), scale


def _dark_on_light(grey: Grey) -> Grey:
    """Text dark, paper white, and colours in between darkened: Tesseract's threshold lost orange words."""
    dark = 255 - grey if np.median(grey) < 128 else grey
    paper = max(1.0, float(np.percentile(dark, 90)))
    # what each level becomes: as numbers, a picture taken for one line took ten times its own memory
    levels = 255 * np.clip(np.arange(256) / paper, 0, 1) ** DARKEN
    return np.asarray(cv2.LUT(dark, levels.astype(np.uint8)), dtype=np.uint8)


def _alone(grey: Grey) -> Grey:
    """Without what reaches in from the lines above and below.

    Such slivers make Tesseract see two lines, or none: 1 line in 40 came back empty.
    """
    height = grey.shape[0]
    rows = ink(grey).any(axis=1).astype(np.int8)
    edges = np.flatnonzero(np.diff(rows, prepend=0, append=0))
    slivers = [
        (top, end)
        for top, end in zip(edges[::2], edges[1::2], strict=True)
        if (top == 0 or end == height) and end - top < SLIVER * height
    ]
    alone = grey.copy()
    for top, end in slivers:
        alone[top:end] = np.median(grey)
    return alone


def ink(grey: Grey) -> NDArray[np.bool_]:
    """Where the dark of a picture is, by Otsu's threshold."""
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.asarray(grey <= level, dtype=np.bool_)
