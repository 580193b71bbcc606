"""Two texts of one document, letter by letter."""

from __future__ import annotations

import numpy as np

from penstock.documents.text.alignment import aligned, letters_of


def pairs(left: str, right: str) -> list[tuple[str, str]]:
    mine, yours = (letters_of(text) for text in (left, right))
    found = aligned(np.array(mine[0], np.int64), np.array(yours[0], np.int64))
    return [(left[mine[1][a]], right[yours[1][b]]) for a, b in enumerate(found.tolist()) if b >= 0]


def test_spaces_case_width_and_bullets_make_no_difference() -> None:
    assert "".join(one for one, _ in pairs("• Ａ note", "\uf0b7 a no te")) == "•Ａnote"


def test_a_difference_in_one_place_moves_nothing_elsewhere() -> None:
    text = " ".join(f"word{number} of a long text" for number in range(300))
    other = text.replace("word150 of a", "something else in place of this")
    found = pairs(text, other)
    assert len(found) > 0.99 * len("".join(text.split())) - 12
    assert all(one == two for one, two in found)


def test_what_repeats_is_aligned_between_what_does_not() -> None:
    row = "yes no yes no "
    left = f"first {row * 4}second {row * 4}third"
    right = f"first {row * 4}page 1 second {row * 4}third"
    assert len(pairs(left, right)) == len("".join(left.split()))


def test_texts_with_nothing_in_common_have_no_pairs() -> None:
    assert pairs("가나다라마바사", "abcdefg") == []
    assert pairs("", "abc") == []
