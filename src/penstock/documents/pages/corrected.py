"""A page as people corrected it: the text of regions, lines and cells put in the place of what was read.

A correction finds its region by number and place, or by place alone when the page was read anew with other
regions. On a page of another file it counts only where the text is still the one that was corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Protocol

from penstock.box import Box, iou
from penstock.documents.formats.markdown import page_markdown
from penstock.documents.tables.html import from_html, from_loose_html, to_html
from penstock.documents.tables.pipes import from_pipes, to_pipes
from penstock.page import Page
from penstock.region import Line, Region, TableCell

PERSON = "person"  # the reader of what someone typed
SAME_PLACE = 0.5  # of overlap: the region of before, as another run found it
MAX_ALIGNED = 5_000  # characters; the time to find the lines of a longer text grows with its square

Cell = tuple[int, int]


class TypedText(Protocol):
    """What someone typed, and where; the store's `Correction`."""

    @property
    def page_id(self) -> str: ...
    @property
    def region(self) -> int: ...
    @property
    def line(self) -> int | None: ...
    @property
    def cell(self) -> Cell | None: ...
    @property
    def box(self) -> Box: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


def corrected(page: Page, typed: Sequence[TypedText]) -> Page:
    """Returns the page with what was typed, in the order given. What fits nowhere changes nothing."""
    for one in typed:
        place = place_of(page, one)
        if place is not None:
            regions = list(page.regions)
            regions[place] = with_text(regions[place], one.after, one.line, one.cell)
            page = replace(page, regions=tuple(regions))
    return replace(page, markdown=page_markdown(page.regions))


def place_of(page: Page, one: TypedText) -> int | None:
    """Returns which of the page's regions it is about; None where there is none."""
    overlaps = [
        (iou(region.box, one.box), region.index == one.region, place)
        for place, region in enumerate(page.regions)
    ]
    near = [row for row in overlaps if row[0] >= SAME_PLACE]
    if not near:
        return None
    place = max(near, key=lambda row: (row[1], row[0]))[2]
    said = text_at(page.regions[place], one.line, one.cell)
    is_same = page.id == one.page_id or said == one.before
    return place if said is not None and is_same else None


def text_at(region: Region, line: int | None = None, cell: Cell | None = None) -> str | None:
    """Returns what a region, or a line or a cell of it, says; None where it has no such part."""
    if cell is not None:
        return next((one.text for one in _cells(region) if (one.row, one.column) == cell), None)
    if line is not None:
        return region.lines[line].text if line < len(region.lines) else None
    return region.content or ""


def with_text(region: Region, text: str, line: int | None, cell: Cell | None) -> Region:
    """Returns the region with a text in the place of what it, its line or its cell said."""
    if cell is not None:
        return _with_cell(region, cell, text)
    if line is not None:
        return _with_line(region, line, text)
    return replace(region, content=text, lines=_spread(region.lines, text), reader=PERSON, confidence=1.0)


def _with_cell(region: Region, cell: Cell, text: str) -> Region:
    cells = [
        one._replace(text=text, inner=()) if (one.row, one.column) == cell else one for one in _cells(region)
    ]
    is_html = not (region.content or "").lstrip().startswith("|")
    content = to_html(cells) if is_html else to_pipes(cells) or to_html(cells)
    places = tuple(
        place._replace(confidence=1.0, other="") if (place.row, place.column) == cell else place
        for place in region.cells
    )
    return replace(region, content=content, cells=places, reader=_readers(region))


def _with_line(region: Region, number: int, text: str) -> Region:
    """Where the line does not stand in the content as it is, the content is made of the lines."""
    old = region.lines[number]
    lines = list(region.lines)
    lines[number] = _typed(old, text)
    said = region.content or ""
    whole = "\n".join(line.text for line in lines)
    content = said.replace(old.text, text) if said.count(old.text) == 1 else whole
    return replace(region, content=content, lines=tuple(lines), reader=_readers(region))


def _readers(region: Region) -> str:
    names = dict.fromkeys(filter(None, (*region.reader.split("+"), PERSON)))
    return "+".join(names)


def _cells(region: Region) -> list[TableCell]:
    said = (region.content or "").strip()
    if said.startswith("|"):
        return from_pipes(said)
    return (from_html(said) or from_loose_html(said) or []) if said.startswith("<") else []


def _spread(lines: Sequence[Line], text: str) -> tuple[Line, ...]:
    """Returns the lines with their parts of a text: a searchable PDF writes them where they stand."""
    old = "\n".join(line.text for line in lines)
    ends, at = [], -1
    for line in lines:
        at += len(line.text) + 1
        ends.append(at)
    places = pairwise([0, *_moved(old, text, ends)])
    parts = [" ".join(text[start:end].split()) for start, end in places]
    return tuple(_typed(line, part) for line, part in zip(lines, parts, strict=True))


def _typed(line: Line, text: str) -> Line:
    return replace(line, text=text, confidence=1.0, other="", words=())


def _moved(old: str, new: str, ends: Sequence[int]) -> list[int]:
    """Returns where in the new text the old one's places are."""
    if max(len(old), len(new)) > MAX_ALIGNED:
        moved = [round(end * len(new) / max(1, len(old))) for end in ends]
    else:
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        moved = [
            max((min(b + end - a, b + size) for a, b, size in blocks if a <= end), default=0) for end in ends
        ]
    return [*moved[:-1], len(new)] if moved else []
