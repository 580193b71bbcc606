"""Which script a character belongs to, as far as spaces and joins depend on it."""

from __future__ import annotations

import re

HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
# Scripts written without spaces between words: Han, kana, bopomofo, and their full-width marks.
UNSPACED = (
    "\u2e80-\u2fdf\u3001-\u312f\u3190-\u31ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
)
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"

_HANGUL = re.compile(f"[{HANGUL}]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_RIGHT_TO_LEFT = re.compile(f"[{RIGHT_TO_LEFT}]")
_LETTER = re.compile(r"[^\W\d_]")


def is_hangul(char: str) -> bool:
    return _HANGUL.match(char) is not None


def is_unspaced(char: str) -> bool:
    return _UNSPACED.match(char) is not None


def reads_right_to_left(text: str) -> bool:
    """Whether most letters are of a script that runs from right to left."""
    if text.isascii():
        return False
    found = len(_RIGHT_TO_LEFT.findall(text))
    return found > 0 and 2 * found > len(_LETTER.findall(text))
