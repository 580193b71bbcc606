"""Cells of an OpenDocument's sheet: those that repeat, those that are hidden, and what they store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from penstock.engines.office.odf.styles import number
from penstock.engines.office.ooxml.sheet_tables import (
    MAX_FORMULA,
    MAX_SHEET_CELLS,
    SheetContent,
    column_name,
)
from penstock.engines.office.package import attribute, local

MAX_REPEATED = 1_000  # of one cell or row: a sheet says of its last one that it goes on to the end
CELLS = ("table-cell", "covered-table-cell")
HIDDEN = ("collapse", "filter")
STORED = ("value", "date-value", "time-value")
_PREFIX = re.compile(r"^\w+:(?==)")  # of a formula: the language that it is written in


def sheet_content(table: Element, said: Callable[[Element, str], str]) -> SheetContent:
    """Returns the cells of a sheet. `said` reads what one shows; people call it by its column and row."""
    content = SheetContent(hidden_columns=_hidden_columns(table))
    at = 0
    for row in rows_of(table):
        rows = range(at, at + min(number(row, "number-rows-repeated"), MAX_REPEATED))
        if attribute(row, "visibility") in HIDDEN:
            content.hidden_rows.update(rows)
        _add_row(row, rows, content, said)
        at += number(row, "number-rows-repeated")
    return content


def rows_of(table: Element) -> Iterator[Element]:
    for inner in table:
        if local(inner) == "table-row":
            yield inner
        elif local(inner) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from rows_of(inner)


def _add_row(row: Element, rows: range, content: SheetContent, said: Callable[[Element, str], str]) -> None:
    column = 0
    for cell in row:
        if local(cell) not in CELLS:
            continue
        times = number(cell, "number-columns-repeated")
        name = f"{column_name(column)}{rows.start + 1}"
        text = said(cell, name) if local(cell) == "table-cell" else ""
        if text:
            content.add(text, rows, range(column, column + min(times, MAX_REPEATED)), MAX_SHEET_CELLS)
            content.store(name, _stored(cell, text))
        tall, wide = number(cell, "number-rows-spanned"), number(cell, "number-columns-spanned")
        if tall > 1 or wide > 1:
            content.merged.append((rows.start, column, rows.start + tall - 1, column + wide - 1))
        column += times


def _stored(cell: Element, shown: str) -> str:
    """Returns the formula of a cell and its value, where it shows another."""
    formula = _PREFIX.sub("", attribute(cell, "formula"))[:MAX_FORMULA]
    value = next(filter(None, (attribute(cell, name) for name in STORED)), "")
    return " ".join(part for part in (formula, value if value != shown else "") if part)


def _hidden_columns(table: Element) -> set[int]:
    hidden: set[int] = set()
    at = 0
    for column in (each for each in table.iter() if local(each) == "table-column"):
        times = number(column, "number-columns-repeated")
        if attribute(column, "visibility") in HIDDEN:
            hidden.update(range(at, at + min(times, MAX_REPEATED)))
        at += times
    return hidden
