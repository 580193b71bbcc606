"""Guesses whether a space stands between two characters of Korean, by the four characters on either side.

The weights, one byte each, are a logistic regression's (`tools/korean_spacing.py` fits them, and says to
which texts). On joins at random places of texts that it never saw it is right in 89 to 91 of 100, where a
dictionary of 100 MB is in 95 (docs/log.md, 2026-11-17). Nothing is downloaded or loaded at length.
"""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path

from penstock.scripts import is_syllable

WEIGHTS = Path(__file__).with_name("korean_spacing.bin")
SCALE = 16  # a weight of 16 adds 1 to the logarithm of the odds
PRIOR = 0.28  # the share of gaps between syllables that are spaces
REACH = 4  # characters on either side
LEFT, RIGHT = "abcd", "efgh"  # name the parts on one side, of one character to four
# Name the parts across a gap, with so many characters before and after it.
ACROSS = {"i": (1, 1), "j": (2, 1), "k": (1, 2), "l": (2, 2), "m": (3, 1), "n": (3, 2)}
NOTHING, DIGIT, LETTER = "^0A"  # what stands for spaces and a text's ends, for digits, for other letters


def log_odds(before: str, after: str) -> float:
    """Above zero where a space between the two texts is likelier than none."""
    weights = _weights()
    return sum(weights[place] for place in places(before, after, len(weights))) / SCALE


def places(before: str, after: str, num_weights: int) -> list[int]:
    """Which of the weights, a power of two of them, the characters around a gap add up."""
    shift = 33 - num_weights.bit_length()
    return [zlib.crc32(part.encode()) >> shift for part in _parts(before, after)]


def _parts(text_before: str, text_after: str) -> list[str]:
    """What is known of a gap: up to four characters on one side, up to three and two across it."""
    left = "".join(map(_kind, text_before[-REACH:])).rjust(REACH, NOTHING)
    right = "".join(map(_kind, text_after[:REACH])).ljust(REACH, NOTHING)
    parts = [key + left[-size:] for size, key in enumerate(LEFT, 1)]
    parts += [key + right[:size] for size, key in enumerate(RIGHT, 1)]
    return parts + [key + left[-before:] + right[:after] for key, (before, after) in ACROSS.items()]


def _kind(char: str) -> str:
    if is_syllable(char):
        return char
    if char.isdigit():
        return DIGIT
    return LETTER if char.isalpha() else NOTHING if char.isspace() else char


@cache
def _weights() -> memoryview:
    return memoryview(WEIGHTS.read_bytes()).cast("b")
