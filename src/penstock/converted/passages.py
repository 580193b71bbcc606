"""Pieces of a document as tools for retrieval take them: a text, and facts that lead back to its place.

Facts are flat, numbers and strings alone, since most vector stores keep nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from penstock.addresses.locator import Locator
from penstock.choices import PassageUnit
from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import Block, Chunk, DocJSON, DocPage
from penstock.page import Page
from penstock.region import MARGIN_LABELS, Region, on_grid

PageBox = tuple[int, int, int, int, int]  # page from 1, then left, top, right, bottom from 0 to 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document. `confidence` is the least of its regions, None where nothing was recognised."""

    text: str
    document: str
    locator: str
    kind: str  # "page", a chunk's kind, or a region's label
    pages: tuple[int, int]
    boxes: tuple[PageBox, ...] = ()
    section: tuple[str, ...] = ()
    confidence: float | None = None

    @classmethod
    def from_docjson(cls, text: str | bytes) -> list[Passage]:
        """Returns the chunks of a document that was written as DocJSON."""
        document = DocJSON.model_validate_json(text)
        by_page = {page.page_no: page for page in document.pages}
        places: dict[str, _KnownPlace] = {}
        for block in document.blocks:
            places.update(_places(by_page[block.page_no], [block]))
        return [_of_chunk(document.name, chunk, places) for chunk in document.chunks]

    @property
    def metadata(self) -> dict[str, str | int | float]:
        """Returns its facts by name. `boxes` is JSON: a list of [page, left, top, right, bottom]."""
        facts: dict[str, str | int | float] = {
            "source": self.document,
            "locator": self.locator,
            "kind": self.kind,
            "page": self.pages[0],
            "last_page": self.pages[1],
            "boxes": json.dumps(self.boxes),
            "section": " > ".join(self.section),
        }
        return facts if self.confidence is None else {**facts, "confidence": self.confidence}


def passages(name: str, pages: Iterable[Page], unit: PassageUnit) -> Iterator[Passage]:
    """Yields the passages of a document in reading order; a failed page and an empty region give none."""
    if unit == "chunk":
        yield from _of_chunks(name, pages)
        return
    for page in filter(_was_read, pages):
        yield from [_of_page(page)] if unit == "page" else _of_regions(page)


@dataclass(frozen=True, slots=True)
class _KnownPlace:
    """Where a region is, and how surely it was read."""

    locator: str
    box: PageBox
    confidence: float | None

    @classmethod
    def of(cls, page: Page, region: Region) -> _KnownPlace:
        locator = Locator(document=page.document, page=page.number, region=region.index)
        left, top, right, bottom = on_grid(region.box, page.width, page.height)
        return cls(str(locator), (page.number, left, top, right, bottom), region.confidence)


def _of_chunks(name: str, pages: Iterable[Page]) -> Iterator[Passage]:
    assembler = Assembler(name)
    places: dict[str, _KnownPlace] = {}
    for page in pages:
        made = assembler.page(page)
        places.update(_places(made.page, made.blocks))
        yield from (_of_chunk(name, chunk, places) for chunk in made.chunks)
    yield from (_of_chunk(name, chunk, places) for chunk in assembler.finish().chunks)


def _places(page: DocPage, blocks: Iterable[Block]) -> Iterator[tuple[str, _KnownPlace]]:
    for block in blocks:
        left, top, right, bottom = on_grid(block.bbox.px, page.width_px, page.height_px)
        yield (
            block.locator,
            _KnownPlace(block.locator, (page.page_no, left, top, right, bottom), block.confidence),
        )


def _of_chunk(name: str, chunk: Chunk, known: Mapping[str, _KnownPlace]) -> Passage:
    places = [known[place.locator] for place in chunk.places]
    return Passage(
        text=chunk.text,
        document=name,
        locator=chunk.locator,
        kind=chunk.kind,
        pages=chunk.page_span,
        boxes=tuple(place.box for place in places),
        section=tuple(chunk.section_path),
        confidence=_least(places),
    )


def _of_page(page: Page) -> Passage:
    places = [_KnownPlace.of(page, region) for region in _of_the_body(page)]
    return Passage(
        text=page.markdown,
        document=page.document,
        locator=str(Locator(document=page.document, page=page.number)),
        kind="page",
        pages=(page.number, page.number),
        boxes=tuple(place.box for place in places),
        confidence=_least(places),
    )


def _of_regions(page: Page) -> Iterator[Passage]:
    for region in _of_the_body(page):
        place = _KnownPlace.of(page, region)
        yield Passage(
            text=region.content or "",
            document=page.document,
            locator=place.locator,
            kind=region.label,
            pages=(page.number, page.number),
            boxes=(place.box,),
            confidence=place.confidence,
        )


def _was_read(page: Page) -> bool:
    return page.failure is None and bool(page.markdown)


def _of_the_body(page: Page) -> Iterator[Region]:
    """Yields the regions that hold something, without what stands in margins."""
    return (region for region in page.regions if region.content and region.label not in MARGIN_LABELS)


def _least(places: Iterable[_KnownPlace]) -> float | None:
    return min((place.confidence for place in places if place.confidence is not None), default=None)
