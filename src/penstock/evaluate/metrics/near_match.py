"""Does a short text occur, roughly, in a longer one?

The benchmark slides a window of the short text's length over the long one and compares at every
place. Moving a window by one changes its distance by at most 2, so after a distance far over the
limit many places can be skipped: the answer is the same, in some 10 comparisons instead of thousands.
"""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein


def occurs_nearly(piece: str, text: str, limit: float, *, inclusive: bool = False) -> bool:
    """True when a window of `text` is within `limit` times the piece's length of it."""
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
