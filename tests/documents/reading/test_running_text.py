"""Which pictures are running text: no paragraph ends up inside a picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penstock.box import Box
from penstock.documents.reading.page_reading import Draft
from penstock.documents.reading.running_text import is_scan_of_text, without_running_text
from penstock.page import Page
from penstock.region import Region, TextLayer, Word
from tests.documents.reading.steps import give_words

PAGE = Page(id="a/00000", uri="a.pdf", document="a.pdf", width=1000, height=1400)


def row(y: float, *texts: str, left: float = 100.0) -> list[Word]:
    """Words side by side, 20 px high, 100 px apart."""
    return [
        Word(text=text, box=(left + 100 * n, y, left + 100 * n + 90, y + 20), size=20.0)
        for n, text in enumerate(texts)
    ]


def test_a_scan_whose_layer_tells_its_text_is_no_picture() -> None:
    scan = Region(label="image", box=(50, 50, 950, 1350))
    text = [word for n in range(12) for word in row(100 + 40 * n, *["running"] * 8)]
    chart = [word for n in range(12) for word in row(100 + 40 * n, f"{n}.0", "bar")]
    assert is_scan_of_text(scan, text, PAGE)
    assert not is_scan_of_text(scan, chart, PAGE)
    assert not is_scan_of_text(Region(label="table", box=scan.box), text, PAGE)


def test_sentences_in_a_picture_are_read_and_a_diagrams_words_stay() -> None:
    slide = Region(label="image", box=(50, 50, 950, 400))
    sentences = [word for n in range(4) for word in row(100 + 40 * n, *["students", "share", "food"] * 2)]
    dots = [word for n in range(14) for word in row(100 + 20 * n, *["⬤"] * 8)]
    axis = row(300, "0", "20", "40", "60", "80", "100")
    page = replace(PAGE, regions=(slide,))
    picture, *texts = give_words(page, sentences)
    assert picture == Draft(slide)
    assert [word for draft in texts for word in draft.words] == sentences
    for words in (dots, axis):
        assert give_words(page, words) == [Draft(slide, tuple(words))]
        assert not is_scan_of_text(slide, words, PAGE)


def test_headings_with_a_rule_under_each_are_no_table() -> None:
    table = Region(label="table", box=(50, 50, 950, 700))
    words = [word for n in range(5) for word in row(100 + 100 * n, "the", "first", "mill")]
    [draft] = give_words(replace(PAGE, regions=(table,)), words)
    assert draft.region.label == "text"
    cells = [
        word for n in range(5) for word in row(100 + 100 * n, "mill") + row(100 + 100 * n, "7", left=700)
    ]
    assert [one.region.label for one in give_words(replace(PAGE, regions=(table,)), cells)] == ["table"]


def test_columns_of_full_lines_are_no_table_and_each_is_a_text() -> None:
    table = Region(label="table", box=(50, 50, 950, 1350))
    lines = [row(100 + 30 * n, *["wheel"] * 4, left=left) for n in range(20) for left in (100, 540)]
    drafts = give_words(replace(PAGE, regions=(table,)), [word for line in lines for word in line])
    assert [draft.region.label for draft in drafts] == ["text", "text"]
    assert [len(draft.words) for draft in drafts] == [80, 80]


def test_a_receipt_on_a_table_is_no_picture_and_a_diagram_is() -> None:
    receipt = Region(label="image", box=(300, 200, 600, 1200))
    lines = [(310.0, 210.0 + 40 * n, 590.0, 240.0 + 40 * n) for n in range(24)]
    words = [(310.0, 210.0 + 40 * n, 360.0, 230.0 + 40 * n) for n in range(24)]
    assert without_running_text(receipt, lines, PAGE) == []
    assert without_running_text(receipt, words, PAGE) == [receipt]
    elsewhere = [(50.0, 1250.0 + n, 950.0, 1251.0 + n) for n in range(12)]
    assert without_running_text(receipt, lines + elsewhere, PAGE) == [receipt]


def framed(words: list[Word], strokes: tuple[Box, ...] = (), blot: Box | None = None) -> Page:
    """A page with words in a grey frame, drawn as the layer says: words as dark bars, strokes as lines."""
    pixels = np.full((1400, 1000, 3), 255, dtype=np.uint8)
    edges = ((200.0, 300.0, 800.0, 302.0), (200.0, 500.0, 800.0, 502.0), (798.0, 300.0, 800.0, 502.0))
    for x0, y0, x1, y1 in (*(word.box for word in words), *edges, *strokes, *([blot] if blot else [])):
        stripes = np.arange(round(x0), round(x1)) % 8 * 30
        pixels[round(y0) : round(y1), round(x0) : round(x1)] = stripes[:, None]
    layer = TextLayer(words=tuple(words), strokes=(*edges, *strokes))
    picture = Region(label="image", box=(210.0, 295.0, 815.0, 510.0))
    return replace(PAGE, pixels=pixels, layer=layer, regions=(picture,))


COMMAND = [*row(340, "make", "the", "tea", left=240.0), *row(400, "then", "drink", "it", left=240.0)]


def test_a_command_in_a_frame_is_text() -> None:
    [draft] = give_words(framed(COMMAND), COMMAND)
    assert (draft.region.label, list(draft.words)) == ("text", COMMAND)


@pytest.mark.parametrize(
    ("words", "strokes", "blot"),
    [
        (COMMAND, ((230.0, 380.0, 560.0, 382.0),), None),  # boxes of a diagram, one above the other
        (COMMAND, (), (600.0, 320.0, 780.0, 480.0)),  # a drawing beside the words
        ([*COMMAND, *row(340, "aside", left=660.0)], (), None),  # words side by side
        (COMMAND[:2], (), None),  # a button
    ],
)
def test_a_diagram_stays_a_picture(words: list[Word], strokes: tuple[Box, ...], blot: Box | None) -> None:
    [draft] = give_words(framed(words, strokes, blot), words)
    assert draft.region.label == "image"
