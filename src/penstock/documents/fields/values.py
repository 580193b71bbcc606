"""Dates and numbers in running text, as documents of several countries write them.

Each is found with its place, so that what was meant can be shown where it stands. A document has one
`Habit`: which sign begins its decimals, and whether its dates begin with the month.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from penstock.documents.fields.labels import fold

MAX_DIGITS = 18
CURRENCIES = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "$": "USD", "usd": "USD", "us$": "USD", "£": "GBP",
    "gbp": "GBP", "₩": "KRW", "krw": "KRW", "원": "KRW", "¥": "JPY", "jpy": "JPY", "chf": "CHF",
    "fr": "CHF", "₹": "INR", "rs": "INR", "inr": "INR", "pln": "PLN", "zł": "PLN", "zl": "PLN",
    "sek": "SEK", "dkk": "DKK", "nok": "NOK", "czk": "CZK", "cad": "CAD", "aud": "AUD", "cny": "CNY",
    "hkd": "HKD", "sgd": "SGD",
}  # fmt: skip
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier janv januari", "february feb februar fevrier fevr fev februari",
            "march mar marz mrz mars maart", "april apr avril avr", "may mai mei", "june jun juni juin",
            "july jul juli juillet juil", "august aug aout augustus", "september sep sept septembre",
            "october oct oktober okt octobre", "november nov novembre",
            "december dec dezember dez decembre",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = re.compile(
    r"(?<![\d.])(?P<y1>(?:19|20)\d\d)\s?[-/.년]\s?(?P<m1>\d{1,2})\s?[-/.월]\s?(?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\d.])(?P<a>\d{1,2})\s?(?P<sep>[./-])\s?(?P<b>\d{1,2})\s?(?P=sep)\s?(?P<y2>\d{4}|\d{2})(?!\d)"
    rf"|(?<!\d)(?P<d3>\d{{1,2}})(?:st|nd|rd|th|er)?[\s.\-/]{{0,3}}(?P<m3>{_MONTH})\b[\s.,\-/]{{0,3}}(?P<y3>\d{{4}}|\d{{2}})(?!\d)"
    rf"|\b(?P<m4>{_MONTH})\b[\s.]{{0,2}}(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s{{0,2}}(?P<y4>\d{{4}})(?!\d)"
)
_SIGN = r"(?P<minus>[-−–]\s?)?"
_NUMBERS = re.compile(
    rf"(?<![\w.,]){_SIGN}"
    r"(?P<before>us\$|[€$£₩¥₹]|(?:eur|usd|gbp|krw|chf|inr|rs|pln)\.?)?\s?(?P<late>[-−–]\s?)?"
    r"(?P<digits>\d{1,3}(?:[ ’'\u00a0\u202f]\d{3})+(?:[.,]\d{1,4})?|\d[\d.,]*\d|\d)"
    r"(?P<trailing>-(?!\d))?\s?(?P<after>[€$£₩¥₹%]|원|(?:euros?|eur|usd|gbp|krw|chf|inr|pln|zł)\b)?"
    r"(?![\w]|[.,]\d)"
)
DecimalSign = Literal[".", ","]


@dataclass(frozen=True, slots=True)
class Habit:
    """How one document writes numbers and dates."""

    decimals: DecimalSign = "."
    month_first: bool = False


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and where it stands in its text."""

    value: datetime.date
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number and where it stands. `places` counts its decimals; a percentage is no amount."""

    value: Decimal
    start: int
    end: int
    places: int
    currency: str = ""
    is_percent: bool = False


def habit_of(texts: Iterable[str]) -> Habit:
    """Returns how a document writes: by the numbers and dates that can be read in one way only."""
    marks: dict[str, int] = {".": 0, ",": 0}
    month_first = day_first = 0
    for text in texts:
        for number in re.finditer(r"\d([.,])\d\d(?![\d.,]*\d)", text):
            marks[number[1]] += 1
        for date in _DATES.finditer(fold(text)):
            if date["sep"] == "/":
                month_first += int(date["b"]) > 12 >= int(date["a"])
                day_first += int(date["a"]) > 12
    return Habit("," if marks[","] > marks["."] else ".", month_first > day_first)


def dates(text: str, habit: Habit) -> Iterator[FoundDate]:
    """Yields the dates of a text."""
    for found in _DATES.finditer(fold(text)):
        with suppress(ValueError):
            yield FoundDate(_date(found, habit), *found.span())


def _date(found: re.Match[str], habit: Habit) -> datetime.date:
    if found["y1"]:
        return datetime.date(int(found["y1"]), int(found["m1"]), int(found["d1"]))
    if found["y3"]:
        return datetime.date(_year(found["y3"]), _MONTHS[found["m3"]], int(found["d3"]))
    if found["y4"]:
        return datetime.date(int(found["y4"]), _MONTHS[found["m4"]], int(found["d4"]))
    day, month = int(found["a"]), int(found["b"])
    if month > 12 or (habit.month_first and found["sep"] == "/" and day <= 12):
        day, month = month, day
    return datetime.date(_year(found["y2"]), month, day)


def _year(digits: str) -> int:
    return int(digits) if len(digits) == 4 else 2000 + int(digits) - 100 * (int(digits) > 68)


def numbers(text: str, habit: Habit) -> Iterator[FoundNumber]:
    """Yields the numbers of a text. What is part of a date or of a word is none."""
    folded = fold(text)
    taken = [found.span() for found in _DATES.finditer(folded)]
    for found in _NUMBERS.finditer(folded):
        start, end = found.span()
        if any(start < b and a < end for a, b in taken):
            continue
        value, places = _decimal(found["digits"], habit)
        if value is None:
            continue
        minus = found["minus"] or found["late"] or found["trailing"]
        sign = (found["before"] or found["after"] or "").rstrip(".")
        yield FoundNumber(
            -value if minus else value, start, end, places, CURRENCIES.get(sign, ""), sign == "%"
        )


def _decimal(digits: str, habit: Habit) -> tuple[Decimal | None, int]:
    """Returns the value and how many decimals were written; None for what is no number, such as 1.2.3."""
    digits = re.sub(r"[ ’'\u00a0\u202f]", "", digits)
    if len(digits) > MAX_DIGITS:
        return None, 0
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return _parsed(digits), 0
    whole, mark, decimals = digits[:last], digits[last], digits[last + 1 :]
    other = "," if mark == "." else "."
    is_grouped = all(len(part) == 3 for part in re.split(r"[.,]", whole)[1:]) and len(decimals) == 3
    if is_grouped and (mark in whole or (mark != habit.decimals and other not in whole)):
        return _parsed(re.sub(r"[.,]", "", digits)), 0
    if mark in whole or not all(len(part) == 3 for part in whole.split(other)[1:]):
        return None, 0
    return _parsed(f"{whole.replace(other, '')}.{decimals}"), len(decimals)


def _parsed(digits: str) -> Decimal | None:
    try:
        return Decimal(digits)
    except InvalidOperation:
        return None
