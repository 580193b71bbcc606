"""Tells source code by its type: lines in a font whose letters are all as wide, with their indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from penstock.region import Line, Word

MIN_LINES = 2
MONOSPACED = 0.9  # of the letters; a comment may be set in another font
_FONT = re.compile(
    r"mono|courier|consol|typewriter|menlo|fixed|nimbusmon|sourcecode|cmtt|terminal", re.IGNORECASE
)


def is_code(words: Sequence[Word], num_lines: int) -> bool:
    """Whether the words are set in a typewriter's font, on several lines."""
    total = sum(len(word.text) for word in words)
    typed = sum(len(word.text) for word in words if _FONT.search(word.font))
    return num_lines >= MIN_LINES and total > 0 and typed >= MONOSPACED * total


def code_text(lines: Sequence[Line]) -> str:
    """The lines one under the other, each as far in as the page shows it."""
    widths = [(line.box[2] - line.box[0]) / len(line.text) for line in lines if line.text]
    letter = median(widths) if widths else 0.0
    left = min((line.box[0] for line in lines), default=0.0)
    return "\n".join(
        " " * (round((line.box[0] - left) / letter) if letter else 0) + line.text for line in lines
    )
