"""Joins the lines of a paragraph into running text.

Latin lines are joined by a space, and a word cut at a hyphen becomes whole. Chinese and Japanese
lines are joined without a space. Korean breaks lines between words or, in most books and reports,
between any two syllables, and the page does not show which. The rule for Hangul on either side:
1. The line leaves room for the next syllable, so only a word boundary can have ended it: a space.
2. The lines of the paragraph together show that it breaks between words only: by the room each line
   would have without stretched spaces, and by whether a word may end with it. A space.
3. Otherwise the syllables on both sides decide, by what is likelier.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from penstock.documents.text import korean_spacing
from penstock.region import Line
from penstock.scripts import has_no_word_spaces, is_hangul

CUT_WORD = re.compile(r"[^\W\d_]{2,}[-\u2010]$")
SOFT_HYPHEN = re.compile("[\x02\xad\ufffe]+$")
# First halves of compounds, which keep their hyphen at a line's end.
KEEPS_HYPHEN = frozenset({
    "all", "anti", "co", "cross", "ex", "half", "high", "inter", "left", "long", "low", "mid", "multi",
    "non", "off", "post", "pre", "pro", "quasi", "right", "semi", "self", "short", "single", "state",
    "sub", "super", "three", "two", "well",
})  # fmt: skip

# In widths of a syllable.
WIDTHS = {" ": 0.3, ".": 0.3, ",": 0.3, ":": 0.3, "'": 0.3, "(": 0.3, ")": 0.3}
NARROW = 0.55  # digits and Latin letters
ROOMY = 1.4  # half of the lines that break between words have more room, 1 in 12 of those that break anywhere
UNLIKELY_SPACE = -0.5  # logarithm of the odds: lines end at words more often than gaps in a text are spaces
ENOUGH = 8.0  # a shorter line does not tell how wide a syllable is

# Natural logarithms of odds.
ROOM, NO_ROOM = 1.8, -0.6  # as at ROOMY: 0.5 to 0.08, and 0.5 to 0.92
WHITE = 3.0  # room that is still there with the spaces stretched
KEEPS_WORDS = 1.0  # the sum it takes: more text breaks anywhere


def join_lines(lines: Sequence[Line]) -> str:
    """The paragraph as one line of text. Linear in its length."""
    shown = [line for line in lines if line.text.strip()]
    right = max((line.box[2] for line in shown), default=0.0)
    keeps_words = _keeps_words(shown, right)
    parts: list[str] = []
    for above, below in itertools.pairwise(shown):
        at_word = keeps_words or right - above.box[2] > 1.2 * (above.box[3] - above.box[1]) > 0
        parts += _joint(above.text.strip(), below.text.strip(), at_word)
    if shown:
        parts.append(SOFT_HYPHEN.sub("-", shown[-1].text.strip()))
    return "".join(parts)


def joined_word(above: str, below: str) -> str | None:
    """Two paragraphs as one where the first ends in a cut word, or None."""
    above, below = above.rstrip(), below.lstrip()
    if not CUT_WORD.search(above[-64:]) or not below[:1].islower():
        return None
    return "".join((*_hyphen_joint(above), below))


def _keeps_words(lines: Sequence[Line], right: float) -> bool:
    """Whether the paragraph is broken between words only."""
    korean = [
        (above, below)
        for above, below in itertools.pairwise(lines)
        if is_hangul(above.text.rstrip()[-1]) and is_hangul(below.text.lstrip()[0])
    ]
    if not korean:
        return False
    syllable = _syllable(lines)
    return sum(_evidence(above, below, right, syllable) for above, below in korean) > KEEPS_WORDS


def _evidence(above: Line, below: Line, right: float, syllable: float) -> float:
    """How much likelier a line's end is in text broken between words than in text broken anywhere."""
    odds = korean_spacing.log_odds(above.text.rstrip(), below.text.lstrip())
    by_wording = -math.log1p(math.exp(-odds)) - math.log(korean_spacing.PRIOR)
    if not syllable:
        return by_wording
    x0, _, x1, _ = above.box
    if right - x1 > ROOMY * syllable:
        return by_wording + WHITE
    return by_wording + (ROOM if right - x0 - syllable * _width(above.text) > ROOMY * syllable else NO_ROOM)


def _syllable(lines: Sequence[Line]) -> float:
    """How wide a syllable is in the line whose spaces are stretched least; 0 if no line is long enough."""
    widths = [(line.box[2] - line.box[0], _width(line.text)) for line in lines]
    return min((across / units for across, units in widths if units > ENOUGH), default=0.0)


def _width(text: str) -> float:
    return sum(1.0 if char > "\u1100" else WIDTHS.get(char, NARROW) for char in text.strip())


def _joint(above: str, below: str, at_word: bool) -> tuple[str, str]:
    """The text of the upper line, and what stands between it and the next line."""
    if SOFT_HYPHEN.search(above[-4:]):
        whole = SOFT_HYPHEN.sub("", above)
        return (whole, "") if below[0].islower() else (whole + "-", "")
    if below[0].islower() and CUT_WORD.search(above[-64:]):
        return _hyphen_joint(above)
    a, b = above[-1], below[0]
    if has_no_word_spaces(a) and has_no_word_spaces(b):
        return above, ""
    if is_hangul(a) or is_hangul(b):
        return above, " " if at_word or korean_spacing.log_odds(above, below) > UNLIKELY_SPACE else ""
    return above, " "


def _hyphen_joint(above: str) -> tuple[str, str]:
    first = re.split(r"[^\w']", above[-64:-1])[-1].lower()
    return (above, "") if first in KEEPS_HYPHEN else (above[:-1], "")
