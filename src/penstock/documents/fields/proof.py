"""Looks for a value that a model gave in what the pages say. What no page holds is refused.

Numbers and dates are compared as values, words without case, accents and spaces.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from penstock.documents.fields.candidates import number_value
from penstock.documents.fields.extraction import FoundField
from penstock.documents.fields.labels import fold, label_pattern
from penstock.documents.fields.page_rows import DocumentText, VisualRow
from penstock.documents.fields.patterns import matching
from penstock.documents.fields.schema import Field
from penstock.documents.fields.values import CURRENCIES, Habit, dates, numbers

MAX_PLACES = 5  # shown of those that hold a value
MAX_ROWS_OF_WORDS = 6  # that one value in words may go over


class Unfit(ValueError):
    """A value is not of its field's type."""


@dataclass(frozen=True, slots=True)
class _Held:
    """Words of a row that are a value."""

    row: VisualRow
    start: int
    end: int


@dataclass(frozen=True)
class Prover:
    """Looks values up in one document."""

    text: DocumentText
    habit: Habit

    def prove(self, field: Field, path: str, given: Any) -> FoundField | None:
        """Returns the value with its places; None where no page holds it. Raises Unfit for a wrong type."""
        value = typed(field, given, self.habit)
        held = list(self._held(field, value))
        if not held:
            return None
        label = label_pattern(field.labels)
        held.sort(key=lambda one: label.search(one.row.folded) is None)  # first where the row names the field
        return FoundField(
            path=path, value=value, text=held[0].row.text[held[0].start : held[0].end], by="model",
            locators=tuple(
                dict.fromkeys(self.text.address_at(one.row, one.start, one.end) for one in held[:MAX_PLACES])
            ),
        )  # fmt: skip

    def _held(self, field: Field, value: Any) -> Iterator[_Held]:
        if isinstance(value, bool):
            return  # nothing that a page says is true or false
        if isinstance(value, int | float):
            yield from self._held_number(Decimal(str(value)))
        elif field.kind == "date":
            yield from self._held_date(datetime.date.fromisoformat(value))
        else:
            for words in (str(value), *(sign for sign, code in CURRENCIES.items() if code == value)):
                yield from self._held_words(words)

    def _held_number(self, value: Decimal) -> Iterator[_Held]:
        for row, found in self._numbers:
            if found.value == value:
                yield _Held(row, found.start, found.end)

    @cached_property
    def _numbers(self) -> list[tuple[VisualRow, Any]]:
        return [(row, found) for row in self.text.rows for found in numbers(row.text, self.habit)]

    def _held_date(self, value: datetime.date) -> Iterator[_Held]:
        for row in self.text.rows:
            for found in dates(row.text, self.habit):
                if found.value == value:
                    yield _Held(row, found.start, found.end)

    def _held_words(self, words: str) -> Iterator[_Held]:
        wanted = "".join(fold(words).split())
        if not wanted:
            return
        letters, places = self._letters
        at = letters.find(wanted)
        while at >= 0:
            (first, start), (last, end) = places[at], places[at + len(wanted) - 1]
            if last - first < MAX_ROWS_OF_WORDS and self._is_whole(first, start, last, end):
                row = self.text.rows[first]
                yield _Held(row, start, end + 1 if first == last else len(row.text))
            at = letters.find(wanted, at + 1)

    def _is_whole(self, first: int, start: int, last: int, end: int) -> bool:
        """Whether the words begin and end where words do: 12 is not in 2012."""
        before, behind = self.text.rows[first].text, self.text.rows[last].text
        cut_before = start > 0 and before[start].isalnum() and before[start - 1].isalnum()
        cut_behind = end + 1 < len(behind) and behind[end].isalnum() and behind[end + 1].isalnum()
        return not (cut_before or cut_behind) or not before[start].isascii()

    @cached_property
    def _letters(self) -> tuple[str, list[tuple[int, int]]]:
        """All letters of the document without spaces, each with its row and its place there."""
        places = [
            (index, offset)
            for index, row in enumerate(self.text.rows)
            for offset, letter in enumerate(row.folded)
            if not letter.isspace()
        ]
        rows = self.text.rows
        return "".join(rows[index].folded[offset] for index, offset in places), places


def typed(field: Field, given: Any, habit: Habit) -> Any:
    """Returns a model's value in the field's type. Raises Unfit for what is none."""
    if field.choices:
        if given in field.choices:
            return given
        raise Unfit("it is none of the values to choose from")
    if field.kind == "boolean":
        if isinstance(given, bool):
            return given
        raise Unfit("it is neither true nor false")
    if field.kind in ("number", "integer"):
        return _number(field, given, habit)
    if field.kind == "date":
        return _date(given, habit)
    if not isinstance(given, str | int | float) or isinstance(given, bool):
        raise Unfit("it is no text")
    if field.pattern and not matching(field.pattern, [str(given)])[0]:
        raise Unfit("it does not match the field's pattern")
    return str(given).strip()


def _number(field: Field, given: Any, habit: Habit) -> int | float:
    if isinstance(given, str):
        found = next(numbers(given, habit), None)
        given = found.value if found else None
    if isinstance(given, bool) or not isinstance(given, int | float | Decimal):
        raise Unfit("it is no number")
    try:
        value = Decimal(str(given))
        if not value.is_finite() or (field.kind == "integer" and value % 1):
            raise Unfit("it is no whole number" if value.is_finite() else "it is no number")
        return number_value(value, field)
    except (InvalidOperation, OverflowError) as exc:
        raise Unfit("it is no number") from exc


def _date(given: Any, habit: Habit) -> str:
    if isinstance(given, str):
        with suppress(ValueError):
            return datetime.date.fromisoformat(given.strip()[:10]).isoformat()
        if found := next(dates(given, habit), None):
            return found.value.isoformat()
    raise Unfit("it is no date")
