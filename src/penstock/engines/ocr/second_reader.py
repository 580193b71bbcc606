"""Reads the letters of doubtful lines with a second network, and prefers it where it is the surer one.

PP-OCR and the network of `hangul_network` were taught with other pictures, so they err at other letters: on
thermal paper PP-OCR reads RH for RM, and the other one RM. Letters are exchanged, none is added or dropped,
and spaces stay: the second network reads Sumary, and puts spaces into words of fixed-width type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from statistics import fmean

from penstock.engines.ocr.hangul_network import UNKNOWN, Symbol
from penstock.scripts import has_syllable

SURE = 0.8  # of the second network, in each letter that it exchanges
SURE_OF_LINE = 0.9  # of it on average: one that cannot read the line's other letters guesses at this one too


def agreed(text: str, sures: Sequence[float], second: Sequence[Symbol], known: frozenset[str]) -> str:
    """The line's text with the letters of which the second reader is surer.

    `sures` has the first reader's confidence in each character that is no space, `known` the characters that
    the second reader was taught: it says nothing of others.
    """
    places = [place for place, letter in enumerate(text) if letter != " "]
    if len(sures) != len(places) or not _is_legible(second):
        return text
    own = [text[place] for place in places]
    written = list(text)
    matcher = SequenceMatcher(None, own, [symbol.text for symbol in second], autojunk=False)
    for what, first, last, begin, end in matcher.get_opcodes():
        others = second[begin:end]
        if (
            what != "replace"
            or last - first != end - begin
            or not _may_change(own[first:last], others, known)
        ):
            continue
        sure = min(symbol.confidence for symbol in others)
        if sure >= SURE and sure > min(sures[first:last]):
            for place, symbol in zip(places[first:last], others, strict=True):
                written[place] = symbol.text
    return "".join(written)


def _is_legible(second: Sequence[Symbol]) -> bool:
    return bool(second) and fmean(symbol.confidence for symbol in second) >= SURE_OF_LINE


def _may_change(own: Iterable[str], others: Iterable[Symbol], known: frozenset[str]) -> bool:
    """Whether both readers know what is at stake: é is an e to one that was not taught it."""
    new = [symbol.text for symbol in others]
    return known.issuperset(own) and not any(letter == UNKNOWN or has_syllable(letter) for letter in new)
