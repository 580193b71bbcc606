"""Where a region's paragraphs begin: rows that end early, marks of lists, rows with amounts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.documents.text.paragraph_breaks import split_paragraphs
from penstock.documents.text.paragraphs import join_lines
from penstock.region import Line

LETTER = 10.0  # wide and twice as high


def rows(*texts: str, left: float = 0.0) -> list[Line]:
    return [
        Line(text=text, box=(left, 30.0 * n, left + LETTER * len(text), 30.0 * n + 20))
        for n, text in enumerate(texts)
    ]


def parts(lines: list[Line]) -> list[str]:
    return [join_lines(part) for part in split_paragraphs(lines)]


def test_a_row_that_left_room_for_the_next_word_ended_its_paragraph() -> None:
    lines = rows(
        "It was a dark and stormy night and the", "rain fell.", "The lamps burned on in every street."
    )
    assert parts(lines) == [
        "It was a dark and stormy night and the rain fell.",
        "The lamps burned on in every street.",
    ]


def test_a_short_chinese_row_before_a_number_is_a_heading() -> None:
    lines = rows("天气及其影响", "(1)含义：是一个地方短时间里阴晴、风雨、冷热等大气状况")
    assert len(split_paragraphs(lines)) == 2


def test_a_ragged_paragraph_stays_whole() -> None:
    lines = rows("a ragged edge comes from words that", "are too long to fit: extraordinarily", "long ones")
    assert len(split_paragraphs(lines)) == 1


def test_a_sentence_that_goes_on_in_small_letters_is_not_cut() -> None:
    assert len(split_paragraphs(rows("Text beside a", "picture that ends in the middle of its row"))) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (
            "- 관리자가 실행한 명령이 아닐 경우 즉시 신고",
            "해야 합니다.",
            "- 공격자는 시스템을 조작합니다. 그리고 더",
        ),
        (
            "• one point that goes on to the edge",
            "and a little more on the next row",
            "• another point at last",
        ),
        (
            "1. one point that goes on to the edge",
            "and a little more on the next row",
            "2. another point it is",
        ),
    ],
)
def test_items_of_a_list_are_paragraphs(lines: tuple[str, str, str]) -> None:
    assert [part[0].text for part in split_paragraphs(rows(*lines))] == [lines[0], lines[2]]


def test_a_number_that_begins_a_row_by_chance_is_no_item() -> None:
    lines = rows(
        "There were more than a hundred and", "12 of them came back from the war on", "3 ships in May"
    )
    assert len(split_paragraphs(lines)) == 1


def test_contents_are_a_row_each() -> None:
    lines = rows("2. 주요 요약 ............................ 4", "2.1. 전체 요약 ......................... 4")
    assert len(split_paragraphs(lines)) == 2


def test_a_receipts_rows_stay_rows() -> None:
    lines = [
        Line(text="TOTAL", box=(0, 0, 50, 20)),
        Line(text="86.00", box=(300, 0, 350, 20)),
        Line(text="CASH", box=(0, 30, 40, 50)),
        Line(text="100.00", box=(290, 30, 350, 50)),
    ]
    assert parts(lines) == ["TOTAL 86.00", "CASH 100.00"]


def test_a_receipt_found_in_pieces_is_read_by_line() -> None:
    """Boxes that an engine draws around pieces of a row nearly touch, so no tab shows."""
    texts = [("Milk", "2", "3.20"), ("Bread and rolls",), ("Tea", "1", "4.10"), ("Thank you",),
             ("Total", "7.30"), ("Cash", "10.00"), ("Change", "2.70")]  # fmt: skip
    lines = [
        Line(text=text, box=(110.0 * k, 30.0 * y, 110.0 * k + 105, 30.0 * y + 25))
        for y, row in enumerate(texts)
        for k, text in enumerate(row)
    ]
    assert parts(lines) == [" ".join(row) for row in texts]


def test_a_centred_row_has_room_on_both_sides() -> None:
    narrow, wide = "TAX NUMBER", "GST-REGISTRATION-NUMBER 000181747712"
    shift = LETTER * (len(wide) - len(narrow)) / 2
    lines = [*rows(narrow, left=shift), *rows(wide, wide)[1:]]
    assert parts(lines) == [narrow, wide]


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=5), st.integers(0, 90), st.integers(0, 90)), max_size=12)
)
def test_no_line_is_lost_or_said_twice(made: list[tuple[str, int, int]]) -> None:
    lines = [Line(text=text, box=(x, y, x + 9.0 * len(text), y + 10.0)) for text, x, y in made]
    said = [line for part in split_paragraphs(lines) for line in part]
    assert said == [line for line in lines if line.text.strip()]


def test_korean_that_is_broken_between_words_keeps_its_spaces() -> None:
    texts = ["산비탈을 따라 내려오는 관 속에서", "곧게 흐르는 물은 높이를", "얻는 대신 힘을 잃는다 그러나"]
    lines = [
        Line(text=text, box=(0, 30.0 * n, right, 30.0 * n + 20))
        for n, (text, right) in enumerate(zip(texts, (330, 240, 330), strict=True))
    ]
    full = Line(text="가장", box=(0, -30, 330, -10))  # a full row, whose end alone says nothing
    assert join_lines([full, *lines]).startswith("가장 산비탈을")


def justified(*texts: str) -> list[Line]:
    """All rows from edge to edge but the last, whose spaces are as the font has them."""
    last = 20 * len(texts[-1]) - 14 * texts[-1].count(" ")
    rights = [640] * (len(texts) - 1) + [last]
    return [
        Line(text=text, box=(0, 30.0 * n, right, 30.0 * n + 24))
        for n, (text, right) in enumerate(zip(texts, rights, strict=True))
    ]


def test_justified_korean_whose_spaces_are_stretched_was_broken_between_words() -> None:
    rows = (
        "강철관이다. 이것은 산비탈을 따라",
        "곧게 내려오는 이 관 속에서 물은 높이를",
        "잃는 대신 힘을 얻으며 언제나 가장",
        "좁은 한 곳에서 기다린다.",
    )
    assert join_lines(justified(*rows)) == " ".join(rows)


def test_justified_korean_whose_rows_are_equally_full_was_broken_anywhere() -> None:
    rows = (
        "보험상품의 약관에는 아직 상기 사항이 반영되지 않은 상",
        "황이지만 재해분류표가 개정될 경우 보험사고 발생 당시 시",
        "행된 약관을 적용합니다. 그러나 고객에게 불리하게 해석되",
        "어서는 안 된다.",
    )
    joined = "".join(rows)
    assert join_lines(justified(*rows)) == joined
