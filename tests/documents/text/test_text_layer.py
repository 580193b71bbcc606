"""What a text layer is trusted with, and how its words become lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.box import Box
from penstock.documents.text.paragraphs import join_lines
from penstock.documents.text.text_layer import (
    COVERED,
    assign,
    coverage,
    distribute,
    layer_doubt,
    lines_from,
    lines_not_in_layer,
)
from penstock.region import Line, TextLayer, Word

ENGLISH = (
    "The committee met in the town hall to discuss the plan for the river bridge and heard from engineers "
    "who had measured the flow of water over three winters before they agreed on the height of its piers"
)
KOREAN = (
    "위원회는 다리 건설 계획을 논의하기 위해 시청에서 모였으며 세 번의 겨울 동안 "
    "강물의 흐름을 측정한 기술자들의 보고를 들은 뒤에 교각의 높이를 정하는 데 뜻을 모았다"
)


def words_of(text: str, size: float = 20.0, x: float = 100.0, y: float = 100.0) -> list[Word]:
    """Words on one line, set with spaces of a third of the size."""
    words = []
    for part in text.split():
        width = sum(size if ord(c) > 0x1100 else size / 2 for c in part)
        words.append(Word(text=part, box=(x, y, x + width, y + size), size=size))
        x += width + size / 3
    return words


def layer_of(text: str) -> TextLayer:
    return TextLayer(words=tuple(words_of(text)))


@pytest.mark.parametrize("text", [ENGLISH, KOREAN])
def test_plain_text_is_trusted(text: str) -> None:
    assert not layer_doubt(layer_of(text))


def test_a_page_without_words_is_not_trusted_and_says_so() -> None:
    assert layer_doubt(TextLayer()) == "no text layer"


@pytest.mark.parametrize("shift", [-29, 3, 4, 13])
def test_shifted_latin_letters_are_garbled(shift: int) -> None:
    shifted = "".join(chr(ord(c) + shift) if c.isalpha() else c for c in ENGLISH)
    assert layer_doubt(layer_of(shifted))


@pytest.mark.parametrize("shift", [7, 1001, -560])
def test_shifted_hangul_is_garbled(shift: int) -> None:
    shifted = "".join(
        chr(0xAC00 + (ord(c) - 0xAC00 + shift) % 11172) if "가" <= c <= "힣" else c for c in KOREAN
    )
    assert layer_doubt(layer_of(shifted))


def test_hangul_read_as_latin_is_garbled() -> None:
    assert layer_doubt(layer_of(KOREAN.encode("cp949").decode("latin-1")))


@pytest.mark.parametrize("noise", ["\ue123\ue124\ue125", "\ufffd\ufffd", "(cid:12)(cid:7)", "\x03\x04\x05"])
def test_codes_without_meaning_are_garbled(noise: str) -> None:
    assert layer_doubt(layer_of(f"{ENGLISH[:60]} {noise} {noise} {noise}"))


def test_bullets_of_a_symbol_font_are_not_garbling() -> None:
    items = [Word(text="\uf0b7", box=(0, 20.0 * i, 10, 20.0 * i + 10), size=10.0) for i in range(5)]
    assert not layer_doubt(TextLayer(words=(*items, *words_of(ENGLISH))))


def test_garbled_hangul_of_a_real_page_is_found(shared_data: Path) -> None:
    pdf = shared_data / "docling_tests" / "pdf" / "sources" / "skipped_1page.pdf"
    assert "Hangul" in layer_doubt(_real_layer(pdf, 1))
    assert not layer_doubt(_real_layer(pdf, 2))


def _real_layer(pdf: Path, index: int) -> TextLayer:
    from penstock.engines.pdf.file import PdfFile

    with PdfFile(str(pdf)) as file:
        return file.layer(index, file.size(index, dpi=144, max_side=3500))


def test_spaces_stand_where_the_page_shows_them() -> None:
    pieces = [
        Word(text="Debconf9", box=(0, 0, 80, 20), size=20.0),
        Word(text="가", box=(81, 0, 101, 20), size=20.0),
        Word(text="열렸다", box=(108, 0, 168, 20), size=20.0),
    ]
    assert [line.text for line in lines_from(pieces)] == ["Debconf9가 열렸다"]


def test_chinese_words_get_no_space() -> None:
    pieces = [
        Word(text="你好", box=(0, 0, 40, 20), size=20.0),
        Word(text="世界", box=(44, 0, 84, 20), size=20.0),
    ]
    assert lines_from(pieces)[0].text == "你好世界"


def test_a_word_printed_twice_to_look_bold_is_said_once() -> None:
    twice = [
        Word(text="제목", box=(0, 0, 40, 20), size=20.0),
        Word(text="제목", box=(1, 0, 41, 20), size=20.0),
    ]
    assert lines_from(twice)[0].text == "제목"


def test_right_to_left_lines_read_from_the_right() -> None:
    words = [Word(text=t, box=(x, 0, x + 40, 20), size=20.0) for t, x in (("עולם", 0.0), ("שלום", 50.0))]
    assert lines_from(words)[0].text == "שלום עולם"


def test_sideways_words_make_one_line_up_the_page() -> None:
    words = [Word(text=f"word{i}", box=(10, 300 - 60 * i, 22, 350 - 60 * i), size=12.0) for i in range(4)]
    assert [line.text for line in lines_from(words)] == ["word0 word1 word2 word3"]


numbers = st.floats(0, 1000, allow_nan=False, width=32)
boxes = st.tuples(numbers, numbers, numbers, numbers).map(
    lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
)


@given(st.lists(boxes, max_size=30), st.lists(boxes, max_size=8))
def test_distribute_neither_loses_nor_doubles_a_word(word_boxes: list[Box], region_boxes: list[Box]) -> None:
    words = [Word(text=str(i), box=box) for i, box in enumerate(word_boxes)]
    given_words, left = distribute(words, region_boxes)
    seen = [w.text for group in given_words for w in group] + [w.text for w in left]
    assert sorted(seen, key=int) == [str(i) for i in range(len(words))]


def test_a_word_in_two_boxes_goes_to_the_smaller() -> None:
    assert assign([(10, 10, 20, 20)], [(0, 0, 500, 500), (5, 5, 30, 30)]) == [1]


def test_a_word_in_no_box_has_no_owner() -> None:
    assert assign([(10, 10, 20, 20), (700, 10, 720, 20)], [(0, 0, 500, 500)]) == [0, None]
    assert assign([(10, 10, 20, 20)], []) == [None]


def test_ink_under_words_is_covered_and_other_ink_is_not() -> None:
    pixels = np.full((400, 600, 3), 255, np.uint8)
    for x in range(50, 300, 7):
        pixels[100:120, x : x + 3] = 0  # a line the layer knows
        pixels[200:220, x : x + 3] = 0  # a line it does not
    known = [Word(text="known", box=(50, 98, 300, 122))]
    assert coverage(known, pixels, (40, 90, 310, 130)) >= COVERED
    assert coverage(known, pixels, (40, 90, 310, 230)) < COVERED


def test_lines_the_layer_has_are_not_said_again() -> None:
    words = words_of("이미 있는 줄", y=100)
    lines = [Line(text="이미 있는 줄", box=(100, 98, 240, 122)), Line(text="새 줄", box=(100, 140, 200, 160))]
    assert [line.text for line in lines_not_in_layer(lines, words)] == ["새 줄"]


def test_a_lone_figure_in_the_wide_box_a_detector_draws_is_not_said_again() -> None:
    word = Word(text="1", box=(188, 1145, 200, 1170))  # as on page 3 of the Korean report
    assert lines_not_in_layer([Line(text="1", box=(181, 1140, 212, 1176))], [word]) == []


def test_pictures_with_a_scrap_of_layer_are_not_covered(shared_data: Path) -> None:
    from penstock.engines.pdf.file import PdfFile

    path = next((shared_data / "korean_pdf").glob("*.pdf"))
    with PdfFile(str(path)) as file:
        shares = []
        for index in (2, 4, 5, 6):
            size = file.size(index, dpi=144, max_side=3500)
            layer, pixels = file.layer(index, size), file.render(index, size)
            page = (0.0, 0.0, float(size.width), float(size.height))
            shares.append(coverage(layer.words, pixels, page, layer.strokes))
    assert shares[0] > 0.9
    assert max(shares[1:]) < 0.3


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("transfor-", "mation", "transformation"),
        ("well-", "known", "well-known"),
        ("소프트웨어는", "자유롭다", "소프트웨어는 자유롭다"),
        ("자원봉사단체이", "다. 현재", "자원봉사단체이다. 현재"),
        ("프로젝", "트의 산물", "프로젝트의 산물"),
        ("산출할 수", "없으므로", "산출할 수 없으므로"),
        ("고객보호의 측면", "에서 약관", "고객보호의 측면에서 약관"),
        ("코로나-19", "를 재해로", "코로나-19를 재해로"),
        ("이 Penstock", "은 관이다", "이 Penstock은 관이다"),
        ("흐르는 물은", "Penstock", "흐르는 물은 Penstock"),
        ("自由", "软件", "自由软件"),
        ("half a", "line", "half a line"),
    ],
)
def test_full_lines_are_joined_by_their_script(above: str, below: str, joined: str) -> None:
    lines = [Line(text=above, box=(0, 0, 500, 20)), Line(text=below, box=(0, 24, 500, 44))]
    assert join_lines(lines) == joined


def test_a_korean_line_that_leaves_room_ended_at_a_word() -> None:
    lines = [Line(text="프로젝", box=(0, 0, 400, 20)), Line(text="트의 산물", box=(0, 24, 500, 44))]
    assert join_lines(lines) == "프로젝 트의 산물"


def test_two_headers_printed_over_each_other_are_two_texts() -> None:
    report = words_of("Annual report of the water company")
    draft = words_of("DRAFT FOR INTERNAL REVIEW", x=115, y=102)
    assert [line.text for line in lines_from([*report, *draft])] == [
        "Annual report of the water company",
        "DRAFT FOR INTERNAL REVIEW",
    ]
