"""Finds the words in a run of letters that has no spaces, by the gaps between its glyphs.

PDFium sees no space where a gap is narrower than a part of the letters around it: tightly set lines lose some
of theirs ("theright towithdrawor"). Gaps are in parts of the font's size. Only scripts whose words have
spaces and whose glyphs follow each other from left to right are cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median_low

MIN_GAP = 0.1  # kerning and listings in columns stay below; the narrowest spaces of real lines begin here
MIN_GAP_OF_ONE_LETTER = 0.13  # "a few": a lone letter is more often a drop capital, a variable or code
CLEAR = 0.04  # how much narrower than a space the other gaps are, or the run is letterspaced or code
LETTERSPACED = 0.06  # half of the gaps are wider: the letters themselves stand apart
OVERLAPPING = -0.2  # letters that lie on each other: logos, accents, struck-out words
PART_OF_A_SPACE = 0.45  # gaps that are narrower than this part of the line's own spaces are no spaces
MIN_LETTERS = 4  # of both words together: "TeX", "dx" and "5 h" are formulas and units more often than words

LETTER = (
    "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u058f\u10a0-\u10ff\u1e00-\u1fff\ufb00-\ufb06"
)
HANGUL = "\uac00-\ud7a3"
SPACED = re.compile(f"[{LETTER}{HANGUL}]")
CLOSING = re.compile(r"[^\w(\[«“‘]")  # French sets a thin space before some of these
BOUNDARY = re.compile(
    rf"[{LETTER}][,.;:!?)\]»”’%]*(?=[(\[«“‘]*[{LETTER}])"
    rf"|[{HANGUL}][,.!?)\]”’]*(?=[(\[“‘]*[{HANGUL}])"  # particles follow Latin words at a small distance
    rf"|[0-9][,;)\]%]*(?=[{LETTER}])|[{LETTER}][,;)\]]*(?=[0-9])"  # not in 1 000 and 4, 5
)


def cuts(run: str, gaps: Sequence[float], space: float | None = None) -> list[int]:
    """Returns where words of the run begin, apart from its first; `gaps[i]` lies before `run[i + 1]`.

    `space` is the narrowest space next to the run on its line, if there is one.
    """
    usual = median_low(gaps) if len(gaps) > 2 else 0.0
    if usual > LETTERSPACED or min(gaps) < OVERLAPPING:
        return []
    least = max(MIN_GAP, usual + MIN_GAP, PART_OF_A_SPACE * (space or 0.0))
    ends = [match.end() for match in BOUNDARY.finditer(run)]
    found = [place for place in ends if gaps[place - 1] >= least]
    others = (
        gap for place, gap in enumerate(gaps, 1) if place not in found and not CLOSING.match(run[place])
    )
    if any(gap > least - CLEAR for gap in others):
        return []
    return [place for place in found if _are_words(run, place, found, gaps[place - 1])]


def _are_words(run: str, place: int, found: Sequence[int], gap: float) -> bool:
    """Whether both sides of a gap, as far as the next ones, have the letters of words."""
    before = max((other for other in found if other < place), default=0)
    after = min((other for other in found if other > place), default=len(run))
    sides = [len(SPACED.findall(side)) for side in (run[before:place], run[place:after])]
    return sum(sides) >= MIN_LETTERS and (1 not in sides or gap >= MIN_GAP_OF_ONE_LETTER)
