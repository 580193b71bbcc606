"""A page of words whose places are known, set by Pillow, for tests that photograph it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from penstock.box import Box, Pixels

TEXT = (
    "rivers carry water from the hills and every gate that opens sends it down a pipe to the wheel below"
    " where engineers count what arrives and write the figures into a book that nobody reads until autumn"
)
WORDS = TEXT.split()
MARGIN, TOP, LEADING, SIZE = 90, 100, 34, 22


@dataclass(frozen=True)
class KnownPage:
    """The picture, the words as they stand, and the height of each line's middle."""

    pixels: Pixels
    words: tuple[tuple[str, Box], ...]
    lines: tuple[float, ...]


def known_page(width: int = 850, height: int = 1100) -> KnownPage:
    picture = Image.new("RGB", (width, height), (250, 250, 247))
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(SIZE)
    words: list[tuple[str, Box]] = []
    lines, number = [], 0
    for y in range(TOP, height - TOP - LEADING, LEADING):
        x = float(MARGIN)
        lines.append(y + SIZE * 0.6)
        while x + font.getlength(word := WORDS[number % len(WORDS)]) < width - MARGIN:
            pen.text((x, y), word, font=font, fill=(25, 25, 30))
            words.append((word, (x, float(y), x + font.getlength(word), float(y + SIZE))))
            x += font.getlength(word + " ")
            number += 1
    return KnownPage(np.asarray(picture), tuple(words), tuple(lines))
