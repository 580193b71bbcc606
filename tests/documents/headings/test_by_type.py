"""Headings by type, on pages whose layout a model is said to have mistaken."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.box import Box
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
    words = line("Mills of the valley", 100, 100, size=34) + BODY
    told = labels(words, region("header", 95, 140), region("text", 590, 800))
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
    words = BODY + line("The second mill", 100, 800, bold=True) + paragraph(100, 830, 4)
    told = labels(words, region("text", 590, 930))
    assert told == [("text", "Water"), ("paragraph_title", "The"), ("text", "Water")]


def test_a_bullet_is_never_a_heading() -> None:
    words = line("● Babysitting", 100, 500, size=40) + BODY
    told = labels(words, region("paragraph_title", 495, 545), region("text", 590, 800))
    assert told == [("text", "●"), ("text", "Water")]


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


def test_a_line_in_the_bodys_type_heads_only_if_its_words_say_so() -> None:
    words = line("Color of the wheel", 100, 500) + line("2.1 The wheel", 100, 550) + BODY
    seen = [
        region("paragraph_title", 495, 525),
        region("paragraph_title", 545, 575),
        region("text", 590, 800),
    ]
    assert [label for label, _ in labels(words, *seen)] == ["text", "paragraph_title", "text"]


def test_a_heading_that_was_seen_line_by_line_is_one() -> None:
    words = line("Mills of", 100, 500, size=40) + line("the valley", 100, 545, size=40) + BODY
    seen = [
        region("paragraph_title", 495, 540),
        region("paragraph_title", 545, 585),
        region("text", 590, 800),
    ]
    assert labels(words, *seen) == [("paragraph_title", "Mills"), ("text", "Water")]
