"""The places of a run that a person should look at, worst first, each with a reason and its address.

First come numbers in tables that two readers read differently, then what could not be read, then such numbers
in lines, then cells, regions and pages by how many of their characters are likely wrong. What someone
corrected is left out.

    for place in review(Out("out"), most=20):
        print(place.locator, place.reason)
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from penstock.addresses.locator import Locator
from penstock.box import Box
from penstock.documents.confidence.comparison import numbers
from penstock.documents.docjson.table import read_table
from penstock.documents.pages.corrected import PERSON, text_at
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import Line, Region, on_grid
from penstock.store.out import Out

MOST = 50
DOUBTFUL = 0.9  # a confidence below this is worth a look: 1 character in 10 is likely wrong
SHOWN = 200  # characters of a text
# what comes first, whatever the number of characters
NUMBERS, UNREAD, NUMBERS_OF_LINES, DOUBT = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPlace:
    """A place to look at. `text` is what was read, and `other` what a second reader read.

    `wrong` is how many of its characters are likely wrong; `page` counts from 1, `bbox` is on the page's grid
    of 0 to 1000.
    """

    locator: Locator
    kind: str  # page, region, line, cell
    reason: str
    text: str = ""
    other: str = ""
    confidence: float | None = None
    wrong: float = 0.0
    rank: int = DOUBT
    bbox: tuple[int, ...] | None = None

    def row(self) -> dict[str, Any]:
        """Returns it as JSON has it."""
        names = ("kind", "reason", "text", "other", "confidence", "bbox")
        place = {"locator": str(self.locator), "document": self.locator.document, "page": self.locator.page}
        return {**place, **{name: getattr(self, name) for name in names}, "wrong": round(self.wrong, 2)}


def review(out: Out, most: int = MOST) -> list[ReviewPlace]:
    """Returns up to `most` places, worst first. Reads one page at a time."""
    out.need_rows()
    return worst(out.read_pages(), most)


def worst(pages: Iterable[Page], most: int = MOST) -> list[ReviewPlace]:
    """Returns up to `most` places of pages, worst first, those alike in source order."""
    numbered = zip((place for page in pages for place in places_of(page)), count(), strict=False)
    kept = heapq.nsmallest(most, numbered, key=lambda row: (row[0].rank, -row[0].wrong, row[1]))
    return [place for place, _ in kept]


def places_of(page: Page) -> Iterator[ReviewPlace]:
    """Yields a page's places to look at, in reading order."""
    if page.failure is not None:
        yield _unread(page.locator, "page", page.failure)
        return
    if page.shortfall is not None:
        yield _unread(page.locator, "page", page.shortfall)
    found = [place for region in page.regions for place in _of_region(region, page)]
    yield from found
    yield from _whole_page(page, sum(place.wrong for place in found))


def _unread(locator: Locator, kind: str, failure: Failure) -> ReviewPlace:
    reason = f"could not be read: {failure.message}"
    return ReviewPlace(locator=locator, kind=kind, reason=reason, rank=UNREAD)


def _of_region(region: Region, page: Page) -> Iterator[ReviewPlace]:
    at, grid = page.locator.at_region(region.index), _grid(region.box, page)
    if region.failure is not None:
        yield replace(_unread(at, "region", region.failure), bbox=grid)
        return
    if region.label == "table":
        yield from _cells(region, page)
    else:
        yield from _lines(region, page)
    marks = region.signals.marks if region.signals else ()
    is_doubted = region.confidence is not None and region.confidence < DOUBTFUL
    if PERSON in region.reader.split("+") or not (marks or is_doubted):
        return
    text = region.content or ""
    sure = region.confidence if region.confidence is not None else 0.0
    reason = f"the answer was {' and '.join(marks)}" if marks else _doubt(sure)
    yield ReviewPlace(
        locator=at, kind="region", reason=reason, text=text[:SHOWN], confidence=region.confidence, bbox=grid,
        other=(region.signals.other if region.signals else "")[:SHOWN], wrong=(1 - sure) * len(text),
    )  # fmt: skip


def _cells(region: Region, page: Page) -> Iterator[ReviewPlace]:
    """Yields cells whose numbers two readers read differently, and doubtful ones."""
    at = page.locator.at_region(region.index)
    for place in region.cells:
        text = text_at(region, cell=(place.row, place.column))
        if not text:
            continue
        one = ReviewPlace(
            locator=replace(at, cell=(place.row, place.column)), kind="cell", reason="", text=text[:SHOWN],
            other=place.other[:SHOWN], confidence=place.confidence, bbox=_grid(place.box, page),
            wrong=0.0 if place.confidence is None else (1 - place.confidence) * len(text),
        )  # fmt: skip
        if place.other and numbers(text) != numbers(place.other):
            yield replace(one, rank=NUMBERS, reason=f"another reader read {place.other[:SHOWN]}")
        elif place.confidence is not None and place.confidence < DOUBTFUL:
            yield replace(one, reason=_doubt(place.confidence))
    if not region.cells and region.signals is not None and region.signals.other:
        yield from _numbers_alone(region, page, region.signals.other)


def _numbers_alone(region: Region, page: Page, other: str) -> Iterator[ReviewPlace]:
    """Yields cells of a served model's table with numbers that the second reader did not read anywhere."""
    left = numbers(other)
    for cell in read_table(region.content or "").cells:
        own = numbers(cell.text)
        missing = own - left
        left -= own
        if missing:
            at = replace(page.locator.at_region(region.index), cell=(cell.r, cell.c))
            reason = f"another reader did not read {', '.join(missing)}"
            yield ReviewPlace(
                locator=at, kind="cell", reason=reason, text=cell.text[:SHOWN], rank=NUMBERS,
                wrong=float(sum(map(len, missing))), bbox=_grid(region.box, page),
            )  # fmt: skip


def _lines(region: Region, page: Page) -> Iterator[ReviewPlace]:
    """Yields lines whose numbers two readers read differently."""
    for number, line in enumerate(region.lines):
        if line.other and numbers(line.text) != numbers(line.other):
            at = replace(page.locator.at_region(region.index), line=number)
            yield ReviewPlace(
                locator=at, kind="line", reason=f"another reader read {line.other[:SHOWN]}",
                text=line.text[:SHOWN], other=line.other[:SHOWN], confidence=line.confidence,
                wrong=_wrong(line), bbox=_grid(line.box, page), rank=NUMBERS_OF_LINES,
            )  # fmt: skip


def _whole_page(page: Page, told: float) -> Iterator[ReviewPlace]:
    """Yields the page where much of it is likely wrong, and more than its places tell."""
    lines = [line for region in page.regions for line in region.lines if line.confidence is not None]
    letters, wrong = sum(len(line.text) for line in lines), sum(map(_wrong, lines))
    if letters and wrong > told and wrong > (1 - DOUBTFUL) * letters:
        sure = 1 - wrong / letters
        yield ReviewPlace(
            locator=page.locator, kind="page", reason=_doubt(sure), confidence=sure, wrong=wrong
        )


def _wrong(line: Line) -> float:
    return (1 - (1.0 if line.confidence is None else line.confidence)) * len(line.text)


def _doubt(sure: float) -> str:
    return f"{100 * (1 - sure):.0f} % of its characters are likely wrong"


def _grid(box: Box, page: Page) -> tuple[int, ...]:
    return tuple(on_grid(box, page.width or 1, page.height or 1))
