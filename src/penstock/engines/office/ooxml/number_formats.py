"""Numbers of a sheet as people see them: dates, money, shares, digits after the point."""

from __future__ import annotations

import datetime as dt
import re

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00",
    41: "#,##0",
    42: "#,##0", 43: "#,##0.00", 44: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "0.0E+0",
    49: "@",
}  # fmt: skip
_UNSHOWN = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_DATE = re.compile(r"[ymdhs]", re.IGNORECASE)
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([0#?]+))?")
DAYS_1904 = 1_462
MAX_DAYS = 2_958_465  # the last day of the year 9999


def shown_value(text: str, form: str, is_1904: bool = False) -> str:
    """Returns a number that is stored as `text` as its format shows it, or as stored."""
    try:
        number = float(text)
    except ValueError:
        return text
    part = _section(form, number)
    bare = _UNSHOWN.sub("", part)
    if not part or bare.strip().lower() in ("general", "@", ""):
        return _general(number)
    if _DATE.search(bare) and not re.search(r"[0#?]", re.sub(r"s\.0+", "s", bare)):
        return _as_date(number + (DAYS_1904 if is_1904 else 0), bare) or _general(number)
    return _as_number(number, part, bare)


def _section(form: str, number: float) -> str:
    """Returns the part of a format for positive, negative or zero numbers."""
    parts = form.split(";")
    if number < 0 and len(parts) > 1:
        return parts[1] if "-" in parts[1] or "(" in parts[1] or "△" in parts[1] else "-" + parts[1]
    return parts[2] if number == 0 and len(parts) > 2 and parts[2] else parts[0]


def _general(number: float) -> str:
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.10g}"


def _as_number(number: float, part: str, bare: str) -> str:
    digits = _DIGITS.search(bare)
    if digits is None or "/" in bare:
        return _general(number)
    if "E+" in bare.upper():
        return f"{number:.{len(digits[1] or '')}E}"
    shares = bare.count("%")
    value = abs(number) * 100**shares / 1000 ** _thousands(digits[0])
    comma = "," if re.search(r"[#0?],[#0?]", digits[0]) else ""
    whole = f"{value:{comma}.{len(digits[1] or '')}f}"
    if digits[1] and digits[1].endswith("#"):
        whole = whole.rstrip("0").rstrip(".")
    negative = number < 0 and ";" not in part and not part.startswith("-") and "(" not in part
    literal = _UNSHOWN.sub(lambda found: found[1] or found[2] or found[3] or "", part)
    shown = _DIGITS.sub(lambda _: whole, literal, count=1).strip()
    return f"-{shown}" if negative else shown


def _thousands(digits: str) -> int:
    return len(digits) - len(digits.rstrip(","))


def _as_date(days: float, form: str) -> str:
    if not 0 <= days < MAX_DAYS:
        return ""
    moment = dt.datetime(1899, 12, 30) + dt.timedelta(seconds=round(days * 86_400))
    has_day, has_time = re.search(r"[yd]", form, re.I), re.search(r"[hs]", form, re.I)
    if re.search(r"mmm", form, re.I):
        has_day = has_day or re.search(r"m", form, re.I)
    if not has_day and not has_time:
        return ""
    shown = moment.strftime("%Y-%m-%d") if has_day else ""
    clock = moment.strftime("%H:%M:%S" if re.search(r"s", form, re.I) else "%H:%M") if has_time else ""
    return f"{shown} {clock}".strip()
