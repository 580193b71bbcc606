"""Numbers of a sheet as people see them: money, shares, fractions, digits after the point."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from penstock.engines.office.ooxml.date_formats import is_date_form, shown_date

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 41: "#,##0", 42: "#,##0", 43: "#,##0.00",
    44: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "0.0E+0", 49: "@",
    # what Korean Excel adds (ECMA-376, 18.8.30); Chinese and Japanese have dates there too
    **dict.fromkeys((27, 36, 50, 57), 'yyyy"年" mm"月" dd"日"'),
    **dict.fromkeys((28, 29, 51, 54, 58), "mm-dd"),
    30: "mm-dd-yy", 31: 'yyyy"년" mm"월" dd"일"', 32: 'h"시" mm"분"', 33: 'h"시" mm"분" ss"초"',
    **dict.fromkeys((34, 35, 52, 53, 55, 56), "yyyy-mm-dd"),
}  # fmt: skip
# literals, and what is not shown: colours, conditions, countries, gaps as wide as a letter
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_CONDITION = re.compile(r"\[(<=|>=|<>|=|<|>)(-?\d+(?:\.\d+)?)\]")
_FRACTION = re.compile(r"([#0?]*)\s*([#0?]+)\s*/\s*([#0?]+|\d+)")
_PART = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*)(?:;|$)')
NEGATIVE_MARKS = ("-", "(", "△", "▲")
MOST = 1e28  # larger ones are shown by their power of ten
PRIVATE = 0xE000
KEPT = 1024  # formats: a sheet has few, and shows each in many cells
MAX_FORM = 255  # letters: Excel's own bound
ROUNDED = Context(prec=28 + MAX_FORM, rounding=ROUND_HALF_UP)


def shown_value(text: str, form: str, is_1904: bool = False) -> str:
    """Returns a number that is stored as `text` as its format shows it, or as stored."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    part, is_marked = _section(form[:MAX_FORM], number)
    bare = _bare(part)
    if is_date_form(part):
        return shown_date(number, part, is_1904) or _general(number)
    if part and not bare and part != form:
        return _literals(part).strip()  # a section that is only words, such as "-" for nothing
    if bare.lower() == "general" and abs(number) < MOST:
        shown = _literals(part.strip()).replace(bare, _general(abs(number)), 1)
    elif re.search(r"[0#?]", bare) and abs(number) < MOST:
        shown = _as_number(abs(number), part)
    else:
        return _general(number)
    return f"-{shown}" if number < 0 and not is_marked else shown


def _section(form: str, number: float) -> tuple[str, bool]:
    """Returns the part of a format for a number, and whether that says itself that it is below zero."""
    parts = _parts(form)
    for part in parts if "[" in form else ():
        found = _CONDITION.search(part)
        if found and _holds(number, found[1], float(found[2])):
            return part, _is_marked(part)
    if "[" in form and any(_CONDITION.search(part) for part in parts):
        return parts[-1], _is_marked(parts[-1])
    if number < 0 and len(parts) > 1:
        return parts[1], _is_marked(parts[1])
    return (parts[2] if number == 0 and len(parts) > 2 and parts[2] else parts[0]), False


def _is_marked(part: str) -> bool:
    """Returns whether it says by a sign that a number is below zero: a colour alone is lost in text."""
    return any(mark in _literals(part) for mark in NEGATIVE_MARKS)


@lru_cache(maxsize=KEPT)
def _parts(form: str) -> list[str]:
    return _PART.findall(form)[:-1][:4] if ";" in form else [form]


def _holds(number: float, sign: str, bound: float) -> bool:
    is_equal = number == bound
    return {"<": number < bound, ">": number > bound, "<=": number <= bound, ">=": number >= bound,
            "=": is_equal, "<>": not is_equal}[sign]  # fmt: skip


@lru_cache(maxsize=KEPT)
def _bare(part: str) -> str:
    return _LITERAL.sub("", part).strip()


def _literals(part: str) -> str:
    return _LITERAL.sub(lambda found: found[1] or found[2] or found[3] or "", part)


