"""Steps of reading a page, by name and without engines."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.box import Box, Pixels
from penstock.documents.reading.corrections import (
    add_drawn_tables,
    corrected,
    extend_to_rules,
    read_captions_as_text,
)
from penstock.documents.reading.lines import unread_areas
from penstock.documents.reading.page_reading import Draft, PageReading
from penstock.documents.reading.regions import with_regions
from penstock.documents.reading.tables import with_given_lines
from penstock.documents.tables.pictured import PicturedTable
from penstock.page import Page
from penstock.region import LineBox, Region, Word

BLANK = Page(id="p", document="p", uri="p.pdf", width=1000, height=1000)


def page_of(*regions: Region) -> Page:
    return Page(id="p", document="p", uri="p.pdf", width=1000, height=1000, regions=regions)


def give_words(page: Page, words: Sequence[Word]) -> list[Draft]:
    return list(with_regions(PageReading(page, words=tuple(words))).drafts)


def give_lines(drafts: Sequence[Draft], lines: Sequence[LineBox]) -> list[Draft]:
    return list(with_given_lines(PageReading(BLANK, drafts=tuple(drafts), lines=tuple(lines))).drafts)


def areas_to_search(page: Page, drafts: Sequence[Draft], words: Sequence[Word], pixels: Pixels) -> list[Box]:
    return unread_areas(PageReading(page, words=tuple(words), drafts=tuple(drafts)), pixels)


def with_drawn_tables(
    drafts: Sequence[Draft],
    lines: Sequence[LineBox],
    rules: Sequence[Box],
    tables: Sequence[PicturedTable],
) -> list[Draft]:
    reading = PageReading(
        BLANK, drafts=tuple(drafts), lines=tuple(lines), rules=tuple(rules), tables=tuple(tables)
    )
    return list(corrected(reading, (read_captions_as_text, extend_to_rules, add_drawn_tables)).drafts)
