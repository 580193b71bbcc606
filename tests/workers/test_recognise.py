"""A page's way through recognise, with readers that need no weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock.box import Box, Pixels
from penstock.choices import LayerUse
from penstock.engines.ocr.reader import Script
from penstock.errors import BadInput
from penstock.page import Page
from penstock.region import LineBox, Region, TableGrid, TextLayer, TextLine, Word
from penstock.stages.recognise import Recognise
from penstock.workers.recognise import CHUNK_LINES, RecogniseWorker

WORDS = tuple(
    Word(text=text, box=(100 + 60 * n, 100, 150 + 60 * n, 120), size=20.0)
    for n, text in enumerate(("a", "b"))
)
PAGE = Page(
    id="a/00000", uri="a.pdf", document="a.pdf", width=1000, height=1400,
    pixels=np.full((1400, 1000, 3), 255, np.uint8), layer=TextLayer(words=WORDS),
    regions=(Region(label="text", box=(90, 90, 300, 130)), Region(label="text", box=(90, 490, 300, 1000))),
)  # fmt: skip


class Scribe:
    """Finds `boxes` on every picture and reads each as its place; fails on the line at `bad`."""

    def __init__(self, boxes: Sequence[Box], bad: Box | None = None) -> None:
        self.boxes, self.bad, self.looks = boxes, bad, 0

    def find(self, pixels: Pixels, area: Box, as_page: bool) -> list[LineBox]:
        self.looks += 1
        return [LineBox(box) for box in self.boxes]

    def script(self, pixels: Pixels, lines: Sequence[LineBox]) -> Script:
        return "other"

    def read(self, pixels: Pixels, lines: Sequence[LineBox], script: Script) -> list[TextLine]:
        if any(line.box == self.bad for line in lines):
            raise BadInput("this line cannot be read.")
        return [TextLine(f"{line.box[1]:.0f}.", line.box, 0.9) for line in lines]

    def table(self, pixels: Pixels, box: Box) -> TableGrid:
        return TableGrid()

    def formula(self, pixels: Pixels, box: Box) -> None:
        return None

    def close(self) -> None: ...


def recognised(page: Page, scribe: Scribe, text_layer: LayerUse = "auto") -> Page:
    worker = RecogniseWorker(Recognise(text_layer=text_layer, threads=2), scribe)
    [done] = worker([page])
    worker.close()
    return done


def rows(count: int, top: float = 500) -> list[Box]:
    return [(100, top + 30 * n, 290, top + 30 * n + 20) for n in range(count)]


def test_lines_of_all_chunks_come_back_to_their_region_in_order() -> None:
    boxes = rows(CHUNK_LINES + 4)
    [region, other] = recognised(PAGE, Scribe([*boxes, (600, 100, 700, 120)]), "never").regions
    assert [line.box for line in region.lines] == boxes
    assert [line.text for line in other.lines] == ["100."]


def test_a_region_whose_lines_cannot_be_read_fails_alone() -> None:
    near, far = rows(2, top=100), rows(CHUNK_LINES + 4)
    page = replace(PAGE, regions=(replace(PAGE.regions[0], box=(90, 90, 300, 200)), PAGE.regions[1]))
    good, bad = recognised(page, Scribe([*near, *far], bad=far[-1]), "never").regions
    assert good.failure is None and len(good.lines) == 2
    assert bad.failure is not None and "cannot be read" in bad.failure.message and not bad.lines


def test_a_layer_that_must_be_used_is_all_that_is_read() -> None:
    scribe = Scribe(rows(3))
    [region] = recognised(PAGE, scribe, "always").regions
    assert (region.content, region.reader, scribe.looks) == ("a b", "layer", 0)


def test_a_page_without_a_layer_is_searched_once_and_a_line_in_no_region_gets_one() -> None:
    scribe = Scribe([(600, 100, 700, 120)])
    [region] = recognised(replace(PAGE, layer=None), scribe).regions
    assert (region.label, region.native_label, region.content) == ("text", "leftover", "100.")
    assert scribe.looks == 1