def _general(number: float) -> str:
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.10g}"


def _as_number(value: float, part: str) -> str:
    """Returns a number above zero in the words of its format."""
    body, words = _body(part)
    fraction = _FRACTION.search(body) if "/" in body else None
    if fraction:
        shown = body[: fraction.start()] + _as_fraction(value, fraction) + body[fraction.end() :]
    else:
        shown = _with_digits(value, body)
    return ("".join(_word(letter, words) for letter in shown) if words else shown).strip()


@lru_cache(maxsize=KEPT)
def _body(part: str) -> tuple[str, list[str]]:
    """Returns a format with a private letter for each of its words, whose digits are none; and the words."""
    words: list[str] = []

    def letter(found: re.Match[str]) -> str:
        words.append(_literals(found[0]))
        return chr(PRIVATE + len(words) - 1)

    return _LITERAL.sub(letter, part), words


def _word(letter: str, words: list[str]) -> str:
    place = ord(letter) - PRIVATE
    return words[place] if 0 <= place < len(words) else letter


def _as_fraction(value: float, form: re.Match[str]) -> str:
    fixed = int(form[3]) if form[3].isdecimal() and int(form[3]) else 0
    whole = int(value) if form[1] else 0
    exact = Fraction(value - whole)
    near = exact.limit_denominator(10 ** min(len(form[3]), 9) - 1)
    over, under = (round(exact * fixed), fixed) if fixed else (near.numerator, near.denominator)
    if form[1] and over >= under:
        whole, over = whole + 1, 0
    if not over:
        return str(whole)
    return f"{whole} {over}/{under}" if whole else f"{over}/{under}"


def _with_digits(value: float, body: str) -> str:
    spots = [place for place, letter in enumerate(body) if letter in "0#?"]
    first, last = spots[0], spots[-1]
    power = re.search(r"E[+-]", body[first:], re.IGNORECASE)
    if power:
        mantissa = body[first : first + power.start()].partition(".")[2]
        return body[:first] + f"{value:.{len(mantissa)}E}" + body[last + 1 :]
    commas = len(body[last + 1 :]) - len(body[last + 1 :].lstrip(","))
    inside, after = body[first : last + 1], body[last + 1 + commas :]
    scaled = Decimal(repr(value)) * 100 ** body.count("%") / 1000**commas
    whole, point, rest = inside.partition(".")
    decimals = sum(letter in "0#?" for letter in rest)
    digits = f"{scaled.quantize(Decimal(1).scaleb(-decimals), context=ROUNDED):f}"
    units, _, tail = digits.partition(".")
    return body[:first] + _units(units, whole) + _tail(tail, rest, point) + after


def _units(digits: str, form: str) -> str:
    """Returns the digits before the point in their places; the first place takes all that are left."""
    if form in ("0", "#,##0"):
        return f"{int(digits):,}" if "," in form else digits
    left = list("" if digits == "0" else digits)
    has_groups, count, made = "," in form, 0, []
    places = [letter for letter in form if letter != ","]
    first = next((place for place, letter in enumerate(places) if letter in "0#?"), -1)
    for place in range(len(places) - 1, -1, -1):
        if places[place] not in "0#?":
            made.append(places[place])
            continue
        wanted = len(left) if place == first else 1
        for digit in [left.pop() if left else "0" for _ in range(max(wanted, places[place] == "0"))
                      if left or places[place] == "0"]:  # fmt: skip
            made.append("," if has_groups and count and count % 3 == 0 else "")
            made.append(digit)
            count += 1
    return "".join(reversed(made))


def _tail(digits: str, form: str, point: str) -> str:
    """Returns the point and what stands behind it, without the digits that a # leaves out."""
    most = len(digits)
    wanted = [letter for letter in form if letter in "0#?"]
    while most and digits[most - 1] == "0" and wanted[most - 1] != "0":
        most -= 1
    left, made = iter(digits[:most]), []
    for letter in form:
        made.append(next(left, "") if letter in "0#?" else letter)
    return (point if most else "") + "".join(made)
