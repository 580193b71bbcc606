"""What the reader of Korean lines can write: signs one by one, and syllables as pairs and final consonants.

A syllable of Hangul is an initial consonant (19), a vowel (21) and a final consonant or none (28): 11,172 in
all. The network names the first two together (399 pairs) and the third by itself, so that a syllable
that was hardly ever seen is read by what it shares with others. Class 0 is CTC's blank, then the signs,
then the syllables in Unicode's order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

FIRST_SYLLABLE, NUM_SYLLABLES = 0xAC00, 11172
NUM_PAIRS, NUM_FINALS = 399, 28
UNKNOWN = "\ufffd"  # a sign that is none of ours: Chinese characters, kana and pictures

_ASCII = "".join(map(chr, range(0x20, 0x7F)))
_JAMO = "".join(map(chr, range(0x3131, 0x3164)))
_ACCENTED = "ÀÁÄÇÈÉËÍÑÓÖØÜßàáâãäåæçèéêëíîïñóôöøúûü"
_GREEK = "αβγδεθλμπρστφωΔΣΩ"
_MARKS = "·•‧…‥–—―‘’“”′″※†‡§¶©®™°±×÷½¼¾²³¹ªº«»¡¿€£¥₩¢℃℉‰№℡"
_BRACKETS = "「」『』《》〈〉【】〔〕、。〃～〜"
_SHAPES = "○●◎◯◇◆□■△▲▽▼☆★◀▶◁▷▪▫◦☎☞✓✔♥♡♠♣♪"
_ARROWS = "←↑→↓↔⇒⇔∴∵≤≥≠≒≈≡∞√∑∫∂∈∩∪"
_NUMBERED = "".join(map(chr, (*range(0x2460, 0x2474), *range(0x3260, 0x326E), *range(0x2160, 0x216A))))
_UNITS = "㎎㎏㎜㎝㎞㎡㎥㏄ℓ㈜㉠㉡㉢㉣㉤"


# signs that look alike and are one to a reader; the right one of each two is what it writes
ALIKE = str.maketrans(
    {
        "\u00a0": " ",
        "\u3000": " ",
        "\u2219": "·",
        "\u22c5": "·",
        "\u30fb": "·",
        "\u318d": "·",
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "–",
        "\u2212": "-",
        "\u2015": "—",
        "\u223c": "~",
        "\u02dc": "~",
        "\uff5e": "~",
        "〜": "~",
        "\u00b5": "μ",
        "\u03bc": "μ",
        "\u2126": "Ω",
        "\u2206": "Δ",
        "\u2025": "…",
        "\u2022": "•",
        "\u2027": "·",
        "\u20a9": "₩",
        "◯": "○",
    }
)
_ALL = "".join(
    (UNKNOWN, _ASCII, _JAMO, _ACCENTED, _GREEK, _MARKS, _BRACKETS, _SHAPES, _ARROWS, _NUMBERED, _UNITS)
)
_FULL_WIDTH = {0xFF01 + at: chr(0x21 + at) for at in range(94)}
SIGNS = list(dict.fromkeys(_ALL.translate(ALIKE)))
BLANK = 0
FIRST_SYLLABLE_CLASS = 1 + len(SIGNS)
SYLLABLE_KIND = 1 + len(SIGNS)  # of the head that tells blank, signs and "some syllable"
NUM_KINDS = 2 + len(SIGNS)
CLASS_OF_SIGN = {sign: number + 1 for number, sign in enumerate(SIGNS)}


def is_syllable(sign: str) -> bool:
    return FIRST_SYLLABLE <= ord(sign) < FIRST_SYLLABLE + NUM_SYLLABLES


def written(text: str) -> str:
    """The text as the reader would write it: composed, of its own signs, one space between words."""
    plain = unicodedata.normalize("NFC", text).translate(_FULL_WIDTH).translate(ALIKE)
    known = (sign if is_syllable(sign) or sign in CLASS_OF_SIGN else UNKNOWN for sign in plain)
    return " ".join("".join(known).split())


def classes_of(text: str) -> list[int]:
    """The classes of a text that `written` gave."""
    return [
        ord(sign) - FIRST_SYLLABLE + FIRST_SYLLABLE_CLASS if is_syllable(sign) else CLASS_OF_SIGN[sign]
        for sign in text
    ]


def text_of(classes: Iterable[int]) -> str:
    return "".join(
        chr(number - FIRST_SYLLABLE_CLASS + FIRST_SYLLABLE)
        if number >= FIRST_SYLLABLE_CLASS
        else SIGNS[number - 1]
        for number in classes
        if number != BLANK
    )
