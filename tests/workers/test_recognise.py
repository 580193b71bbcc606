"""What becomes of a page's words before anything is read: no paragraph ends up inside a picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from penstock.documents.layout.content import without_leaders
from penstock.documents.layout.corrections import is_scan_of_text
from penstock.documents.layout.draft import Draft, give_words
from penstock.documents.layout.relabel import relabelled, with_title
from penstock.page import Page
from penstock.region import Line, Region, TextLayer, Word
from penstock.stages.orient import Orient

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


def test_dots_that_lead_to_a_figure_are_no_cells() -> None:
    words = row(0, "Angola", *["."] * 9, "15 421")
    assert [word.text for word in without_leaders(words)] == ["Angola", "15 421"]
    few = row(0, "a", "...", "b")
    assert without_leaders(few) == few


def test_a_page_printed_sideways_is_turned_with_its_words() -> None:
    upright = [word for n in range(6) for word in row(100 + 40 * n, "words", "that", "stand")]
    # the page turned a quarter to the left: what was right is now on top
    up = tuple(
        Word(text=w.text, box=(w.box[1], 1000 - w.box[2], w.box[3], 1000 - w.box[0]), size=w.size)
        for w in upright
    )
    layer = TextLayer(words=up, strokes=((100, 0, 100, 1000),))
    pixels = np.zeros((1000, 1400, 3), dtype=np.uint8)
    worker = Orient().open()
    [page] = worker(
        [Page(id="a", uri="a", document="a", width=1400, height=1000, pixels=pixels, layer=layer)]
    )
    assert (page.rotation, page.width, page.height) == (90, 1000, 1400)
    assert page.layer is not None
    assert [word.box for word in page.layer.words] == [word.box for word in upright]
    assert page.layer.strokes == ((0, 100, 1000, 100),)


def test_a_line_set_apart_in_the_page_is_no_running_header() -> None:
    lines = [
        Region(label="header", box=(100, 20, 300, 50), content="Penstock"),
        Region(label="header", box=(400, 400, 600, 430), content="Abstract"),
        Region(label="footer", box=(400, 900, 600, 930), content="The end"),
    ]
    assert [region.label for region in relabelled(lines, 1400)] == ["header", "text", "text"]


def test_a_title_that_was_taken_for_a_running_header_is_in_the_markdown() -> None:
    def region(label: str, text: str, height: float, top: float) -> Region:
        line = Line(text=text, box=(100, top, 800, top + height))
        return Region(label=label, box=line.box, content=text, lines=(line,), reader="layer")

    body = region("text", "Tables are everywhere.", 20, 400)
    title = region("header", "TableFormer: Robust Transformer Modeling", 30, 60)
    running = region("header", "Journal of Hydrology 310 (2005)", 21, 60)
    assert [one.label for one in with_title([title, body], 1400)] == ["doc_title", "text"]
    assert [one.label for one in with_title([running, body], 1400)] == ["header", "text"]


def test_a_rotated_page_of_words_reads_in_order(shared_data: Path) -> None:
    import penstock

    file = shared_data / "gnarly_pdfs" / "edgar-rotated90.pdf"
    [page] = penstock.parse(file, pages=1, executor="inline", crops=False)
    assert page.rotation == 270  # its words run down the page
    assert "was King of the English from 959 until his death in 975" in page.markdown
