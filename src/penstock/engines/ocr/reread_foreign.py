"""Has PP-OCR read what the network for Korean cannot have read in a line, and puts that into it.

These are Chinese characters, which the network calls UNKNOWN, words without Hangul of which it is unsure, and
ink of which it said nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.ocr.hangul_network import UNKNOWN, Symbol
from penstock.scripts import has_syllable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels
    from penstock.engines.ocr.recognise import LineReading

DOUBT = 0.8  # a page of project-history.ko.pdf is read the same at 0.5, 0.8 and 0.95
NO_HANGUL = 0.6  # a stray syllable among foreign letters is one itself below this; real ones have 0.9
SURE_ENOUGH = 0.6  # of PP-OCR, to take its word for the network's
SNAP = 0.35  # of the line's height: how far an edge may move to find a gap
WORD_GAP = 0.12  # of the line's height: a blank this wide ends a word
HOLE = 1.5  # of the line's height: a wider gap between symbols may hold words, if there is ink in it
MARGIN = 0.12  # of the line's height, around a stretch: PP-OCR was trained on lines with some

PLAIN = frozenset(".,:;!?()-'\"”“’‘")  # read well enough


@dataclass(frozen=True, slots=True)
class Stretch:
    """Symbols `start` to `end` (exclusive) of a line, to be read again; none where ink got no symbol."""

    start: int
    end: int


def doubtful(symbols: Sequence[Symbol], width: float, height: float) -> list[Stretch]:
    """What the network cannot have read in a line of this size: no Hangul and unsure, or no symbol at all."""
    found = []
    for start, end in _runs(_foreign(symbols)):
        tokens = _tokens(symbols, start, end)
        unsure = [(first, last) for first, last in tokens if _is_doubtful(symbols[first:last])]
        if unsure:
            found.append(Stretch(unsure[0][0], unsure[-1][1]))
    edges = [0.0, *(symbol.x1 for symbol in symbols)], [*(symbol.x0 for symbol in symbols), width]
    gaps = [at for at, (x0, x1) in enumerate(zip(*edges, strict=True)) if x1 - x0 > HOLE * height]
    inside = {at for stretch in found for at in range(stretch.start, stretch.end + 1)}
    found += [Stretch(at, at) for at in gaps if at not in inside]
    return sorted(found, key=lambda stretch: stretch.start)


def _is_doubtful(token: Sequence[Symbol]) -> bool:
    lettered = any(symbol.text not in PLAIN for symbol in token)
    unknown = any(symbol.text == UNKNOWN for symbol in token)
    return unknown or (lettered and min(symbol.confidence for symbol in token) < DOUBT)


def _foreign(symbols: Sequence[Symbol]) -> list[bool]:
    """Returns for each symbol whether it is not Hangul, or weakly so next to what is not."""
    hangul = [has_syllable(symbol.text) for symbol in symbols]
    foreign = [not known for known in hangul]
    for start, end in _runs(hangul):
        weak = max(symbol.confidence for symbol in symbols[start:end]) < NO_HANGUL
        around = [symbols[i].text for i in (start - 1, end) if 0 <= i < len(symbols)]
        if weak and any(text not in PLAIN for text in around):
            foreign[start:end] = [True] * (end - start)
    return foreign


def _runs(marks: Sequence[bool]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.array(marks, dtype=np.int8), prepend=0, append=0))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _tokens(symbols: Sequence[Symbol], start: int, end: int) -> list[tuple[int, int]]:
    """The run split where spaces are."""
    cuts = [start, *(i for i in range(start + 1, end) if symbols[i].spaced), end]
    return list(pairwise(cuts))


def cut_out(line: Pixels, symbols: Sequence[Symbol], stretch: Stretch) -> Pixels:
    """The stretch's own picture, its ends moved to gaps in the ink: the edges of symbols are rough."""
    height, width = line.shape[:2]
    grey = np.asarray(cv2.cvtColor(line, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    dark = np.asarray(_ink(grey).any(axis=0), dtype=np.bool_)
    x0, x1 = (
        _hole(symbols, stretch, width)
        if stretch.start == stretch.end
        else _span(dark, symbols, stretch, height)
    )
    margin = round(MARGIN * height)
    piece = line[:, x0 : max(x1, x0 + 1) + 1]
    return np.asarray(cv2.copyMakeBorder(piece, 0, 0, margin, margin, cv2.BORDER_REPLICATE), dtype=np.uint8)


def _hole(symbols: Sequence[Symbol], stretch: Stretch, width: int) -> tuple[int, int]:
    before, after = symbols[: stretch.start], symbols[stretch.start :]
    x0 = math.ceil(before[-1].x1) if before else 0
    return max(0, x0), min(width, math.floor(after[0].x0) if after else width)


def _span(
    dark: NDArray[np.bool_], symbols: Sequence[Symbol], stretch: Stretch, height: int
) -> tuple[int, int]:
    inside = symbols[stretch.start : stretch.end]
    after = symbols[stretch.end] if stretch.end < len(symbols) else None
    letter, word = round(SNAP * height), max(2, round(WORD_GAP * height))
    if stretch.start == 0 or inside[0].spaced:
        x0 = _gap(dark, inside[0].x0, -1, word, 2 * letter)
    else:
        x0 = _gap(dark, inside[0].x0, -1, 1, letter)
    end, limit = max(symbol.x1 for symbol in inside), after.x0 - 1 if after else len(dark) - 1.0
    if end >= limit:
        # the next symbol's left edge is to be trusted, this one's right edge is not
        return x0, _gap(dark, limit, -1, 1, letter)
    if after is None or after.spaced:
        return x0, min(round(limit), _gap(dark, end, 1, word, 2 * letter))
    return x0, _gap(dark, end, 1, 1, letter)


def _gap(dark: NDArray[np.bool_], near: float, step: int, blank: int, reach: int) -> int:
    """Where, from `near` on, `blank` columns without ink begin, or `near` itself if nowhere in reach."""
    start = min(len(dark) - 1, max(0, round(near)))
    seen = 0
    for x in range(start, start + step * (reach + 1), step):
        if not 0 <= x < len(dark):
            return min(len(dark) - 1, max(0, x))
        seen = 0 if dark[x] else seen + 1
        if seen == blank:
            return x - step * (blank - 1)
    return start


def spliced(
    symbols: Sequence[Symbol], stretches: Sequence[Stretch], readings: Sequence[LineReading]
) -> tuple[str, float]:
    """The line's text and confidence, with the stretches as they were read again."""
    parts: list[tuple[str, float]] = []
    at = 0
    for stretch, reading in zip(stretches, readings, strict=True):
        if not reading.text or reading.confidence < SURE_ENOUGH:
            continue
        parts += _said(symbols[at : stretch.start])
        parts.append((_again(symbols[stretch.start : stretch.end], reading.text), reading.confidence))
        at = stretch.end
    parts += _said(symbols[at:])
    if not parts:
        return "", 0.0
    lengths = [len(text) for text, _ in parts]
    return _without_rules("".join(text for text, _ in parts)), float(
        np.average([sure for _, sure in parts], weights=lengths)
    )


def _again(symbols: Sequence[Symbol], text: str) -> str:
    """A stretch as PP-OCR read it, with the space before it and the brackets that were cut off."""
    if not symbols:
        return f" {text} "  # ink without symbols: the gap was wide
    if symbols[0].text == "(" and not text.startswith(("(", "（")):
        text = "(" + text
    if symbols[-1].text == ")" and not text.endswith((")", "）")):
        text += ")"
    return " " * symbols[0].spaced + text


def _without_rules(text: str) -> str:
    """Returns the symbols without the bars that a table's rulings next to a line are read as."""
    return " ".join(text.strip().strip("|").split())


def _said(symbols: Sequence[Symbol]) -> list[tuple[str, float]]:
    known = (symbol for symbol in symbols if symbol.text != UNKNOWN)
    return [((" " if symbol.spaced else "") + symbol.text, symbol.confidence) for symbol in known]


def _ink(grey: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where the dark of a picture is, by Otsu's threshold."""
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.asarray(grey <= level, dtype=np.bool_)
