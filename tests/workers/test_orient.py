"""Pages are turned as their words stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import penstock
from penstock.page import Page
from penstock.region import TextLayer, Word
from penstock.stages.orient import Orient


def row(y: float, *texts: str, left: float = 100.0) -> list[Word]:
    """Words side by side, 20 px high, 100 px apart."""
    return [
        Word(text=text, box=(left + 100 * n, y, left + 100 * n + 90, y + 20), size=20.0)
        for n, text in enumerate(texts)
    ]


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


def test_a_rotated_page_of_words_reads_in_order(shared_data: Path) -> None:
    file = shared_data / "gnarly_pdfs" / "edgar-rotated90.pdf"
    [page] = penstock.parse(file, pages=1, executor="inline", crops=False)
    assert page.rotation == 270  # its words run down the page
    assert "was King of the English from 959 until his death in 975" in page.markdown
