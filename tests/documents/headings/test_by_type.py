"""Headings by type, on pages whose layout a model is said to have mistaken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.box import Box
from penstock.documents.headings.by_type import corrected_headings
from penstock.page import Page
from penstock.region import Region, TextLayer, Word
from tests.documents.layout.test_rules import HEIGHT, WIDTH, line, paragraph
from tests.documents.reading.steps import give_words

BODY = paragraph(100, 600, 8)


def labels(words: Sequence[Word], *seen: Region) -> list[tuple[str, str]]:
    """Each region's label and first word, top to bottom."""
    layer = TextLayer(words=tuple(words))
    page = Page(
        id="a", document="a", uri="a.pdf", media="pdf", width=WIDTH, height=HEIGHT, layer=layer, regions=seen
    )
    drafts = sorted(give_words(page, layer.words), key=lambda draft: draft.region.box[1])
    return [(draft.region.label, draft.words[0].text) for draft in drafts if draft.words]


def region(label: str, y0: float, y1: float, right: float = 1000) -> Region:
    box: Box = (90, y0, right, y1)
    return Region(label=label, box=box)


def test_a_large_line_that_the_model_called_a_header_is_a_heading() -> None:
    words = line("Mills of the valley", 100, 200, size=34) + BODY
    told = labels(words, region("header", 195, 240), region("text", 590, 800))
    assert told == [("paragraph_title", "Mills"), ("text", "Water")]


def test_a_running_header_in_the_bodys_type_stays_one() -> None:
    words = line("Mills of the valley", 100, 100, bold=True) + BODY
    told = labels(words, region("header", 95, 125), region("text", 590, 800))
    assert told == [("header", "Mills"), ("text", "Water")]


def test_a_bold_line_that_the_model_called_text_is_a_heading() -> None:
    words = line("The first mill", 100, 550, bold=True) + BODY
    told = labels(words, region("text", 545, 575), region("text", 590, 800))
    assert told == [("paragraph_title", "The"), ("text", "Water")]


def test_a_heading_inside_a_text_region_is_cut_out_of_it() -> None:
    words = BODY + line("The second mill", 100, 840, bold=True) + paragraph(100, 890, 4)
    told = labels(words, region("text", 590, 990))
    assert told == [("text", "Water"), ("paragraph_title", "The"), ("text", "Water")]


def test_a_bullet_in_the_bodys_type_is_no_heading_and_an_ornament_of_a_large_line_may_be() -> None:
    for size, label in ((20, "text"), (40, "paragraph_title")):
        words = line("□ Babysitting", 100, 500, size=size) + BODY
        told = labels(words, region("paragraph_title", 495, 545), region("text", 590, 800))
        assert told == [(label, "□"), ("text", "Water")]


def test_a_sentence_in_the_bodys_type_is_no_heading() -> None:
    words = line("the wheel was then turned by hand.", 100, 550) + BODY
    told = labels(words, region("paragraph_title", 545, 575), region("text", 590, 800))
    assert told == [("text", "the"), ("text", "Water")]


def test_where_all_is_bold_bold_tells_nothing() -> None:
    words = line("The first mill", 100, 550, bold=True) + [
        Word(text=w.text, box=w.box, size=w.size, font=w.font, bold=True) for w in BODY
    ]
    told = labels(words, region("text", 545, 575), region("text", 590, 800))
    assert told == [("text", "The"), ("text", "Water")]


def test_a_line_in_the_bodys_type_is_no_heading_whatever_the_model_says() -> None:
    words = line("Color of the wheel", 100, 550) + BODY
    told = labels(words, region("paragraph_title", 545, 575), region("text", 590, 800))
    assert told == [("text", "Color"), ("text", "Water")]


def test_bold_words_that_go_on_in_the_next_line_are_no_heading() -> None:
    item = line("Tell them why it is not in", 100, 550, bold=True)
    item += line("scope,", 100, 574, bold=True) + line("kindly, and close the request.", 180, 574)
    told = labels(item + BODY, region("text", 545, 600), region("text", 601, 800))
    assert {label for label, _ in told} == {"text"}


def test_the_number_of_a_chapter_belongs_to_its_name() -> None:
    words = line("Capitolo 2", 100, 300, size=30) + line("La ruota", 100, 360, size=40) + BODY
    seen = [
        region("paragraph_title", 355, 405),
        region("paragraph_title", 295, 335),
        region("text", 590, 800),
    ]
    assert labels(words, *seen) == [("paragraph_title", "Capitolo"), ("text", "Water")]


def test_authors_whose_names_have_raised_figures_are_no_heading() -> None:
    words = line("Ada Mill", 100, 550, bold=True) + line("1", 190, 548, size=12) + BODY
    told = labels(words, region("text", 545, 575), region("text", 590, 800))
    assert [label for label, _ in told] == ["text", "text"]


def test_ink_tells_bold_in_a_font_that_has_no_name() -> None:
    words = line("The first mill", 100, 550) + BODY
    pixels = np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)
    for word in words:
        x0, y0, x1, _ = (round(side) for side in word.box)
        thick = 6 if word.box[1] < 580 else 3
        pixels[y0 + 5 : y0 + 5 + thick, x0:x1] = 0
    seen = (region("text", 545, 575), region("text", 590, 800))
    pairs = [(seen[0], tuple(words[:3])), (seen[1], tuple(words[3:]))]
    for shown, label in ((pixels, "paragraph_title"), (None, "text")):
        found = corrected_headings(pairs, frozenset(), WIDTH, HEIGHT, shown)
        assert [each.label for each, _ in found] == [label, "text"]


def test_a_heading_that_was_seen_line_by_line_is_one() -> None:
    words = line("Mills of", 100, 500, size=40) + line("the valley", 100, 545, size=40) + BODY
    seen = [
        region("paragraph_title", 495, 540),
        region("paragraph_title", 545, 585),
        region("text", 590, 800),
    ]
    assert labels(words, *seen) == [("paragraph_title", "Mills"), ("text", "Water")]
