"""Tells whether the text hidden behind a scan says what the scan shows.

A scanner's software leaves the words that it read behind the picture, and nobody sees them. Some were read
badly, some belong to another page. A few of them are read again and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from penstock.box import area
from penstock.region import TextLayer, TextLine, Word

SCAN = 0.7  # of the page is covered by one picture: its words are not drawn, they lie behind it
SAMPLES = 10
MIN_LETTERS = 4  # of a word: short ones agree by chance
READ_SURELY = 0.9  # by the engine: what it cannot read does not speak against the layer
MIN_READ = 4  # words that were read surely
ALIKE = 0.6  # of a word's letters in order: one letter of five may be wrong, or lost at an end
UNLIKE = 0.5  # of the words: then the layer is not believed
FAULT = "The text hidden behind the scan is not what the scan shows, so the scan was read."


def is_scan(layer: TextLayer, width: int, height: int) -> bool:
    """Whether a picture covers the page that the layer is of."""
    return any(area(picture) >= SCAN * width * height for picture in layer.pictures)


def words_to_compare(words: Sequence[Word]) -> list[Word]:
    """Long words from all over the page; none if there are too few to judge by."""
    long = [word for word in words if sum(map(str.isalnum, word.text)) >= MIN_LETTERS and area(word.box) > 0]
    if len(long) < MIN_READ:
        return []
    return long[:: -(-len(long) // SAMPLES)]


def says_other(words: Sequence[Word], read: Sequence[TextLine]) -> bool:
    """Whether what was read surely in the places of words is mostly something else."""
    pairs = [
        (word.text, line.text)
        for word, line in zip(words, read, strict=True)
        if line.confidence >= READ_SURELY and sum(map(str.isalnum, line.text)) >= MIN_LETTERS - 1
    ]
    unlike = sum(_likeness(*pair) < ALIKE for pair in pairs)
    return len(pairs) >= MIN_READ and unlike >= UNLIKE * len(pairs)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, _letters(one), _letters(other), autojunk=False).ratio()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
