"""Finds the tables on the picture, and gives each line to one draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.documents.reading.regions import neighbours, region_around
from penstock.documents.tables.find import find_tables, table_among
from penstock.documents.tables.pictured import line_height
from penstock.documents.text.text_columns import text_columns
from penstock.documents.text.text_layer import distribute
from penstock.region import LineBox


def with_tables(reading: PageReading, engines: Engines) -> PageReading:
    """Adds the tables and rules that are drawn on the picture."""
    pixels, lines = reading.page.pixels, reading.lines
    if pixels is None or not lines:
        return reading
    drawings = engines.drawings(pixels, line_height(lines))
    tables, whole = find_tables(drawings, lines)
    return replace(reading, rules=drawings.rules, tables=tuple(tables), lines=tuple(whole))


def with_given_lines(reading: PageReading, _: Engines) -> PageReading:
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
