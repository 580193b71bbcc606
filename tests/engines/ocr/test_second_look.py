"""Doubtful lines are read again with soft edges. OpenCV draws the lines, in dots."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.engines.ocr.latin_marks import with_latin_marks
from penstock.engines.ocr.reader import PageReader, Said, is_doubtful
from penstock.region import LineBox

LINES = ("Cashier: Marta Till 4", "Paint roller 25 cm", "Return within 30 days", "Brass hinge pair")
PITCH = 7  # pixels from dot to dot, of letters 60 high


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    engine = PageReader(("en",))
    yield engine
    engine.close()


def in_dots(text: str) -> NDArray[np.uint8]:
    """A line as a needle printer makes it and a scanner sees it: black and white, nothing between."""
    drawn = np.full((120, 60 * len(text) + 80), 255, dtype=np.uint8)
    cv2.putText(drawn, text, (30, 80), cv2.FONT_HERSHEY_SIMPLEX, 2.0, 0, 5, cv2.LINE_AA)
    drawn = drawn[:, : np.flatnonzero((drawn < 128).any(axis=0)).max() + 30]
    dots = np.full_like(drawn, 255)
    for y, x in np.argwhere(drawn < 128):
        if y % PITCH == 0 and x % PITCH == 0:
            cv2.circle(dots, (int(x), int(y)), PITCH // 2, 0, -1)
    small = cv2.resize(dots, None, fx=0.3, fy=0.3, interpolation=cv2.INTER_AREA)
    return np.repeat(np.where(small < 140, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def lost(wanted: str, said: str) -> int:
    return len(set(wanted.split()) - set(said.split()))


def test_a_line_in_dots_is_read_better_when_it_is_looked_at_twice(reader: PageReader) -> None:
    pictures = [in_dots(text) for text in LINES]
    once = [one.text for one in reader.ocr.read_cuts(pictures)]
    twice = [
        reader.read(picture, [LineBox((0, 0, picture.shape[1], picture.shape[0]))], "other")[0].text
        for picture in pictures
    ]
    assert sum(map(lost, LINES, twice)) < sum(map(lost, LINES, once))


@pytest.mark.parametrize("text", ["∂kΠV = 0", "合计 12.50", ""])
def test_mathematics_and_chinese_are_not_softened(text: str) -> None:
    assert not is_doubtful(Said(text, 0.8, "ppocr"), 0.97)
    assert is_doubtful(Said("Subtotal 12.50", 0.8, "ppocr"), 0.97)
    assert not is_doubtful(Said("Subtotal 12.50", 0.99, "ppocr"), 0.97)


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("21/09/2022（Wed）7:05", "21/09/2022 (Wed) 7:05"),
        ("Total：12.50", "Total: 12.50"),
        ("Ta× invoice", "Tax invoice"),
        ("EURO.00", "EUR0.00"),
        ("3 × 4.50", "3 × 4.50"),
        ("Hello.00", "Hello.00"),
        ("合计（元）", "合计（元）"),
        ("（12）", "（12）"),
    ],
)
def test_marks_beside_latin_letters_are_latin(read: str, meant: str) -> None:
    assert with_latin_marks(read) == meant
