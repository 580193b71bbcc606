"""How heavily lines are printed next to running text: bold shows where no font's name tells it.

Fonts of a text layer may have no name, or one that says nothing of their weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import numpy as np

from penstock.box import Box, Pixels
from penstock.documents.text.blocks import Fragment
from penstock.scripts import has_syllable, is_unspaced

SAMPLE = 24  # lines that tell the ink of running text
MIN_CONTRAST = 30.0  # of 255: fainter lines tell nothing
MAX_HEAVIER = 0.5  # logarithm of the share; more says no more


class Ink:
    """The ink of one page's lines."""

    def __init__(self, pixels: Pixels, lines: Sequence[Fragment]) -> None:
        self._pixels = pixels
        self._usual = {dense: self._median(lines, dense) for dense in (False, True)}

    def heavier(self, line: Fragment) -> float:
        """Returns the logarithm of the line's ink over that of running text; 0 where nothing tells."""
        usual, own = self._usual[_is_dense(line.text)], self._of(line)
        if not usual or not own:
            return 0.0
        return max(-MAX_HEAVIER, min(MAX_HEAVIER, math.log(own / usual)))

    def _median(self, lines: Sequence[Fragment], dense: bool) -> float:
        alike = [line for line in lines if _is_dense(line.text) == dense]
        longest = sorted(alike, key=lambda line: len(line.text), reverse=True)[:SAMPLE]
        found = [ink for line in longest if (ink := self._of(line))]
        return median(found) if found else 0.0

    def _of(self, line: Fragment) -> float:
        """Returns the ink as a share of what the words cover, whatever its colour; 0 if it cannot be seen."""
        x0, y0, x1, y1 = _inside(line.box)
        part = self._pixels[y0:y1, x0:x1]
        if part.size == 0:
            return 0.0
        grey = part.mean(axis=2, dtype=np.float32)
        edges = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
        apart = np.abs(grey - np.median(edges))
        contrast = float(apart.max())
        covered = line.size * sum(word.box[2] - word.box[0] for word in line.words)
        return float(apart.sum()) / contrast / covered if contrast >= MIN_CONTRAST and covered > 0 else 0.0


def _inside(box: Box) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = box
    return max(0, round(x0)), max(0, round(y0)), max(0, round(x1)), max(0, round(y1))


def _is_dense(text: str) -> bool:
    """Whether most letters are Korean, Chinese or Japanese, which have more ink than others."""
    dense = sum(is_unspaced(char) or has_syllable(char) for char in text)
    return 2 * dense > sum(char.isalpha() for char in text)
