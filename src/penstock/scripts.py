"""Which script a character belongs to: Hangul, scripts without spaces, scripts from right to left.

Ranges are text for a regular expression's brackets, so that others can build patterns from them.
"""

from __future__ import annotations

import re

SYLLABLES = "\uac00-\ud7a3"  # Hangul as it is written today: 가 to 힣
HANGUL = f"\u1100-\u11ff\u3130-\u318f{SYLLABLES}"  # and its single letters
# Scripts written without spaces between words: Han, kana, bopomofo, and their full-width marks.
UNSPACED = (
    "\u2e80-\u2fdf\u3001-\u312f\u3190-\u31ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese, Khmer: spaces part sentences, and a line ends between two words without one.
SPACED_BY_SENTENCE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"

SYLLABLE = re.compile(f"[{SYLLABLES}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WITHOUT_WORD_SPACES = re.compile(f"[{UNSPACED}{SPACED_BY_SENTENCE}]")
_RIGHT_TO_LEFT = re.compile(f"[{RIGHT_TO_LEFT}]")
_LETTER = re.compile(r"[^\W\d_]")


def is_syllable(char: str) -> bool:
    return "가" <= char <= "힣"


def has_syllable(text: str) -> bool:
    """Whether a word or more of the text is Korean."""
    return SYLLABLE.search(text) is not None


def is_hangul(char: str) -> bool:
    """Whether the character is a syllable or a single letter of Hangul."""
    return _HANGUL.match(char) is not None


def has_hangul(text: str) -> bool:
    """Whether the text holds a syllable or a single letter of Hangul."""
    return _HANGUL.search(text) is not None


def is_unspaced(char: str) -> bool:
    return _UNSPACED.match(char) is not None


def has_no_word_spaces(char: str) -> bool:
    """Whether lines that meet at such a character are joined without a space."""
    return _WITHOUT_WORD_SPACES.match(char) is not None


def is_mostly_korean(text: str, part: float) -> bool:
    """Whether at least `part` of the text's letters are Hangul: Korean pages hold many Latin names."""
    return len(_HANGUL.findall(text)) >= max(1.0, part * len(_LETTER.findall(text)))


def reads_right_to_left(text: str) -> bool:
    """Whether most letters are of a script that runs from right to left."""
    if text.isascii():
        return False
    found = len(_RIGHT_TO_LEFT.findall(text))
    return found > 0 and 2 * found > len(_LETTER.findall(text))
