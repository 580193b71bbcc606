"""Recognises text with a broken encoding, by counting its characters.

PDF fonts often map glyphs to the wrong characters: private-use codes, codes shifted by a constant,
one code page read as another. Such text differs from real text of any language in the characters it
uses and how often.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

from penstock.scripts import is_syllable

BAD_SHARE = 0.05  # of all characters; one in twenty makes a page unreadable
BULLET_SHARE = 0.3  # of all words: lone symbol-font glyphs are bullets unless they are this many
CID_SHARE = 0.05
MOJIBAKE_SHARE = 0.3  # of letters; the most accented European text has 0.1
MIN_SYLLABLES = 20
RARE_SYLLABLES = 0.05  # outside the 2,350 of KS X 1001; plain Korean has under 0.005, random 0.79
RARE_FINALS = 0.15  # of syllables; plain Korean has 0.04, random 0.63
MIN_LETTERS = 80
MIN_LIKELIHOOD = -3.3  # mean log probability a letter; see LETTERS

# Log probabilities are taken from the letter frequencies of English, per mille. English text scores
# -2.9, other European languages -2.9 to -3.1, shifted or random letters -3.5 and lower.
LETTERS = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz",
        (82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1),
        strict=True,
    )
)
# Finals no common ending or root has: all but none, ㄱ ㄴ ㄹ ㅁ ㅂ ㅅ ㅆ ㅇ; by their place among the 28.
COMMON_FINALS = frozenset({0, 1, 4, 8, 16, 17, 19, 20, 21})
LINE_END_HYPHENS = frozenset("\x02\xad\ufffe")  # what PDFium makes of a hyphen at a line's end

_CID = re.compile(r"\(cid:\d+\)")


def encoding_fault(words: Sequence[str]) -> str:
    """Why the words cannot be what the page shows, or "" if nothing speaks against them."""
    counts = Counter("".join(words))
    return (
        _bad_characters(words, counts)
        or _character_ids(words)
        or _mojibake(counts)
        or _broken_hangul(counts)
        or _unlikely_letters(counts)
    )


def _bad_characters(words: Sequence[str], counts: Counter[str]) -> str:
    bad = {c: n for c, n in counts.items() if _is_bad(c)}
    if not bad:
        return ""
    bullets = [w for w in words if len(w) == 1 and w in bad]
    if len(bullets) <= BULLET_SHARE * len(words):
        for bullet in bullets:
            bad[bullet] -= 1
    share = sum(bad.values()) / counts.total()
    return f"{share:.0%} of its characters have no meaning" if share > BAD_SHARE else ""


def _is_bad(char: str) -> bool:
    if char in LINE_END_HYPHENS:
        return False
    return char == "\ufffd" or unicodedata.category(char) in ("Co", "Cc", "Cn", "Cs")


def _character_ids(words: Sequence[str]) -> str:
    text = " ".join(words)
    named = sum(len(m) for m in _CID.findall(text))
    return "it names glyphs instead of characters" if named > CID_SHARE * len(text) else ""


def _mojibake(counts: Counter[str]) -> str:
    letters = sum(n for c, n in counts.items() if c.isalpha())
    accented = sum(n for c, n in counts.items() if "\xa1" <= c <= "\xff")
    if accented < MIN_SYLLABLES or accented <= MOJIBAKE_SHARE * letters:
        return ""
    return "one code page was read as another"


def _broken_hangul(counts: Counter[str]) -> str:
    syllables = {c: n for c, n in counts.items() if is_syllable(c)}
    total = sum(syllables.values())
    if total < MIN_SYLLABLES:
        return ""
    rare = sum(n for c, n in syllables.items() if not _is_common_syllable(c))
    odd = sum(n for c, n in syllables.items() if (ord(c) - 0xAC00) % 28 not in COMMON_FINALS)
    if rare > RARE_SYLLABLES * total:
        return f"{rare / total:.0%} of its Hangul syllables are not in use"
    if odd > RARE_FINALS * total:
        return f"{odd / total:.0%} of its Hangul syllables end in rare consonants"
    return ""


@cache
def _is_common_syllable(char: str) -> bool:
    # the codec writes the 2,350 of the standard as two bytes, the others as a sequence of eight
    return len(char.encode("euc_kr", "replace")) == 2


def _unlikely_letters(counts: Counter[str]) -> str:
    latin: Counter[str] = Counter()
    others = 0
    for char, n in counts.items():
        if char.isascii() and char.isalpha():
            latin[char.lower()] += n
        elif char.isalpha():
            others += n
    total = latin.total()
    if total < MIN_LETTERS or others > total:
        return ""
    mean = sum(n * math.log(LETTERS[c] / 1000) for c, n in latin.items()) / total
    return "its letters are not those of any language" if mean < MIN_LIKELIHOOD else ""
