"""Days of a sheet as people see them: by the letters of their format, in its country's words."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

KEPT = 1024  # formats
DAYS_1904 = 1_462
MAX_DAYS = 2_958_465  # the last day of the year 9999
LEAP_1900 = 60  # the day that Excel has and no calendar: before it, days are one later
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# the letters of days by country, as the format says it: Korean where it says none
OWN_DAYS = {
    "411": ("月火水木金土日", "曜日"),
    "412": ("월화수목금토일", "요일"),
    "804": ("一二三四五六日", ""),
}
OWN_HALVES = {"412": ("오전", "오후"), "411": ("午前", "午後")}
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<money>[^\]-]*)(?:-(?P<country>[^\]]*))?\]'
    r"|\[(?P<total>h+|m+|s+)\]|\[[^\]]*\]|_.|\*."
    r"|(?P<half>AM/PM|A/P|오전/오후|上午/下午|午前/午後)|(?P<letters>y+|m+|d+|h+|s+|a{3,4})"
    r"|\.(?P<fraction>0+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_DIGITS = re.compile(r"[0#?@]")


@lru_cache(maxsize=KEPT)
def _tokens(form: str) -> list[re.Match[str]]:
    return list(_TOKEN.finditer(form))


@lru_cache(maxsize=KEPT)
def is_date_form(form: str) -> bool:
    """Returns whether a format shows days or times."""
    tokens = _tokens(form)
    if any(token["other"] and _DIGITS.match(token["other"]) for token in tokens):
        return False
    if re.sub(r"\W", "", form).lower() == "general":
        return False
    return any(token["letters"] or token["total"] for token in tokens)


def shown_date(days: float, form: str, is_1904: bool = False) -> str:
    """Returns a day and a time as a format shows them; "" for what no calendar has."""
    if not 0 <= days < MAX_DAYS - DAYS_1904:
        return ""
    tokens = _tokens(form)
    fraction = max((len(token["fraction"] or "") for token in tokens), default=0)
    seconds = round(days * 86_400, min(fraction, 3))
    first = dt.datetime(1904, 1, 1) if is_1904 else dt.datetime(1899, 12, 30)
    late = dt.timedelta(days=1) if not is_1904 and 1 <= days < LEAP_1900 else dt.timedelta()
    moment = first + late + dt.timedelta(seconds=seconds)
    country = next((token["country"] for token in tokens if token["country"]), "").lstrip("0").upper()[-3:]
    halves = next((token["half"] for token in tokens if token["half"]), "")
    shown = (
        _shown(token, place, tokens, _Day(moment, seconds, country, halves))
        for place, token in enumerate(tokens)
    )
    return "".join(shown).strip()


class _Day:
    def __init__(self, moment: dt.datetime, seconds: float, country: str, halves: str) -> None:
        self.moment, self.seconds, self.country, self.halves = moment, seconds, country, halves

    @property
    def half(self) -> str:
        """Before noon or after, in the words of the format or of its country."""
        words = OWN_HALVES.get(self.country) if self.halves.upper() == "AM/PM" else None
        before, after = words or tuple(self.halves.split("/", 1))
        return before if self.moment.hour < 12 else after


def _shown(token: re.Match[str], place: int, tokens: list[re.Match[str]], day: _Day) -> str:
    if token["total"]:
        unit = {"h": 3600, "m": 60, "s": 1}[token["total"][0].lower()]
        return str(int(day.seconds // unit)).zfill(len(token["total"]))
    if token["half"]:
        return day.half
    if token["fraction"]:
        return f".{day.moment.microsecond:06d}"[: len(token["fraction"]) + 1]
    if token["letters"]:
        letters = token["letters"].lower()
        return _minutes(letters, day) if _is_minutes(place, tokens) else _letters(letters, day)
    return token["quoted"] or token["escaped"] or token["money"] or token["other"] or ""


def _is_minutes(place: int, tokens: list[re.Match[str]]) -> bool:
    """Whether an m is a minute: after hours, or before seconds."""
    if tokens[place]["letters"][0].lower() != "m":
        return False

    def kind(token: re.Match[str]) -> str:
        return (token["letters"] or token["total"] or "")[:1].lower()

    before = next((kind(token) for token in reversed(tokens[:place]) if kind(token)), "")
    after = next((kind(token) for token in tokens[place + 1 :] if kind(token)), "")
    return before == "h" or after == "s"


def _minutes(letters: str, day: _Day) -> str:
    return str(day.moment.minute).zfill(min(len(letters), 2))


def _letters(letters: str, day: _Day) -> str:
    kind, size, moment = letters[0], len(letters), day.moment
    if kind == "y":
        return f"{moment.year:04d}" if size > 2 else f"{moment.year % 100:02d}"
    if kind == "h":
        hour = moment.hour % 12 or 12 if day.halves else moment.hour
        return str(hour).zfill(min(size, 2))
    if kind == "s":
        return str(moment.second).zfill(min(size, 2))
    if size <= 2:
        return str(moment.month if kind == "m" else moment.day).zfill(size)
    if kind == "m":
        return _month(size, moment.month, day.country)
    return _weekday(kind, size, moment.weekday(), day.country)


def _month(size: int, month: int, country: str) -> str:
    if country in OWN_DAYS:  # these count their months
        return str(month) if size == 3 else f"{month}{'월' if country == '412' else '月'}"
    name = MONTHS[month - 1]
    return name[:1] if size == 5 else name[:3] if size == 3 else name


def _weekday(kind: str, size: int, weekday: int, country: str) -> str:
    if kind == "d" and country not in OWN_DAYS:
        return DAYS[weekday][:3] if size == 3 else DAYS[weekday]
    letters, ending = OWN_DAYS.get(country, OWN_DAYS["412"])
    return letters[weekday] + (ending if size > 3 else "")
