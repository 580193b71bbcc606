"""How people read numbers: one way for the terminal, the log line and the report."""

from __future__ import annotations


def count(number: int) -> str:
    return f"{number:,}"


def plural(number: int, one: str, many: str = "") -> str:
    """ "1 restart", "2 restarts", "2 processes"."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(fraction: float) -> str:
    """`0.973` is "97 %". Only all is "100 %", and only nothing is "0 %"."""
    whole = round(fraction * 100)
    if whole == 100 and fraction < 0.999:
        whole = 99
    if whole == 0 and fraction > 0.001:
        whole = 1
    return f"{whole} %"


def rate(per_second: float) -> str:
    """Three figures are enough: 0.123, 1.23, 12.3, 123, 1,234."""
    if per_second >= 100:
        return f"{per_second:,.0f}"
    return f"{per_second:.1f}" if per_second >= 10 else f"{per_second:.3g}"


def duration(seconds: float) -> str:
    """The two largest units that matter: "0.4 s", "42 s", "3 min 5 s", "2 h 14 min", "3 days 4 h"."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _two(whole // 60, "min", whole % 60, "s")
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return _two(minutes // 60, "h", minutes % 60, "min")
    hours = round(seconds / 3600)
    return _two(hours // 24, "days", hours % 24, "h")


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small} {small_unit}" if small else f"{large} {large_unit}"
