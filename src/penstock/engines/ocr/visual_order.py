"""Turns lines with Arabic or Hebrew from the order in which they are seen into the one they are written in.

A reader of pictures goes from left to right. In a line of Arabic or Hebrew that is backwards, but for
numbers and Latin words in it, which run from left to right in both orders. The way there and the way back
are the same, so `turned` does both. Not all of Unicode's rules: one line, no marks of direction.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# without digits, and without the comma and signs of numbers that stand among them
_ARABIC = "\u0600-\u0608\u060b\u060d-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
_HEBREW = "\u0590-\u05ff\ufb1d-\ufb4f"
_ARABIC_SIGN = re.compile(f"[{_ARABIC}]")
_LETTER = rf"[^\W\d_{_HEBREW}{_ARABIC}]"
_OWN = rf"[^\W{_HEBREW}{_ARABIC}]"  # a letter or a digit
_WORD = rf"{_OWN}(?:[@.,:/&'’+\-]*{_OWN})*"
_LATIN = rf"(?=[\d_@.,:/&'’+\-]*{_LETTER}){_WORD}(?:[,;]? {_WORD})*"
_NUMBER = r"\d+(?:[.,:/٫٬\-]\d+)*"
_AMONG_ARABIC = re.compile(f"{_LATIN}|{_NUMBER}")  # 50% is seen as %50 there
_AMONG_HEBREW = re.compile(rf"{_LATIN}|[+\-±$€£₪]?{_NUMBER}[%‰°€₪$]?")
_STRETCH = re.compile(rf"[{_HEBREW}{_ARABIC}](?:[\W\d_]*[{_HEBREW}{_ARABIC}])*")
_OWN_WORD = re.compile(f"[{_HEBREW}{_ARABIC}]+")
_OTHER_WORD = re.compile(rf"{_LETTER}[^\s{_HEBREW}{_ARABIC}]*")
_MIRRORED = str.maketrans("()[]{}<>«»‹›≤≥", ")(][}{><»«›‹≥≤")


class DirectedPiece(NamedTuple):
    """Neighbours of one direction: places in the text, from `begin` up to `end`."""

    begin: int
    end: int
    right_to_left: bool


def runs_right_to_left(text: str) -> bool:
    """Whether the line as a whole does: its ends are Arabic or Hebrew, or at least half of its words."""
    own = [match.start() for match in _OWN_WORD.finditer(text)]
    other = [match.start() for match in _OTHER_WORD.finditer(text)]
    if not own or not other:
        return bool(own)
    return (own[0] < other[0] and own[-1] > other[-1]) or len(own) >= len(other)


def turned_pieces(text: str) -> list[DirectedPiece]:
    """The pieces of a line in the other order: as seen if the text is as written, and the other way round."""
    if runs_right_to_left(text):
        return _inside(text, 0, len(text))[::-1]
    found, at = [], 0
    for match in _STRETCH.finditer(text):
        begin, end = match.span()
        found += [DirectedPiece(at, begin, False)] if at < begin else []
        found += _inside(text, begin, end)[::-1]
        at = end
    return [*found, DirectedPiece(at, len(text), False)] if at < len(text) else found


def turned(text: str) -> tuple[str, list[int]]:
    """The line in the other order, brackets mirrored, and where each of its characters was."""
    order: list[int] = []
    made: list[str] = []
    for piece in turned_pieces(text):
        if not piece.right_to_left:
            order += range(piece.begin, piece.end)
            made.append(text[piece.begin : piece.end])
            continue
        for begin, end in reversed(_clusters(text, piece)):
            order += range(begin, end)
            made.append(text[begin:end].translate(_MIRRORED))
    return "".join(made), order


def _clusters(text: str, piece: DirectedPiece) -> list[tuple[int, int]]:
    """Characters with the marks that stand on them."""
    starts = [at for at in range(piece.begin, piece.end) if at == piece.begin or not _is_mark(text[at])]
    return list(zip(starts, [*starts[1:], piece.end], strict=True))


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me", "Cf")


def _inside(text: str, begin: int, end: int) -> list[DirectedPiece]:
    """Yields the pieces of a part that runs from right to left; patterns find what does not."""
    pattern = _AMONG_ARABIC if _ARABIC_SIGN.search(text, begin, end) else _AMONG_HEBREW
    found, at = [], begin
    for match in pattern.finditer(text, begin, end):
        found += [DirectedPiece(at, match.start(), True)] if match.start() > at else []
        found.append(DirectedPiece(*match.span(), False))
        at = match.end()
    return [*found, DirectedPiece(at, end, True)] if at < end else found
