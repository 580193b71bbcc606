"""Spaces that the recogniser nearly saw or that the line's picture shows; its output is written by hand."""

from __future__ import annotations

import numpy as np

from penstock.box import Pixels
from penstock.engines.ocr.recognise import HEIGHT, STEP, decoded

CHARSET = np.array(["", *"ab:7文.", " "])


def read(text: str, places: list[int], likely_space: int = -1) -> str:
    """The text with a symbol at each step of `places`, and ink 6 columns to both sides of each."""
    steps = places[-1] + 3
    chances = np.zeros((steps, len(CHARSET)), dtype=np.float32)
    chances[:, 0] = 0.9
    line: Pixels = np.full((HEIGHT, steps * STEP, 3), 255, dtype=np.uint8)
    for symbol, step in zip(text, places, strict=True):
        chances[step, 0], chances[step, list(CHARSET).index(symbol)] = 0.05, 0.95
        middle = step * STEP + STEP // 2
        line[10:38, middle - 6 : middle + 6] = 0
    if likely_space >= 0:
        chances[likely_space, 0], chances[likely_space, -1] = 0.55, 0.4
    return decoded(chances, CHARSET, line).text


def test_letters_that_stand_close_are_one_word() -> None:
    assert read("aba", [1, 3, 5]) == "aba"


def test_white_of_a_third_of_the_line_is_a_space() -> None:
    assert read("ab:77a", [1, 3, 5, 10, 12, 14]) == "ab: 77a"


def test_a_space_that_the_network_nearly_saw_is_one() -> None:
    assert read("ab:77a", [1, 3, 5, 7, 9, 11], likely_space=6) == "ab: 77a"


def test_a_space_nearly_seen_leaves_no_consonant_alone() -> None:
    assert read("a ba a", [1, 3, 5, 7, 9, 11], likely_space=6) == "a ba a"  # as in "not t o blame"
    assert read("a ab a", [1, 3, 5, 7, 9, 11], likely_space=6) == "a ab a"
    assert read("a ba a", [1, 3, 5, 10, 12, 14]) == "a b a a"  # the white is there for all to see


def test_letters_set_apart_are_no_words() -> None:
    assert read("abab", [1, 6, 11, 16]) == "abab"


def test_no_space_in_chinese_nor_in_a_row_of_dots() -> None:
    assert read("文文a文文", [1, 6, 8, 10, 12]) == "文文a文文"
    assert read("ab....", [1, 3, 5, 7, 9, 15]) == "ab...."
