"""Tells source code by its type: lines in a font whose letters are all as wide, with their indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from penstock.region import Line, Word

MIN_LINES = 2
MONOSPACED = 0.9  # of the letters; a comment may be set in another font
UNEVEN = 0.06  # of a letter's width: words of one typewriter differ by less
_FONT = re.compile(
    r"mono|courier|consol|typewriter|menlo|fixed|nimbusmon|sourcecode|cmtt|terminal", re.IGNORECASE
)


def is_code(words: Sequence[Word], num_lines: int) -> bool:
    """Whether the words are set in a typewriter's font, on several lines."""
    return num_lines >= MIN_LINES and is_typed(words)


def is_typed(words: Sequence[Word], share: float = MONOSPACED) -> bool:
    """Whether the letters, this share of them at least, are in such a font and all as wide."""
    typed = [word for word in words if _FONT.search(word.font)]
    total, own = (sum(len(word.text) for word in some) for some in (words, typed))
    return own > 0 and own >= share * total and _is_even(typed)


def _is_even(words: Sequence[Word]) -> bool:
    """Whether letters are as wide in one word as in the other, in shares of their size."""
    widths = [(word.box[2] - word.box[0]) / (len(word.text) * (word.size or 1.0)) for word in words]
    usual = median(widths)
    return 2 * sum(abs(width - usual) > UNEVEN * usual for width in widths) <= len(widths)


def code_text(lines: Sequence[Line]) -> str:
    """The lines one under the other, each as far in as the page shows it."""
    widths = [(line.box[2] - line.box[0]) / len(line.text) for line in lines if line.text]
    letter = median(widths) if widths else 0.0
    left = min((line.box[0] for line in lines), default=0.0)
    return "\n".join(
        " " * (round((line.box[0] - left) / letter) if letter else 0) + line.text for line in lines
    )
