"""Finds the lines of a bill where no table shows its cells: quantity times price is the amount.

A row that holds three such numbers is a line, whatever its columns are called; the words before them are what
was sold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from penstock.documents.fields.candidates import number_value
from penstock.documents.fields.extraction import FoundField
from penstock.documents.fields.page_rows import DocumentText, VisualRow
from penstock.documents.fields.schema import Field
from penstock.documents.fields.values import FoundNumber, Habit, numbers

MAX_NUMBERS = 12  # of a row
CENT = Decimal("0.011")  # what rounding may change
_AMOUNTS = ("quantity", "unit price", "line total")


@dataclass(frozen=True, slots=True)
class _ProductLine:
    """A row with its quantity, price and amount."""

    row: VisualRow
    quantity: FoundNumber
    price: FoundNumber
    total: FoundNumber


def product_lines(field: Field, text: DocumentText, habit: Habit) -> Iterator[list[FoundField]]:
    """Yields the values of each line, for an array whose objects have an amount and a price or a quantity."""
    known = (*_AMOUNTS, "description")
    by_concept = {name: inner for name in known for inner in field.fields if inner.is_a(name)}
    if "line total" not in by_concept or not {"quantity", "unit price"} & by_concept.keys():
        return
    number = 0
    for row in text.rows:
        line = _line(row, habit)
        if line is not None:
            yield [_found(text, field, number, inner, line, name) for name, inner in by_concept.items()
                   if name in _AMOUNTS or _description(line)]  # fmt: skip
            number += 1


def _line(row: VisualRow, habit: Habit) -> _ProductLine | None:
    """Returns the row's first three numbers, from left to right, of which the last is the product."""
    read = list(numbers(row.text, habit))[:MAX_NUMBERS]
    found = [one for one in read if not one.is_percent]
    shares = [
        Decimal(1),
        *(1 - one.value / 100 for one in read if one.is_percent),
    ]
    for total in reversed(found):
        if total.places != 2 or not total.value:
            continue
        before = [one for one in found if one.start < total.start]
        for first, second in combinations(before, 2):
            made = first.value * second.value
            if second.places and any(abs(made * share - total.value) < CENT for share in shares):
                return _ProductLine(row, first, second, total)
    return None


def _description(line: _ProductLine) -> tuple[int, int] | None:
    """Returns where the words before the numbers stand; None where there are none."""
    words = line.row.text[: line.quantity.start].rstrip(" |*")
    start = next((place for place, letter in enumerate(words) if letter.isalpha()), None)
    return None if start is None or len(words) - start < 2 else (start, len(words))


def _found(
    text: DocumentText, field: Field, number: int, inner: Field, line: _ProductLine, concept: str
) -> FoundField:
    row = line.row
    numbers_of = {"quantity": line.quantity, "unit price": line.price, "line total": line.total}
    if concept in numbers_of:
        one = numbers_of[concept]
        start, end, value = one.start, one.end, _value(one, inner)
    else:
        start, end = _description(line) or (0, 0)
        value = row.text[start:end]
    words = row.text[start:end].strip()
    return FoundField(
        path=field.item_path(number, inner), value=value, text=words, by="table",
        locators=(text.address_at(row, start, end),),
    )  # fmt: skip


def _value(number: FoundNumber, field: Field) -> int | float | str:
    if field.kind in ("number", "integer"):
        return number_value(number.value, field)
    return str(number.value)
