"""How regions come by their words and lines: nothing is lost, nothing is in two regions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.box import Box, holds_middle
from penstock.documents.reading.page_reading import Draft
from penstock.documents.reading.regions import neighbours
from penstock.documents.text.text_layer import lines_from
from penstock.page import Page
from penstock.region import LineBox, Region, TextLayer, Word
from tests.documents.reading.steps import areas_to_search, give_lines, give_words, page_of

numbers = st.floats(0, 1000, allow_nan=False, width=32)
boxes = st.tuples(numbers, numbers, numbers, numbers).map(
    lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
)


@given(st.lists(boxes, max_size=30))
def test_neighbours_has_every_word_once(word_boxes: list[Box]) -> None:
    words = [Word(text=str(i), box=box, size=10.0) for i, box in enumerate(word_boxes)]
    found = [word.text for group in neighbours(words) for word in group]
    assert sorted(found, key=int) == [str(i) for i in range(len(words))]


@given(st.lists(boxes, max_size=30), st.lists(boxes, max_size=8))
def test_every_word_is_in_one_draft(word_boxes: list[Box], region_boxes: list[Box]) -> None:
    words = [Word(text=str(i), box=box, size=10.0) for i, box in enumerate(word_boxes)]
    drafts = give_words(page_of(*(Region(label="text", box=box) for box in region_boxes)), words)
    found = [word.text for draft in drafts for word in draft.words]
    assert sorted(found, key=int) == [str(i) for i in range(len(words))]


@given(st.lists(boxes, max_size=30), st.lists(boxes, max_size=8))
def test_every_line_is_in_one_draft(line_boxes: list[Box], region_boxes: list[Box]) -> None:
    lines = [LineBox(box, score=i) for i, box in enumerate(line_boxes)]
    old = [Draft(Region(label="text", box=box)) for box in region_boxes]
    drafts = give_lines(old, lines)
    assert [draft.region for draft in drafts[: len(old)]] == [draft.region for draft in old]
    found = [line.score for draft in drafts for line in draft.lines]
    assert sorted(found) == list(range(len(lines)))


def test_the_word_a_box_leaves_out_at_a_lines_end_goes_back_to_its_line() -> None:
    text = Region(label="text", box=(100, 0, 190, 20))
    inside = [Word(text="추가", box=(100, 0, 140, 20)), Word(text="이상", box=(150, 0, 190, 20))]
    stray, far = Word(text="행위가", box=(203, 0, 263, 20)), Word(text="옆 단", box=(290, 0, 350, 20))
    bullet = Word(text="-", box=(62, 0, 70, 20))
    taken, left = give_words(page_of(text), [*inside, far, stray, bullet])
    assert [line.text for line in lines_from(taken.words)] == ["- 추가 이상 행위가"]
    assert taken.region.box == (62, 0, 263, 20)
    assert left.words == (far,)


def loosely_set(text: str, top: float, space: float) -> list[Word]:
    """A line of words 20 high and 60 wide."""
    return [
        Word(text=word, box=(100 + n * (60 + space), top, 160 + n * (60 + space), top + 20))
        for n, word in enumerate(text.split())
    ]


@pytest.mark.parametrize("space", [8.0, 16.0, 22.0, 30.0])
def test_last_words_of_stretched_lines_are_no_paragraph(space: float) -> None:
    words = loosely_set("we have the right of", 100, space) + loosely_set(
        "way and water here for", 130, space
    )
    narrow = Region(label="text", box=(95, 95, words[3].box[2] + 5, 155))
    drafts = give_words(page_of(narrow), words)
    assert [len(draft.words) for draft in drafts] == [10]


def test_a_word_beyond_a_gutter_is_no_last_word() -> None:
    words = loosely_set("we have the right", 100, 8.0)
    note = Word(text="note", box=(words[-1].box[2] + 30, 100, words[-1].box[2] + 90, 120))
    drafts = give_words(page_of(Region(label="text", box=(95, 95, 400, 125))), [*words, note])
    assert [len(draft.words) for draft in drafts] == [4, 1]


def test_a_word_beside_a_picture_is_none_of_it() -> None:
    picture = Region(label="image", box=(0, 0, 10, 20))
    label, stray = Word(text="a", box=(0, 0, 20, 20)), Word(text="b", box=(35, 0, 45, 20))
    drafts = give_words(page_of(picture), [label, stray])
    assert [draft.words for draft in drafts] == [(label,), (stray,)]
    assert drafts[0].region == picture


def test_only_a_region_with_ink_that_no_word_explains_is_searched() -> None:
    pixels = np.full((1000, 1000, 3), 255, np.uint8)
    for x in range(50, 300, 7):
        pixels[100:120, x : x + 3] = 0  # a line the layer knows
        pixels[500:520, x : x + 3] = 0  # a line of a picture
    word = Word(text="known", box=(50, 98, 300, 122))
    picture = Region(label="image", box=(40, 400, 310, 600))
    page = page_of(Region(label="text", box=(40, 90, 310, 130)), picture)
    layer = TextLayer(words=(word,), pictures=(picture.box,))
    with_layer = Page(id="p", document="p", uri="p", width=1000, height=1000, layer=layer)
    drafts = give_words(page, [word])
    assert areas_to_search(with_layer, drafts, [word], pixels) == [picture.box]
    [left_over] = areas_to_search(with_layer, drafts[:1], [word], pixels)
    assert holds_middle(left_over, picture.box) and left_over[1] > word.box[3] and left_over[3] < 620
    assert areas_to_search(with_layer, drafts, [], pixels) == [(0, 0, 1000, 1000)]


def test_a_page_whose_words_explain_all_ink_is_not_searched_for_a_region_that_has_none_of_them() -> None:
    pixels = np.full((1000, 1000, 3), 255, np.uint8)
    for x in range(50, 300, 7):
        pixels[100:120, x : x + 3] = 0
    word = Word(text="known", box=(50, 98, 300, 122))
    page = page_of(
        Region(label="text", box=(40, 90, 310, 130)), Region(label="table", box=(200, 60, 400, 125))
    )
    assert areas_to_search(page, give_words(page, [word]), [word], pixels) == []


def test_the_page_number_that_dots_lead_to_stays_in_its_row() -> None:
    """A contents page whose box the model cut before the numbers."""
    words = [
        Word(text=text, box=box, size=10.0)
        for row in range(3)
        for text, box in [
            (f"Chapter{row}", (100.0, 100.0 + 20 * row, 200.0, 110.0 + 20 * row)),
            *((".", (x, 107.0 + 20 * row, x + 2, 109.0 + 20 * row)) for x in range(210, 400, 10)),
            (f"{row + 7}", (407.0, 100.0 + 20 * row, 417.0, 110.0 + 20 * row)),
        ]
    ]
    drafts = give_words(page_of(Region(label="text", box=(95.0, 95.0, 395.0, 155.0))), words)
    assert len(drafts) == 1 and len(drafts[0].words) == len(words)
