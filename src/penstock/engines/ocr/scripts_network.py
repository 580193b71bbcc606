"""Reads lines of Cyrillic, Greek, Arabic, Hebrew, Devanagari and Thai with our own network.

The weights are one ONNX file that `tools/scripts` makes. For every four columns of a line they say which sign
is there, if any, from left to right. What is read goes out in the order in which it is written.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from penstock.engines.ocr.hangul_network import Symbol, as_input, collapsed, grey_of, in_parts, symbols_of
from penstock.engines.ocr.hangul_picture import SCRIPTS_HEIGHT, prepared
from penstock.engines.ocr.visual_order import turned
from penstock.engines.weights.onnx import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

IN_PACKAGE = Path(__file__).parent / "network" / "scripts.onnx"


class ScriptsNetwork:
    """The open network. May be shared by threads."""

    def __init__(self, weights: Path = IN_PACKAGE, threads: int = 1) -> None:
        self._network = Network(weights, threads)
        self._signs = self._network.metadata["signs"]
        self.known = frozenset(self._signs)

    def read_line(self, line: Pixels) -> list[Symbol]:
        """The characters of a picture that holds one level line, in the order in which they are written.

        Those of Arabic and Hebrew stand from right to left in the picture.
        """
        return as_written(in_parts(line, self._read))

    def _read(self, line: Pixels) -> list[Symbol]:
        ready = prepared(grey_of(line), SCRIPTS_HEIGHT, small_marks=True)
        [chances] = self._network(as_input(ready.ink))
        return symbols_of(decoded(chances[0], self._signs), ready.scale, line.shape[0])

    def close(self) -> None:
        self._network.close()


def decoded(chances: NDArray[np.float32], signs: str) -> list[tuple[str, int, float]]:
    """Returns the signs, each with its step and how sure the network is of it."""
    steps = collapsed(chances.argmax(axis=1), chances.max(axis=1))
    return [(signs[number - 1], step, sure) for number, step, sure in steps]


def as_written(seen: list[Symbol]) -> list[Symbol]:
    """Symbols from left to right in the order of writing; spaces are steps by what then follows them."""
    at: list[int] = []
    text = ""
    for number, symbol in enumerate(seen):
        at += [-1, number] if symbol.spaced else [number]
        text += " " * symbol.spaced + symbol.text
    written, order = turned(text)
    found: list[Symbol] = []
    spaced = False
    for sign, place in zip(written, order, strict=True):
        if at[place] < 0:
            spaced = bool(found)
            continue
        found.append(replace(seen[at[place]], text=sign, spaced=spaced))
        spaced = False
    return found
