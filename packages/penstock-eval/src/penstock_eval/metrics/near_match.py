"""Finds whether a short text occurs in a longer one, give or take some edits.

The benchmark slides a window of the short text's length over the long one and compares at every place.
Moving the window by one changes the distance by at most 2, so a distance far over the limit lets us skip
many places: the same answer in some 10 comparisons instead of thousands.
"""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein


def occurs_nearly(piece: str, text: str, limit: float, *, inclusive: bool = False) -> bool:
    """Whether a window of `text` differs from the piece by less than `limit` times its length.

    `inclusive` also accepts a difference of exactly that.
    """
    length = len(piece)
    if length == 0 or len(text) < length:
        return False
    most = _most_edits(length, limit, inclusive)
    if most < 0:
        return False
    at, end = 0, len(text) - length
    while at <= end:
        distance = Levenshtein.distance(piece, text[at : at + length])
        if distance <= most:
            return True
        at += (distance - most + 1) // 2
    return False


def _most_edits(length: int, limit: float, inclusive: bool) -> int:
    """The largest distance whose part of the length is under (or at) the limit, as floats compare."""
    edits = int(limit * length) + 1
    while edits / length > limit or (not inclusive and edits / length == limit):
        edits -= 1
    return edits
