"""Which script a character belongs to."""

from __future__ import annotations

import pytest

from penstock.scripts import (
    has_hangul,
    has_syllable,
    is_hangul,
    is_syllable,
    is_unspaced,
    reads_right_to_left,
)


@pytest.mark.parametrize(
    ("char", "syllable", "hangul"), [("가", 1, 1), ("힣", 1, 1), ("ㄱ", 0, 1), ("a", 0, 0)]
)
def test_syllables_are_hangul_and_single_letters_too(char: str, syllable: bool, hangul: bool) -> None:
    assert is_syllable(char) == has_syllable(f"x{char}") == syllable
    assert is_hangul(char) == has_hangul(f"x{char}") == hangul


def test_no_text_is_of_no_script() -> None:
    assert not (has_syllable("") or has_hangul("") or is_hangul("") or is_unspaced(""))
    assert not reads_right_to_left("")


def test_chinese_and_japanese_are_written_without_spaces_and_korean_with() -> None:
    assert is_unspaced("漢") and is_unspaced("か") and is_unspaced("。")
    assert not is_unspaced("한") and not is_unspaced("a")


def test_most_letters_decide_the_direction_of_reading() -> None:
    assert reads_right_to_left("שלום a")
    assert not reads_right_to_left("a long sentence with one ש")
