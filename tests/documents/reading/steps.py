"""Steps of reading a page, by name and without engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from penstock.box import Box, Pixels
from penstock.documents.reading.corrections import (
    add_drawn_tables,
    corrected,
    extend_to_rules,
    read_captions_as_text,
)
from penstock.documents.reading.lines import unread_areas
from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.documents.reading.regions import with_loose_words, with_regions
from penstock.documents.reading.steps import STEPS
from penstock.documents.reading.tables import with_given_lines
from penstock.documents.tables.pictured import PicturedTable
from penstock.page import Page
from penstock.region import LineBox, Region, Word

NO_ENGINES = cast(Engines, None)  # these steps need none
BLANK = Page(id="p", document="p", uri="p.pdf", width=1000, height=1000)


def page_of(*regions: Region) -> Page:
    return Page(id="p", document="p", uri="p.pdf", width=1000, height=1000, regions=regions)


def give_words(page: Page, words: Sequence[Word]) -> list[Draft]:
    reading, names = PageReading(page, words=tuple(words)), [step for step, _ in STEPS]
    for step, corrections in STEPS[names.index(with_regions) : names.index(with_loose_words) + 1]:
        reading = corrected(step(reading, NO_ENGINES), corrections)
    return list(reading.drafts)


def give_lines(drafts: Sequence[Draft], lines: Sequence[LineBox]) -> list[Draft]:
    reading = PageReading(BLANK, drafts=tuple(drafts), lines=tuple(lines))
    return list(with_given_lines(reading, NO_ENGINES).drafts)


def areas_to_search(page: Page, drafts: Sequence[Draft], words: Sequence[Word], pixels: Pixels) -> list[Box]:
    areas, _ = unread_areas(PageReading(page, words=tuple(words), drafts=tuple(drafts)), pixels)
    return areas


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
