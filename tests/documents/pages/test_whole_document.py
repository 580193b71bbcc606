"""Running titles and heading levels, which only a whole document shows. Its pages are made here."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.formats.markdown import page_markdown
from penstock.documents.pages.whole_document import WholeDocument
from penstock.page import Page
from penstock.region import Line, Region


def region(label: str, text: str, y: float, index: int, size: float = 20.0) -> Region:
    box = (100.0, y, 900.0, y + size)
    line = Line(text=text, box=box)
    return Region(label=label, box=box, index=index, content=text, lines=(line,), reader="layer")


def page(number: int, *regions: Region) -> Page:
    return Page(
        id=f"a/{number:05d}", document="a.pdf", uri="a.pdf", part=number, width=1000, height=1400,
        regions=regions, markdown=page_markdown(regions),
    )  # fmt: skip


def pages_with_running_title(count: int) -> list[Page]:
    return [
        page(
            n,
            region("paragraph_title", f"Mills of the valley {n + 12}", 60, 0),
            region("text", f"On page {n} the wheel turns.", 300, 1),
            region("text", f"Milling Press, part {n}", 1350, 2),
        )
        for n in range(count)
    ]


def test_what_pages_repeat_at_their_edges_leaves_the_markdown() -> None:
    pages = pages_with_running_title(4)
    whole = WholeDocument.of(pages)
    assert [whole.markdown(p) for p in pages] == [f"On page {n} the wheel turns." for n in range(4)]
    assert [r.label for r in whole.corrected(pages[0]).regions] == ["header", "text", "footer"]


READINGS = (
    "THE MILLS OF THE VALLEY 12", "13 THE MlLLS OFTHE VALLEY", "THE MILLS OF THE VALLFY 14",
    "15 THE M1LLS OF THE VALLEY", "THE MILLS 0F THE VALLEY. 16", "17 THE MILIS OF THE VALLEY",
)  # fmt: skip


def test_a_running_title_that_ocr_misreads_on_each_page_is_found() -> None:
    read = [replace(region("text", text, 60, 0), reader="ppocr") for text in READINGS]
    pages = [page(n, head, region("text", "The wheel turns.", 300, 1)) for n, head in enumerate(read)]
    whole = WholeDocument.of(pages)
    assert [whole.markdown(p) for p in pages] == ["The wheel turns."] * len(READINGS)


def test_headings_of_a_layer_that_look_alike_stay() -> None:
    names = ("The mill at Wiesen", "The mill at Wiesau", "The mill at Wiesens", "The mill at Wieses")
    pages = [page(n, region("paragraph_title", name, 60, 0)) for n, name in enumerate(names)]
    whole = WholeDocument.of(pages)
    assert [whole.markdown(p) for p in pages] == [f"## {name}" for name in names]


def test_two_pages_that_share_a_heading_keep_it() -> None:
    pages = pages_with_running_title(2)
    whole = WholeDocument.of(pages)
    assert "## Mills of the valley 12" in whole.markdown(pages[0])


def test_the_same_words_inside_the_page_stay() -> None:
    pages = [page(n, region("text", "See the table.", 600, 0)) for n in range(5)]
    whole = WholeDocument.of(pages)
    assert whole.markdown(pages[4]) == "See the table."


def test_a_title_in_large_type_elsewhere_is_no_running_title() -> None:
    title = page(0, region("doc_title", "Mills of the valley", 180, 0, size=44))
    pages = [title, *pages_with_running_title(4)[1:]]
    assert WholeDocument.of(pages).markdown(title) == "# Mills of the valley"


def test_headings_without_a_number_stand_by_their_size() -> None:
    first = page(
        0, region("paragraph_title", "Water", 200, 0, 40), region("paragraph_title", "Wheels", 400, 1, 30)
    )
    second = page(
        1, region("paragraph_title", "Stones", 200, 0, 30), region("paragraph_title", "Wind", 400, 1, 40)
    )
    whole = WholeDocument.of([first, second])
    assert [whole.markdown(p) for p in (first, second)] == ["## Water\n\n### Wheels", "### Stones\n\n## Wind"]


def test_a_heading_without_a_number_stands_with_numbered_ones_of_its_size() -> None:
    made = page(
        0,
        region("paragraph_title", "1 Water", 200, 0, 40),
        region("paragraph_title", "1.1 Wheels", 300, 1, 30),
        region("paragraph_title", "Stones", 400, 2, 30),
    )
    assert WholeDocument.of([made]).markdown(made) == "## 1 Water\n\n### 1.1 Wheels\n\n### Stones"


def test_sizes_that_ocr_guessed_tell_no_level() -> None:
    rough = Region(label="paragraph_title", box=(0, 300, 400, 330), content="Wheels", reader="ppocr", index=1,
                   lines=(Line(text="Wheels", box=(0, 300, 400, 330)),))  # fmt: skip
    made = page(0, region("paragraph_title", "Water", 200, 0, 40), rough)
    assert WholeDocument.of([made]).markdown(made) == "## Water\n\n## Wheels"


def test_no_level_is_skipped_under_a_heading_however_small_the_type() -> None:
    first = page(
        0,
        region("doc_title", "The Pipe", 100, 0, 60),
        region("paragraph_title", "Small", 200, 1, 20),
        region("paragraph_title", "As small", 300, 2, 20),
    )
    second = page(
        1,
        region("paragraph_title", "Large", 200, 0, 40),
        region("paragraph_title", "Middle", 300, 1, 30),
        region("paragraph_title", "Small again", 400, 2, 20),
    )
    whole = WholeDocument.of([first, second])
    assert whole.markdown(first) == "# The Pipe\n\n## Small\n\n## As small"
    assert whole.markdown(second) == "## Large\n\n### Middle\n\n#### Small again"


def test_headings_as_large_as_the_title_are_titles_in_korean_and_latin_type() -> None:
    first = page(
        0,
        region("doc_title", "The Pipe", 100, 0, 72.2),
        region("paragraph_title", "Pages are water", 300, 1, 40.3),
    )
    second = page(
        1,
        region("paragraph_title", "물길을 읽는 법", 100, 0, 81.4),  # the same size in points
        region("paragraph_title", "1. 수압관이란", 200, 1, 45.4),
        region("paragraph_title", "굵은 관, 조용한 관", 300, 2, 45.4),
    )
    whole = WholeDocument.of([first, second])
    assert whole.markdown(first) == "# The Pipe\n\n## Pages are water"
    assert whole.markdown(second) == "# 물길을 읽는 법\n\n## 1. 수압관이란\n\n## 굵은 관, 조용한 관"


def test_a_heading_does_not_stand_below_a_numbered_one_of_smaller_type() -> None:
    made = page(
        0,
        region("paragraph_title", "Poster", 100, 0, 80),
        region("paragraph_title", "Chapter", 200, 1, 60),
        region("paragraph_title", "1 Water", 300, 2, 40),
    )
    assert WholeDocument.of([made]).markdown(made) == "## Poster\n\n## Chapter\n\n## 1 Water"


def test_a_text_that_pages_repeat_stays_where_it_is_their_only_one() -> None:
    pages = [page(n, region("text", "Mills of the valley", 60, 0)) for n in range(4)]
    whole = WholeDocument.of(pages)
    assert [whole.markdown(p) for p in pages] == ["Mills of the valley"] * 4
