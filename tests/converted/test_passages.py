"""Passages lead back to their places: every locator opens what the passage says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import penstock
from penstock.choices import PassageUnit
from penstock.converted.passages import passages
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import Region
from tests.converted.test_opened import out  # noqa: F401  a fixture


def page(number: int, *regions: Region, failure: Failure | None = None) -> Page:
    return Page(
        id=f"{number}", uri="", document="a.pdf", part=number - 1, width=500, height=1000, regions=regions,
        markdown="\n\n".join(each.content or "" for each in regions), failure=failure,
    )  # fmt: skip


def region(index: int, content: str, confidence: float | None = None, label: str = "text") -> Region:
    top = 100.0 * index
    return Region(
        label=label, box=(50, top, 450, top + 50), index=index, content=content, confidence=confidence
    )


OPENING = 10  # words: farther on, Markdown has links to pictures
TITLE = region(0, "Of dams", label="paragraph_title")
PAGES = [
    page(1, TITLE, region(1, "Water waits.", 0.9), region(2, "It falls.", 0.6)),
    page(2, failure=Failure(stage="load", kind="BadInput", message="torn")),
    page(3, region(0, "page 3", label="footer"), region(1, "")),
]


def test_a_chunk_has_the_boxes_of_its_regions_and_the_least_confidence() -> None:
    [chunk] = passages("a.pdf", PAGES, "chunk")
    assert chunk.text == "Water waits.\nIt falls."
    assert chunk.metadata == {
        "source": "a.pdf", "locator": "penstock:a.pdf/c00001", "kind": "text", "page": 1, "last_page": 1,
        "boxes": "[[1, 100, 100, 900, 150], [1, 100, 200, 900, 250]]", "section": "Of dams",
        "confidence": 0.6,
    }  # fmt: skip


def test_what_is_empty_failed_or_in_a_margin_is_no_passage() -> None:
    assert [found.locator for found in passages("a.pdf", PAGES, "region")] == [
        f"penstock:a.pdf/p1/r{index}" for index in range(3)
    ]


def test_where_nothing_was_recognised_there_is_no_confidence() -> None:
    [found] = passages("a.pdf", [page(1, region(0, "from the file"))], "page")
    assert "confidence" not in found.metadata


@pytest.mark.parametrize("unit", ["chunk", "page", "region"])
def test_every_locator_opens_what_the_passage_says(unit: PassageUnit, out: Path) -> None:  # noqa: F811
    run = penstock.open(out)
    found = [passage for doc in run for passage in doc.passages(unit)]
    assert {passage.document for passage in found} == {"year.pdf", "short.pdf"}
    for passage in found:
        there = run.at(passage.locator)
        assert there.text.split()[:OPENING] == passage.text.split()[:OPENING]
        assert there.page == passage.pages[0]
        assert json.loads(str(passage.metadata["boxes"])) == [list(box) for box in passage.boxes]


def test_docjson_gives_the_same_chunks_as_the_document(out: Path) -> None:  # noqa: F811
    for doc in penstock.open(out):
        written = json.dumps(doc.to_dict())
        assert penstock.Passage.from_docjson(written) == list(doc.passages("chunk"))
