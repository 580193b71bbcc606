"""Answers to agents are bounded and say how to go on. The pages are made by hand."""

from __future__ import annotations

import re

from penstock.agents.answers import (
    cut,
    document_answer,
    documents_answer,
    page_answer,
    region_answer,
    regions_answer,
)
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import Asset, Region
from penstock.serve.reading.progress import Status


def page(part: int = 0, text: str = "words", **more: object) -> Page:
    region = Region(label="text", box=(0, 0, 50, 100), content=text, confidence=0.5)
    made = {"id": f"a/{part}", "uri": "", "document": "a/b.pdf", "part": part, "width": 100, "height": 100}
    return Page(**{**made, "regions": (region,), "markdown": text, **more})  # type: ignore[arg-type]


def test_a_text_read_piece_by_piece_is_the_whole_text() -> None:
    text, start, pieces = "".join(map(str, range(500))), 0, ""
    while True:
        piece, _, more = cut(text, start, 100, "again(start={start})").partition("\n\n[")
        pieces += piece
        if not more:
            break
        found = re.search(r"start=(\d+)", more)
        assert found is not None
        start = int(found[1])
    assert pieces == text
    assert "nothing at 9999" in cut(text, 9999, 100, "")


def test_a_page_says_where_it_is_and_pictures_are_words() -> None:
    crop = Region(label="image", box=(0, 0, 9, 9), index=1, crop=Asset(path="crops/1f.jpg"))
    told = page_answer(page(text="![a dog](crops/1f.jpg)", regions=(crop,)), 3, 0, 1000)
    assert told == "a/b.pdf, page 1 of 3: 1 region.\n\n\\[a dog\\]"
    long = page_answer(page(text="x" * 900), 3, 0, 300)
    assert len(long) < 500
    assert 'read_page(document="a/b.pdf", page=1, start=300)' in long


def test_regions_are_listed_by_number_with_their_boxes() -> None:
    assert regions_answer(page(text="y" * 900)).splitlines()[1] == f"0, text, [0, 0, 500, 1000], {'y' * 60}…"
    many = page(regions=tuple(Region(label="text", box=(0, 0, 1, 1), index=n) for n in range(500)))
    assert regions_answer(many).endswith("[300 more regions.]")
    told = region_answer(page(), page().regions[0], 0, 100)
    place = "Locator: penstock:a%2Fb.pdf/p1/r0"
    assert (
        told == f"a/b.pdf, page 1, region 0: text, box [0, 0, 500, 1000], confidence 0.50. {place}\n\nwords"
    )


def test_a_document_begins_with_its_progress_and_failures_and_is_cut() -> None:
    bad = Failure(stage="load", kind="BadInput", message="It is broken.")
    pages = [page(0), page(1, failure=bad, regions=()), page(2, "z" * 5000), page(3)]
    told = document_answer(Status("a/b.pdf", 4, 3, 1), pages, 1000)
    assert told.startswith("a/b.pdf: 4 pages, all read, 1 failed.\n\nPage 2 failed: It is broken.")
    assert len(told) < 1500
    assert "page=3, start=" in told
    assert "read_page(document" in told.splitlines()[-1]
    assert "2 of 9 pages" in document_answer(Status("a/b.pdf", 9, 2, 0), pages[:1], 1000)


def test_lists_of_documents_go_on() -> None:
    assert "no document yet" in documents_answer([], 0, False)
    assert "start=3" in documents_answer([Status("a", 1, 1, 0)] * 2, 1, True)
