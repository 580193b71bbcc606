"""What in a stretch of text may be the value of a field, by the field's type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from penstock.documents.fields.labels import fold
from penstock.documents.fields.patterns import matching
from penstock.documents.fields.schema import Field
from penstock.documents.fields.values import CURRENCIES, FoundNumber, Habit, dates, numbers

MAX_WORDS = 60  # of a stretch that are looked at
MAX_TOGETHER = 6  # words that one pattern may match
FAR = 10_000
MAX_TEXT = 120  # characters of a value in words
MONEY = frozenset({"total", "net total", "tax amount", "unit price", "line total"})
_CODES = "|".join(sorted({code.lower() for code in CURRENCIES.values()}))
_FORMS = {
    "iban": re.compile(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?\b"),
    "bic": re.compile(r"\b[a-z]{6}[a-z0-9]{2}(?:[a-z0-9]{3})?\b"),
    "vat id": re.compile(r"\b(?:[a-z]{2} ?[a-z0-9]{2,4}(?: ?\d{2,4}){2,4}[a-z]?\d{0,2}|\d{3}-\d{2}-\d{5})\b"),
    "currency": re.compile(rf"[€$£₩¥₹]|원|(?<![a-z])(?:{_CODES})(?![a-z])"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
}
# a number of a document: at least one digit, no spaces; words before it are none
_IDENTIFIER = re.compile(r"(?<![\w/.])#?(?=[a-z0-9/.\-_]{0,30}\d)[a-z0-9]+(?:[/.\-_][a-z0-9]+)*")
_NUMBERED = frozenset({
    "invoice number", "order number", "customer number", "tax number", "article number", "position", "phone",
})  # fmt: skip
_WORDS = re.compile(r"\S+")
_YES = re.compile(r"\b(?:yes|true|ja|oui|vrai|y)\b|예|네|☒|☑|✓|✔")
_NO = re.compile(r"\b(?:no|false|nein|non|faux|n)\b|아니오|아니요|☐")


@dataclass(frozen=True, slots=True)
class FieldCandidate:
    """A value with its place in the text, and how well it fits its field, 0 to 1."""

    value: Any
    start: int
    end: int
    quality: float = 1.0


def candidates(
    field: Field, text: str, start: int, end: int, habit: Habit, *, in_columns: bool = False
) -> Iterator[FieldCandidate]:
    """Yields what in `text[start:end]` may be the field's value, likeliest first.

    In columns, what stands first in a row is as likely as the last.
    """
    part = text[start:end]
    for found in _of_type(field, part, habit, in_columns):
        yield FieldCandidate(found.value, found.start + start, found.end + start, found.quality)


def _of_type(field: Field, text: str, habit: Habit, in_columns: bool) -> Iterator[FieldCandidate]:
    if field.choices:
        yield from _choices(field, text)
    elif field.pattern and field.kind == "text":
        yield from _matching(field.pattern, text)
    elif field.kind == "date":
        half = FAR if in_columns else 60
        for found in dates(text, habit):
            yield FieldCandidate(
                found.value.isoformat(), found.start, found.end, _nearness(found.start, half)
            )
    elif field.kind in ("number", "integer"):
        yield from _numbers(field, text, habit, in_columns)
    elif field.kind == "boolean":
        yield from _yes_or_no(text)
    elif field.kind == "text":
        yield from _words(field, text, in_columns)


def _nearness(start: int, half: int) -> float:
    """Returns 1 for what stands at the start of a stretch, a half at `half` characters."""
    return 1 / (1 + start / half)


def _choices(field: Field, text: str) -> Iterator[FieldCandidate]:
    folded = fold(text)
    found = (place for choice in field.choices for place in _choice(choice, folded))
    yield from sorted(found, key=lambda place: place.start)


def _choice(choice: Any, folded: str) -> Iterator[FieldCandidate]:
    names = [fold(str(choice))] + [sign for sign, code in CURRENCIES.items() if code == choice]
    for name in names:
        place = folded.find(name)
        if place >= 0 and _stands_alone(folded, place, place + len(name)):
            yield FieldCandidate(choice, place, place + len(name))
            return


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, behind = text[start - 1 : start], text[end : end + 1]
    inner = text[start:end]
    return not (
        (before.isalnum() and inner[:1].isalnum() and not before.isdigit())
        or (behind.isalnum() and inner[-1:].isalnum())
    )


def _matching(pattern: str, text: str) -> Iterator[FieldCandidate]:
    """Yields runs of words that a pattern of the schema matches, longer ones first at each place."""
    words = [found.span() for found in _WORDS.finditer(text)][:MAX_WORDS]
    spans = [
        (words[first][0], words[last - 1][1])
        for first in range(len(words))
        for last in range(min(len(words), first + MAX_TOGETHER), first, -1)
    ]
    spans = [(start, end - _trailing(text[start:end])) for start, end in spans]
    texts = [text[start:end] for start, end in spans]
    for (start, end), fits in zip(spans, _matched(pattern, tuple(texts)), strict=True):
        if fits:
            yield FieldCandidate(text[start:end], start, end, _nearness(start, 60))


@lru_cache(maxsize=4_096)
def _matched(pattern: str, texts: tuple[str, ...]) -> tuple[bool, ...]:
    return tuple(matching(pattern, texts))


def _trailing(text: str) -> int:
    return len(text) - len(text.rstrip(".,;:"))


def _numbers(field: Field, text: str, habit: Habit, in_columns: bool) -> Iterator[FieldCandidate]:
    found = [one for one in numbers(text, habit) if field.kind == "number" or not one.value % 1]
    if is_money(field):
        yield from _amounts(found, 1.0 if in_columns else 0.9)
        return
    wants_percent = field.is_a("tax rate", "percent")
    for one in found:
        fit = 1.0 if one.is_percent == wants_percent else 0.5
        yield FieldCandidate(
            number_value(one.value, field), one.start, one.end, fit * _nearness(one.start, 60)
        )


def _amounts(found: list[FoundNumber], step: float) -> Iterator[FieldCandidate]:
    """Yields amounts, the last of a row first: what stands before it says what it is made of."""
    plain = [one for one in found if not one.is_percent]
    for rank, one in enumerate(reversed(plain)):
        fit = 1.0 if one.places == 2 else 0.9 if one.currency else 0.55
        yield FieldCandidate(_float(one.value), one.start, one.end, fit * step**rank)


def number_value(value: Decimal, field: Field) -> int | float:
    return int(value) if field.kind == "integer" else _float(value)


def _float(value: Decimal) -> int | float:
    return int(value) if value == int(value) and value.as_tuple().exponent == 0 else float(value)


def is_money(field: Field) -> bool:
    """Whether a number is an amount of money, by what the field is called."""
    return field.kind == "number" and field.is_a(*MONEY)


def is_identifier(field: Field) -> str:
    """Returns the kind of sign that a text field is, by what it is called; "" for words."""
    if field.kind != "text":
        return ""
    names = (concept.name for concept in field.concepts)
    return next((name for name in names if name in _FORMS or name in _NUMBERED), "")


def _yes_or_no(text: str) -> Iterator[FieldCandidate]:
    folded = fold(text)
    for value, form in ((True, _YES), (False, _NO)):
        if found := form.search(folded):
            yield FieldCandidate(value, *found.span(), _nearness(found.start(), 20))


def _words(field: Field, text: str, in_columns: bool) -> Iterator[FieldCandidate]:
    kind, folded = is_identifier(field), fold(text)
    if kind:
        form = _FORMS.get(kind, _IDENTIFIER)
        for found in form.finditer(folded):
            value = text[found.start() : found.end()].strip()
            if kind == "currency":
                yield FieldCandidate(CURRENCIES[found[0]], *found.span())
            else:
                near = _nearness(found.start(), FAR if in_columns else 12)
                yield FieldCandidate(value, *found.span(), near * _sign_fit(value))
        return
    words = text.split("  ")[0][:MAX_TEXT]
    start = len(words) - len(words.lstrip())
    if any(letter.isalpha() for letter in words):
        yield FieldCandidate(words.strip(), start, start + len(words.strip()), 0.9)


def _sign_fit(value: str) -> float:
    """Returns less for what is short or looks like a date."""
    is_date = re.fullmatch(r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}-\d\d-\d\d", value) is not None
    return 0.3 if is_date else 1.0 if len(value) > 3 else 0.6
