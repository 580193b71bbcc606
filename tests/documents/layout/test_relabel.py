"""Labels that the text of a region corrects."""

from __future__ import annotations

from penstock.documents.layout.relabel import relabelled, with_title
from penstock.region import Line, Region


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
