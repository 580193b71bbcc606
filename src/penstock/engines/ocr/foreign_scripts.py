"""Tells lines of scripts that PP-OCR does not know, and reads them: Cyrillic, Greek, Arabic, Thai and more.

PP-OCR makes Latin letters of them and is unsure, or says nothing. Our network for these scripts is then
asked, and believed where it reads letters of one of them surely.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING

from penstock.engines.ocr.hangul_network import Symbol
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.ocr.scripts_network import ScriptsNetwork

if TYPE_CHECKING:
    from penstock.box import Pixels

LATIN = "LATIN"
# PP-OCR is 0.41 to 0.90 sure of pages in these scripts at first look, or passes over a fifth and more of them
UNSURE, PASSED_OVER = 0.92, 0.1
SURE = 0.9  # the network's mean confidence: 0.97 to 1.0 where it knows the script, 0.82 at most elsewhere
SHARE, ONE_SCRIPT = 0.35, 0.7  # of a line's letters, apart from Latin words; of those that are not Latin
MIN_LETTERS = 4
FEW = 2  # samples that are proof, where a page has as many


class ForeignReader:
    """The network, opened when a line first needs it. May be shared by threads."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._opening = threading.Lock()
        self._network: ScriptsNetwork | None = None

    def is_foreign(self, cuts: Sequence[Pixels], first: Sequence[LineReading]) -> bool:
        """Whether a page is in one of the scripts, by samples of it and what PP-OCR said of them."""
        found = 0
        for cut, reading in zip(cuts, first, strict=True):
            if needs_look(reading) and is_foreign(self.read_line(cut)):
                found += 1
                if found == min(FEW, len(cuts)):
                    return True
        return False

    def read_line(self, cut: Pixels) -> list[Symbol]:
        with self._opening:
            if self._network is None:
                self._network = ScriptsNetwork(threads=self._threads)
        return self._network.read_line(cut)

    def close(self) -> None:
        if self._network is not None:
            self._network.close()


def needs_look(reading: LineReading) -> bool:
    return reading.confidence < UNSURE or reading.passed_over > PASSED_OVER


def is_foreign(symbols: Sequence[Symbol]) -> bool:
    """Whether letters of one script other than Latin were read, and surely."""
    return script_sureness(symbols) >= SURE


def script_sureness(symbols: Sequence[Symbol]) -> float:
    """How surely a line is of one script other than Latin; 0 if it is of none or of several."""
    scripts = Counter(_script(symbol.text) for symbol in symbols if symbol.text.isalpha())
    latin = scripts.pop(LATIN, 0)
    [(_, count)] = scripts.most_common(1) or [("", 0)]
    enough = count >= max(MIN_LETTERS, SHARE * (latin + scripts.total()))
    return sureness(symbols) if enough and count >= ONE_SCRIPT * scripts.total() else 0.0


def has_letters(symbols: Sequence[Symbol]) -> bool:
    """Whether any letter is of another script than Latin."""
    return any(symbol.text.isalpha() and _script(symbol.text) != LATIN for symbol in symbols)


def sureness(symbols: Sequence[Symbol]) -> float:
    return fmean(symbol.confidence for symbol in symbols) if symbols else 0.0


def text_of(symbols: Sequence[Symbol]) -> str:
    return "".join(" " * symbol.spaced + symbol.text for symbol in symbols).strip()


@cache
def _script(letter: str) -> str:
    """The first word of its name: LATIN, CYRILLIC, ARABIC."""
    return unicodedata.name(letter, "").partition(" ")[0]
