"""Joins the lines of a paragraph into running text.

Latin lines are joined by a space and a word cut at a hyphen is made whole. Chinese and Japanese
lines are joined as they are. Korean breaks lines between words or, in most books and reports,
between any two syllables, and the page does not say which. The rule for Hangul on both sides:
1. The line leaves room for the next syllable, so only a word boundary can have ended it: a space.
2. Enough other lines of the paragraph leave room: it breaks between words, so a space here too.
3. The next line starts with what cannot start a word (an ending such as 다. or 니다): no space.
4. The line fills its column: a space where its last syllable commonly ends a word (a particle or
   an ending such as 은, 를, 고), none elsewhere.
Without boxes (a width of zero) a line counts as full.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from penstock.documents.scripts import is_hangul, is_unspaced
from penstock.item import Line

# Syllables that end a Korean word far more often than they stand inside one.
WORD_ENDS = frozenset("은는을를의에와과로서고며면도만께랑나지게한할된될인던든")
# What a line can start with only if the word began on the line before.
TAILS = re.compile(
    r"(?:[가-힣]{0,2}(?:니다|이다|한다|된다|었다|았다|였다|했다|있다|없다)|다|요|까|[은는을를의에와과로도이가])(?=[.,!?)\]\s]|$)"
)
CUT_WORD = re.compile(r"[^\W\d_]{2,}[-\u2010]$")
SOFT_HYPHEN = re.compile("[\x02\xad\ufffe]+$")
# First halves of compounds, which keep their hyphen at a line's end.
KEEPS_HYPHEN = frozenset({
    "all", "anti", "co", "cross", "ex", "half", "high", "inter", "left", "long", "low", "mid", "multi",
    "non", "off", "post", "pre", "pro", "quasi", "right", "semi", "self", "short", "single", "state",
    "sub", "super", "three", "two", "well",
})  # fmt: skip


WORDS_KEPT = 0.3  # of a paragraph's Korean seams: so many that leave room are no chance


def join_lines(lines: Sequence[Line]) -> str:
    """The paragraph as one line of text. Linear in its length."""
    shown = [line for line in lines if line.text.strip()]
    right = max((line.box[2] for line in shown), default=0.0)
    keeps_words = _keeps_words(shown, right)
    parts: list[str] = []
    for above, below in itertools.pairwise(shown):
        at_word = keeps_words or _leaves_room(above, right)
        parts += _seam(above.text.strip(), below.text.strip(), at_word)
    if shown:
        parts.append(SOFT_HYPHEN.sub("-", shown[-1].text.strip()))
    return "".join(parts)


def joined_word(above: str, below: str) -> str | None:
    """Two paragraphs as one where the first ends in a cut word, or None."""
    above, below = above.rstrip(), below.lstrip()
    if not CUT_WORD.search(above[-64:]) or not below[:1].islower():
        return None
    return "".join((*_hyphen_seam(above), below))


def _leaves_room(line: Line, right: float) -> bool:
    """Whether one more syllable would have fitted: syllables are about as wide as the line is high."""
    return right - line.box[2] > 1.2 * (line.box[3] - line.box[1]) > 0


def _keeps_words(lines: Sequence[Line], right: float) -> bool:
    """Whether the paragraph is broken between words only: text broken anywhere leaves no room."""
    seams = [
        a
        for a, b in itertools.pairwise(lines)
        if is_hangul(a.text.strip()[-1]) and is_hangul(b.text.strip()[0])
    ]
    return 0 < WORDS_KEPT * len(seams) <= sum(_leaves_room(line, right) for line in seams)


def _seam(above: str, below: str, at_word: bool) -> tuple[str, str]:
    """The upper line as it stays and what stands between it and the next."""
    if SOFT_HYPHEN.search(above[-4:]):
        whole = SOFT_HYPHEN.sub("", above)
        return (whole, "") if below[0].islower() else (whole + "-", "")
    if below[0].islower() and CUT_WORD.search(above[-64:]):
        return _hyphen_seam(above)
    a, b = above[-1], below[0]
    if is_unspaced(a) and is_unspaced(b):
        return above, ""
    if is_hangul(a) and is_hangul(b):
        return above, " " if _word_boundary(above, below, at_word) else ""
    return above, " "


def _hyphen_seam(above: str) -> tuple[str, str]:
    first = re.split(r"[^\w']", above[-64:-1])[-1].lower()
    return (above, "") if first in KEEPS_HYPHEN else (above[:-1], "")


def _word_boundary(above: str, below: str, at_word: bool) -> bool:
    if at_word:
        return True
    return not TAILS.match(below) and above[-1] in WORD_ENDS
