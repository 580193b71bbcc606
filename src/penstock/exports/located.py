"""What stands at an address of a run: a document, a page, a region, a line, a cell, a chunk, a thing.

found = locate(Out("out"), Locator.parse("penstock:report.pdf/p3/r7"))
print(found.page, found.box, found.text)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.addresses.locator import Locator
from penstock.box import Box
from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import Chunk
from penstock.documents.docjson.table import read_table
from penstock.documents.pages.whole_document import corrected_pages
from penstock.errors import UsageError
from penstock.exports import enrichments
from penstock.exports.pages import DocumentRows
from penstock.page import Page
from penstock.photo import Photo
from penstock.region import Region, on_grid
from penstock.store.ledger import Entry
from penstock.store.out import Out

SHOWN = 5  # names in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What stands at an address. `page` counts from 1; a chunk's is its first, and a document has none.

    `box` is in pixels of the page, `bbox` on its grid of 0 to 1000; a page and a document have neither.
    """

    locator: Locator
    kind: str  # document, page, region, line, cell, chunk, thing
    text: str
    page: int | None = None
    region: int | None = None
    label: str = ""
    box: Box | None = None
    bbox: tuple[int, ...] | None = None
    confidence: float | None = None
    reader: str = ""
    crop: str | None = None
    places: tuple[str, ...] = ()  # of a chunk: the locators of its regions

    @property
    def document(self) -> str:
        return self.locator.document

    def row(self) -> dict[str, Any]:
        """Returns it as JSON has it."""
        names = (
            "kind", "document", "page", "region", "label", "bbox", "text", "confidence", "reader", "crop",
            "places",
        )  # fmt: skip
        return {"locator": str(self.locator), **{name: getattr(self, name) for name in names}}


def locate(out: Out, locator: Locator) -> Located:
    """Returns what stands there. Raises UsageError that says what there is instead."""
    entries = [entry for entry in out.entries() if entry.document == locator.document]
    if not entries:
        shown = _some(list(dict.fromkeys(entry.document for entry in out.entries())))
        raise UsageError(f"{out} has no document {locator.document!r}.", f"It has: {shown or 'none'}.")
    if locator.chunk is not None:
        return _chunk(out, entries, locator)
    if locator.page is None:
        pages = (out.pages.item(entry) for entry in entries)
        return Located(locator=locator, kind="document", text="\n\n".join(page.markdown for page in pages))
    entry = next((one for one in entries if one.part + 1 == locator.page), None)
    if entry is None:
        raise _missing(locator, "page", [entry.part + 1 for entry in entries])
    return located(out.items.item(entry), locator)


def located(item: Page | Photo, locator: Locator) -> Located:
    """Returns what stands at an address of this page or photo. Raises UsageError where there is nothing."""
    if item.failure is not None:
        raise UsageError(f"{item.place} could not be read: {item.failure.message}", item.failure.advice)
    if isinstance(item, Photo):
        return _in_photo(locator, item)
    if locator.region is None:
        if locator.thing is not None:
            raise _missing(locator, "thing", [])
        return Located(locator=locator, kind="page", text=item.markdown, page=item.number)
    region = next((one for one in item.regions if one.index == locator.region), None)
    if region is None:
        raise _missing(locator, "region", [one.index for one in item.regions])
    return _in_region(locator, item, region)


def _in_region(locator: Locator, page: Page, region: Region) -> Located:
    whole = Located(
        locator=locator, kind="region", text=region.content or "", page=page.number, region=region.index,
        label=region.label, box=region.box, bbox=tuple(region.bbox_2d(page.width, page.height)),
        confidence=region.confidence, reader=region.reader, crop=region.crop_path,
    )  # fmt: skip
    if locator.line is not None:
        if locator.line >= len(region.lines):
            raise _missing(locator, "line", range(len(region.lines)))
        line = region.lines[locator.line]
        part = replace(whole, kind="line", text=line.text, confidence=line.confidence)
        return _at_box(part, line.box, page)
    return whole if locator.cell is None else _cell(whole, locator.cell, page, region)


def _cell(whole: Located, wanted: tuple[int, int], page: Page, region: Region) -> Located:
    """Returns a cell with its own box where that is known, and else with its table's."""
    table = read_table((region.content or "").strip()) if region.label == "table" else None
    cells = {(cell.r, cell.c): cell.text for cell in table.cells} if table else {}
    if wanted not in cells:
        raise _missing(whole.locator, "cell", [f"{row}.{column}" for row, column in cells])
    part = replace(whole, kind="cell", text=cells[wanted])
    place = next((cell for cell in region.cells if (cell.row, cell.column) == wanted), None)
    return part if place is None else _at_box(replace(part, confidence=place.confidence), place.box, page)


def _at_box(part: Located, box: Box, page: Page) -> Located:
    return replace(part, box=box, bbox=tuple(on_grid(box, page.width, page.height)))


def _in_photo(locator: Locator, photo: Photo) -> Located:
    if locator.thing is None and locator.region is None:
        return Located(locator=locator, kind="page", text="", page=photo.part + 1)
    thing = next((one for one in photo.objects if one.index == locator.thing), None)
    if thing is None:
        raise _missing(locator, "thing", [one.index for one in photo.objects])
    size = " x ".join(f"{metres:.2f}" for metres in thing.size) + " m" if thing.size else thing.note
    return Located(
        locator=locator, kind="thing", text=f"{thing.label} {size}".strip(), page=photo.part + 1,
        label=thing.label, box=thing.box, bbox=tuple(on_grid(thing.box, photo.width, photo.height)),
        confidence=thing.score,
    )  # fmt: skip


def _chunk(out: Out, entries: Sequence[Entry], locator: Locator) -> Located:
    assembler = Assembler(locator.document, enrichments.lookup(out))
    pages = corrected_pages(DocumentRows(entries, out.pages.item))
    found = next((chunk for chunk in assembler.chunks(pages) if chunk.locator == str(locator)), None)
    if found is None:
        raise _missing(locator, "chunk", [])
    return _found_chunk(out, found, locator)


def _found_chunk(out: Out, chunk: Chunk, locator: Locator) -> Located:
    first = locate(out, Locator.parse(chunk.places[0].locator))
    places = tuple(place.locator for place in chunk.places)
    return replace(first, locator=locator, kind="chunk", text=chunk.text, places=places)


def _missing(locator: Locator, what: str, there: Sequence[object]) -> UsageError:
    shown = f"There are: {_some(there)}." if there else "It has none."
    return UsageError(f"There is no {what} at {locator}.", shown)


def _some(names: Sequence[object]) -> str:
    return ", ".join(map(str, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
