"""Aligns two texts of one document, letter by letter: which letter of one stands for which of the other.

First come runs of letters that each text has once, longest first; what lies between two of them is aligned
alone. So a book costs a few sorts, and a difference on one page moves nothing on the next.
"""

from __future__ import annotations

import bisect
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Letters = NDArray[np.int64]

ANCHORS = (24, 12, 6, 3)  # letters of a run that both texts have once
WINDOW = 800  # letters that difflib compares at once: 20 ms
MIN_RUN = 2  # letters: a single one is chance
BULLET = "•"
_BULLETS = frozenset("•◦▪‣●∙·○■□◆◇▶►➢✓-–—")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class LetterRun(NamedTuple):
    """Letters of one text from `start`, which are the same as those of the other from `other`."""

    start: int
    other: int
    size: int


@lru_cache(maxsize=1 << 16)
def plain(letter: str) -> str:
    """Returns what is compared of a letter: without case and width; one bullet for all, nothing for white."""
    if letter in _BULLETS or unicodedata.category(letter) == "Co":  # symbol fonts have signs of their own
        return BULLET
    return "".join(unicodedata.normalize("NFKC", letter).casefold().split()).replace("\xad", "")


def letters_of(text: str) -> tuple[list[int], list[int]]:
    """Returns the letters that are compared, and the place in the text of each."""
    codes: list[int] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        for sign in plain(letter):
            codes.append(ord(sign))
            places.append(place)
    return codes, places


def aligned(left: Letters, right: Letters) -> Letters:
    """Returns for each letter of `left` the place in `right` that it stands for, or -1. Places rise."""
    found = np.full(len(left), -1, np.int64)
    todo = [(0, len(left), 0, len(right), 0)]
    while todo:
        a0, a1, b0, b1, first = todo.pop()
        if a0 == a1 or b0 == b1:
            continue
        runs, used = _runs(left[a0:a1], right[b0:b1], first)
        a, b = a0, b0
        for start, other, length in runs:
            found[a0 + start : a0 + start + length] = np.arange(b0 + other, b0 + other + length)
            todo.append((a, a0 + start, b, b0 + other, used))
            a, b = a0 + start + length, b0 + other + length
        if runs:
            todo.append((a, a1, b, b1, used))
    return found


def _runs(left: Letters, right: Letters, first: int) -> tuple[list[LetterRun], int]:
    """Returns runs that both have, in order, and which length of anchors found them."""
    for step in range(first, len(ANCHORS)):
        if runs := _anchored(left, right, ANCHORS[step]):
            return runs, step
    return _compared(left, right), len(ANCHORS)


def _compared(left: Letters, right: Letters) -> list[LetterRun]:
    """Returns runs of texts that say the same over and over: compared a window after the other."""
    runs: list[LetterRun] = []
    a = b = 0
    while a < len(left) and b < len(right):
        mine, yours = left[a : a + WINDOW].tolist(), right[b : b + WINDOW].tolist()
        blocks = SequenceMatcher(None, mine, yours, autojunk=False).get_matching_blocks()
        shortest = min(MIN_RUN, len(mine), len(yours))
        found = [LetterRun(a + one, b + other, size) for one, other, size in blocks if size >= shortest]
        if not found:
            a, b = a + WINDOW // 2, b + WINDOW // 2
            continue
        if a + WINDOW < len(left) or b + WINDOW < len(right):  # what is at its end may go on with the next
            found = [run for run in found if run.start - a < WINDOW // 2] or found[:1]
        runs += found
        a, b = runs[-1].start + runs[-1].size, runs[-1].other + runs[-1].size
    return runs


def _anchored(left: Letters, right: Letters, length: int) -> list[LetterRun]:
    """Returns runs around those pieces of `length` letters that each side has once, in one order on both."""
    if min(len(left), len(right)) < length:
        return []
    mine, my_places = _once(_hashes(left, length))
    yours, your_places = _once(_hashes(right, length))
    _, at_mine, at_yours = np.intersect1d(mine, yours, assume_unique=True, return_indices=True)
    pairs = sorted(zip(my_places[at_mine].tolist(), your_places[at_yours].tolist(), strict=True))
    runs: list[LetterRun] = []
    for a, b in _rising(pairs):
        if runs and a < runs[-1].start + runs[-1].size:
            start, other, size = runs[-1]
            if a - start == b - other:
                runs[-1] = LetterRun(start, other, max(size, a - start + length))
            continue
        if runs and b < runs[-1].other + runs[-1].size:
            continue
        runs.append(LetterRun(a, b, length))
    return runs


def _hashes(letters: Letters, length: int) -> NDArray[np.uint64]:
    """Returns a number for each piece of `length` letters."""
    made = np.zeros(len(letters) - length + 1, np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(length):
            made = (made + letters[offset : offset + len(made)].astype(np.uint64)) * _FACTOR
            made ^= made >> np.uint64(29)
    return made


def _once(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    found, places, counts = np.unique(values, return_index=True, return_counts=True)
    return found[counts == 1], places[counts == 1]


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the longest part of pairs, sorted by their first, whose second rises, too."""
    ends: list[int] = []  # the smallest second that ends a part of each length
    last: list[int] = []
    before: list[int] = []
    for number, (_, b) in enumerate(pairs):
        place = bisect.bisect_left(ends, b)
        before.append(last[place - 1] if place else -1)
        if place == len(ends):
            ends.append(b)
            last.append(number)
        else:
            ends[place], last[place] = b, number
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
