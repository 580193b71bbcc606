"""Spaces where lines of Korean are joined. The sentences were written for this test, nothing fits them."""

from __future__ import annotations

import pytest

from penstock.documents.text.korean_spacing import log_odds

SENTENCES = (
    "우리 할머니는 아침마다 마당을 쓸고 나서 따뜻한 보리차를 끓이셨다",
    "도서관 문이 닫히기 전에 빌린 책을 모두 돌려주어야 한다",
    "강을 따라 걷다 보면 오래된 다리와 작은 찻집이 나온다",
    "비가 많이 내리면 수위와 유량이 함께 오르므로 수문을 천천히 연다",
    "회의가 끝난 뒤에 담당자는 결과를 정리하여 모든 직원에게 보냈다",
    "이 약은 하루에 세 번 식사를 마치고 물과 함께 먹는 것이 좋다",
    "새로 지은 역에는 승강기가 없어서 짐이 많은 사람은 불편해한다",
)
MIN_RIGHT = 0.9  # of all gaps; a rule by particles alone is right in 0.8


def gaps(sentence: str) -> list[tuple[str, str, bool]]:
    ends = [place for place in range(4, len(sentence) - 4) if sentence[place - 1] != " "]
    return [(sentence[:end], sentence[end:].lstrip(), sentence[end] == " ") for end in ends]


def test_most_gaps_of_sentences_never_seen_are_spaced_right() -> None:
    right = [(log_odds(a, b) > 0) == spaced for sentence in SENTENCES for a, b, spaced in gaps(sentence)]
    assert sum(right) / len(right) >= MIN_RIGHT


@pytest.mark.parametrize(
    ("above", "below", "spaced"),
    [
        ("수위와 유량이 함께", "오르므로 수문을", True),
        ("수위와 유량이 함", "께 오르므로 수문을", False),
        ("모두 2024", "년에 세웠다", False),
        ("값을 정", "한다", False),
        ("값을 정한 다음", "다시 잰다", True),
    ],
)
def test_a_line_ends_between_words_or_inside_one(above: str, below: str, spaced: bool) -> None:
    assert (log_odds(above, below) > 0) == spaced
