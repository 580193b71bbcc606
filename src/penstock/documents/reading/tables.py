"""Fourth step: finds the tables on the picture, and gives each line to one draft.

Tables of the text layer are found with the regions, two steps before: its words are given to regions once,
and their tables must be there by then. Lines are looked for only where no word explains the ink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.documents.reading.corrections import ON_LINES, corrected
from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.documents.reading.regions import neighbours, region_around
from penstock.documents.tables.find import find_tables, table_among
from penstock.documents.tables.pictured import line_height
from penstock.documents.text.text_columns import text_columns
from penstock.documents.text.text_layer import distribute
from penstock.region import LineBox


def with_tables(reading: PageReading, engines: Engines) -> PageReading:
    """Adds the tables on the picture, corrects the drafts by them, and gives the lines to the drafts."""
    pixels, lines = reading.page.pixels, reading.lines
    if pixels is not None and lines:
        drawings = engines.drawings(pixels, line_height(lines))
        tables, whole = find_tables(drawings, lines)
        reading = replace(reading, rules=drawings.rules, tables=tuple(tables), lines=tuple(whole))
    return with_given_lines(corrected(reading, ON_LINES))


def with_given_lines(reading: PageReading) -> PageReading:
    """Puts each line into the draft that holds it; lines that none holds get drafts of their own."""
    held, loose = distribute(reading.lines, [draft.region.box for draft in reading.drafts])
    filled = [replace(draft, lines=tuple(own)) for draft, own in zip(reading.drafts, held, strict=True)]
    return replace(reading, drafts=(*filled, *_drafts_of(loose)))


def _drafts_of(lines: Sequence[LineBox]) -> list[Draft]:
    """New drafts for the lines: columns of running text first, then groups of neighbours."""
    columns = text_columns([line.box for line in lines])
    in_columns = {place for column in columns for place in column}
    rest = [line for place, line in enumerate(lines) if place not in in_columns]
    drafts = [_new_draft([lines[place] for place in column]) for column in columns]
    for group in neighbours(rest):
        drafts += _with_table(group)
    return drafts


def _with_table(lines: Sequence[LineBox]) -> list[Draft]:
    """A draft for the lines, or for the table among them and for what stands around it."""
    box = table_among([line.box for line in lines])
    if box is None:
        return [_new_draft(lines)]
    [cells], rest = distribute(lines, [box])
    return [_new_draft(cells, "table"), *([_new_draft(rest)] if rest else [])]


def _new_draft(lines: Sequence[LineBox], label: str = "text") -> Draft:
    return Draft(region_around(lines, label), lines=tuple(lines))
