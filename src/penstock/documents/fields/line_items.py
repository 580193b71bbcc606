"""Rows of a table as objects: its head names the fields, and each row below is one object.

A table of a later page that has the same columns goes on where the first ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.documents.docjson.model import Cell, Table
from penstock.documents.fields.candidates import candidates
from penstock.documents.fields.extraction import FoundField
from penstock.documents.fields.labels import CONCEPTS, fold, label_pattern
from penstock.documents.fields.page_rows import DocumentText, PageTable
from penstock.documents.fields.products import product_lines
from penstock.documents.fields.schema import Field, empty_value
from penstock.documents.fields.values import Habit

HEAD_ROWS = 4  # among which the names of the columns are looked for
MAX_ITEMS = 5_000
MIN_COVERED = 0.4  # of a heading by a label
_SUMS = label_pattern(
    label
    for concept in CONCEPTS
    if concept.name in ("total", "net total", "tax amount")
    for label in concept.labels
    if label not in ("amount", "betrag")
)


@dataclass(frozen=True, slots=True)
class _NamedColumns:
    """Which column of a table holds which field; rows from `first` on are objects."""

    fields: dict[int, Field]
    first: int
    width: int  # columns of the table


def line_items(field: Field, text: DocumentText, habit: Habit) -> tuple[list[Any], list[FoundField]]:
    """Returns the objects of an array and the proof of each value; none where no table has such columns."""
    items: list[Any] = []
    found: list[FoundField] = []
    columns: _NamedColumns | None = None
    for table in text.tables:
        here = _columns(field.fields, table.table)
        if here is None and columns is not None and columns.width == table.table.num_cols:
            here = replace(columns, first=0)
        if here is None:
            continue
        columns = columns or here
        for row in range(here.first, table.table.num_rows):
            values = list(_row(field, here, table, row, len(items), habit))
            if _is_item(here, values) and len(items) < MAX_ITEMS:
                items.append(_object(field, values))
                found += values
    lines = list(product_lines(field, text, habit))[:MAX_ITEMS]
    values = [one for line in lines for one in line]
    return (items, found) if len(values) <= len(found) else ([_object(field, line) for line in lines], values)


def _columns(fields: Sequence[Field], table: Table) -> _NamedColumns | None:
    """Returns the columns by the row of the head that names most fields; at least two, or all there are."""
    best: _NamedColumns | None = None
    for row in range(min(HEAD_ROWS, table.num_rows)):
        named: dict[int, Field] = {}
        for cell in sorted((one for one in table.cells if one.r == row), key=lambda one: one.c):
            choices = [one for one in fields if one not in named.values()]
            if match := _named(cell, choices):
                named[cell.c] = match
        if len(named) >= min(2, len(fields)) and (best is None or len(named) > len(best.fields)):
            best = _NamedColumns(named, row + 1, table.num_cols)
    return best


def _named(cell: Cell, fields: Sequence[Field]) -> Field | None:
    """Returns the field that a heading names: by the label that covers most of it."""
    heading = " ".join(fold(cell.text).split())
    covered = {}
    for field in fields:
        found = label_pattern(field.labels).search(heading)
        if found is not None:
            covered[field.path] = (len(found[0]) / len(heading), field)
    best = max(covered.values(), key=lambda one: one[0], default=None)
    return best[1] if best is not None and best[0] >= MIN_COVERED else None


def _row(
    field: Field, columns: _NamedColumns, table: PageTable, row: int, number: int, habit: Habit
) -> Iterator[FoundField]:
    cells = {cell.c: cell for cell in table.table.cells if cell.r == row}
    if any(_SUMS.match(fold(cell.text).strip()) for cell in cells.values()):
        return
    for column, inner in columns.fields.items():
        cell = cells.get(column)
        words = " ".join(cell.text.split()) if cell else ""
        value = next(candidates(inner, words, 0, len(words), habit), None)
        if cell is not None and value is not None:
            yield FoundField(
                path=field.item_path(number, inner), value=value.value, text=words, by="table",
                locators=(str(replace(table.locator, cell=(cell.r, cell.c))),),
            )  # fmt: skip


def _is_item(columns: _NamedColumns, values: Sequence[FoundField]) -> bool:
    """A row that fills at least two of the named columns, and one with a number where there is one."""
    numeric = any(one.kind in ("number", "integer") for one in columns.fields.values())
    has_number = any(isinstance(one.value, int | float) for one in values)
    return len(values) >= min(2, len(columns.fields)) and (has_number or not numeric)


def _object(field: Field, values: Sequence[FoundField]) -> Any:
    if field.holds_plain_values:
        return values[0].value
    made = {inner.name: empty_value(inner) for inner in field.fields}
    made |= {one.path.rsplit("/", 1)[1].replace("~1", "/").replace("~0", "~"): one.value for one in values}
    return made
