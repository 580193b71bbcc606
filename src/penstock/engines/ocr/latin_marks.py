"""Writes the marks in a line of Latin letters as Latin type has them.

The recogniser reads Chinese too, and its full-width marks have white in them: it calls a bracket with white
next to it （. In a line without a Chinese or Japanese letter that is a bracket and a space.
"""

from __future__ import annotations

import re

from penstock.scripts import UNSPACED

FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_MARKS = "\uff01-\uff5e"
_MARK = re.compile(f"[{_MARKS}]")
_LETTER_OF_OTHERS = re.compile(f"(?![{_MARKS}])[{UNSPACED}]")
_OPENING = re.compile(r"(?<=[^\s(\[{])\s*([（［｛])\s*")
_CLOSING = re.compile(r"\s*([）］｝，；：！？])\s*(?=\w)")
_TIMES = re.compile(r"(?<=[A-Za-z])×(?![\s\d])|(?<=[a-z])×")
_ROUND_NUMBER = re.compile(r"(?<![a-z])[Oo](?=[.,]\d\d\b)")


def with_latin_marks(text: str) -> str:
    """Returns the line with Latin marks if its letters are Latin, and as it is if not."""
    if text.isascii() and "O" not in text and "o" not in text:
        return text
    if _LETTER_OF_OTHERS.search(text) or not re.search("[A-Za-z]", text):
        return text
    if _MARK.search(text):
        text = _CLOSING.sub(r"\1 ", _OPENING.sub(r" \1", text)).translate(FULL_WIDTH)
    return _ROUND_NUMBER.sub("0", _TIMES.sub("x", text))
