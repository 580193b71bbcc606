"""Reads lines of Korean with our own network: syllables, digits, Latin letters and signs, all in one go.

The weights are one ONNX file that `tools/hangul` makes. For every four columns of a line they say what kind
of thing is there (nothing, one of some 370 signs, or a syllable) and, for a syllable, its first two
letters and its last one. What they call UNKNOWN is a sign they were not taught: PP-OCR may know it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.ocr.hangul_picture import prepared
from penstock.engines.weights.onnx import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float32]

IN_PACKAGE = Path(__file__).parent / "network" / "hangul.onnx"
UNKNOWN = "\ufffd"
FIRST_SYLLABLE = 0xAC00
NUM_FINALS = 28
STEP = 4  # columns of the prepared picture for a step
HALF = 0.6  # of the line's height: a character reaches no further to either side of its middle
FAINTEST = 24  # of 256: a picture with less contrast is blank
LONGEST = 120  # heights of a line that is read in one go; longer ones are cut, for their memory
Found = tuple[str, int, float]  # a character, its step and how sure it is


@dataclass(frozen=True, slots=True)
class Symbol:
    """One character of a line. `x0`, `x1` are pixels of the line's picture, and rough ones."""

    text: str
    x0: float
    x1: float
    confidence: float
    spaced: bool  # a space precedes it


class HangulNetwork:
    """The open network. May be shared by threads."""

    def __init__(self, weights: Path = IN_PACKAGE, threads: int = 1) -> None:
        self._network = Network(weights, threads)
        self._signs = self._network.metadata["signs"]
        self.known = frozenset(self._signs) - {UNKNOWN}  # beside syllables

    def read_line(self, line: Pixels) -> list[Symbol]:
        """The characters of a picture that holds one level line."""
        return in_parts(line, self._read)

    def _read(self, line: Pixels) -> list[Symbol]:
        ready = prepared(grey_of(line))
        kinds, pairs, finals = self._network(as_input(ready.ink))
        found = decoded(kinds[0], pairs[0], finals[0], self._signs)
        return symbols_of(found, ready.scale, line.shape[0])

    def close(self) -> None:
        self._network.close()


def in_parts(line: Pixels, read: Callable[[Pixels], list[Symbol]]) -> list[Symbol]:
    """What is read of a line, part by part where it is very long; nothing of a blank one."""
    if np.ptp(line) < FAINTEST:
        return []
    width = LONGEST * line.shape[0]
    found: list[Symbol] = []
    for left in range(0, line.shape[1], width):
        found += _moved(read(line[:, left : left + width]), left)
    return found


def grey_of(line: Pixels) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(line, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def as_input(ink: NDArray[np.uint8]) -> Floats:
    return np.asarray(ink[None, None] / 255, dtype=np.float32)


def _moved(symbols: list[Symbol], by: float) -> list[Symbol]:
    return [replace(symbol, x0=symbol.x0 + by, x1=symbol.x1 + by) for symbol in symbols] if by else symbols


def decoded(kinds: Floats, pairs: Floats, finals: Floats, signs: str) -> list[Found]:
    """The characters that the steps show, each with the step at which it is surest and how sure that is.

    First the kind of each step, then the syllable: one that is torn between two syllables is still one.
    """
    kind, some_syllable = kinds.argmax(axis=1), len(signs) + 1
    is_syllable = kind == some_syllable
    syllable = pairs.argmax(axis=1) * NUM_FINALS + finals.argmax(axis=1)
    sure = kinds.max(axis=1) * np.where(is_syllable, pairs.max(axis=1) * finals.max(axis=1), 1.0)
    best = np.where(is_syllable, some_syllable + syllable, kind)
    return [(_written(number, signs), step, how) for number, step, how in collapsed(best, sure)]


def collapsed(best: NDArray[np.intp], sure: Floats) -> list[tuple[int, int, float]]:
    """The classes of steps without blanks and what is said again at once: each at its surest step."""
    begins = np.flatnonzero(np.diff(best, prepend=-1))
    ends = np.append(begins[1:], len(best))
    found = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        if best[begin]:
            step = begin + int(sure[begin:end].argmax())
            found.append((int(best[begin]), step, float(sure[step])))
    return found


def _written(number: int, signs: str) -> str:
    return signs[number - 1] if number <= len(signs) else chr(FIRST_SYLLABLE + number - len(signs) - 1)


def symbols_of(found: list[Found], scale: float, height: int) -> list[Symbol]:
    """Returns characters with their edges in a picture of this height that was scaled for the network.

    An edge is halfway to the next character; a space is known by what follows it.
    """
    middles, half = [(step + 0.5) * STEP / scale for _, step, _ in found], HALF * height
    symbols: list[Symbol] = []
    spaced = False
    for at, (text, _, sure) in enumerate(found):
        if text == " ":
            spaced = bool(symbols)
            continue
        before = middles[at] - half if at == 0 else (middles[at - 1] + middles[at]) / 2
        after = middles[at] + half if at + 1 == len(found) else (middles[at] + middles[at + 1]) / 2
        x0, x1 = max(0.0, before, middles[at] - half), min(after, middles[at] + half)
        symbols.append(Symbol(text, x0, x1, sure, spaced))
        spaced = False
    return symbols
