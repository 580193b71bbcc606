"""Finds what a table's numbers say: the extremes of each column, and the trend of a series.

A column is numeric if most of its cells are. Only a series has a trend: rows named by years, months, quarters
or other rising numbers. Rows of sums and means do not belong to the series.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MIN_ROWS = 2
NUMERIC_SHARE = 0.7
MAX_FINDINGS = 6
STEADY = 0.03  # of the first value: less is no change
_NUMBER = re.compile(r"[-+−△▲]?\s?[₩$€£]?\s?(\d[\d,]*(?:\.\d+)?)\s?(%|[a-zA-Z가-힣/³²·]{0,8})")
_TOTAL = re.compile(
    r"[합총소]?\s?계|총합|전체|평균|(?:(?:grand|sub)[\s-]?)?totals?\b.*|(?:sum|all|overall|average|mean)\b.*",
    re.IGNORECASE,
)
_MOMENT = re.compile(r"'?(\d{2,4})\s?(?:년|학년도|년도|\.|/|-|Q|분기|월|일|month|week|day)?.{0,6}")


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence in two languages."""

    ko: str
    en: str


def findings(rows: Sequence[Sequence[str]], head: int) -> list[Finding]:
    """Returns the extremes of each numeric column, and its trend if the rows are a series."""
    if not head and len(rows) > 1 and rows[0] and not rows[0][0].strip():
        head = 1  # a corner left empty: the first row names the columns, even by numbers
    # a row without a name cannot be an extreme of anything
    body = [row for row in rows[head:] if row and row[0].strip() and not _TOTAL.fullmatch(row[0].strip())]
    if len(body) < MIN_ROWS:
        return []
    names = [cell.replace("\n", " ").strip() for cell in rows[head - 1]] if head else [""] * len(body[0])
    labels = [row[0].replace("\n", " ").strip() for row in body]
    in_time = _is_series(labels)
    found: list[Finding] = []
    for column in range(1, len(body[0])):
        cells = [row[column].strip() if column < len(row) else "" for row in body]
        values = [number(cell) for cell in cells]
        if sum(value is not None for value in values) < max(MIN_ROWS, NUMERIC_SHARE * len(values)):
            continue
        name = names[column] if column < len(names) else ""
        found += _extremes(name, labels, cells, values)
        if in_time:
            found += _trend(name, labels, values)
    return found[:MAX_FINDINGS]


def number(cell: str) -> float | None:
    """Returns the value of a cell that is a number with at most a unit; None for anything else."""
    match = _NUMBER.fullmatch(cell.strip())
    if match is None:
        return None
    value = float(match[1].replace(",", ""))
    return -value if cell.strip()[0] in "-−△▲" else value


def _extremes(
    name: str, labels: Sequence[str], cells: Sequence[str], values: Sequence[float | None]
) -> list[Finding]:
    known = [(value, place) for place, value in enumerate(values) if value is not None]
    low, high = min(known), max(known, key=lambda pair: (pair[0], -pair[1]))
    if low[0] == high[0]:
        return []
    what_ko, what_en = name or "값", name or "value"
    return [
        Finding(
            f"{what_ko}의 최댓값은 {cells[high[1]]}{_at(labels[high[1]])}, "
            f"최솟값은 {cells[low[1]]}{_at(labels[low[1]])}이다.",
            f"Highest {what_en}: {cells[high[1]]}{_at(labels[high[1]])}; "
            f"lowest: {cells[low[1]]}{_at(labels[low[1]])}.",
        )
    ]


def _at(label: str) -> str:
    return f" ({label})" if label else ""


def _is_series(labels: Sequence[str]) -> bool:
    moments = [_MOMENT.fullmatch(label) for label in labels]
    values = [int(moment[1]) for moment in moments if moment]
    return len(values) == len(labels) >= 3 and values == sorted(values) and values[0] != values[-1]


def _trend(name: str, labels: Sequence[str], values: Sequence[float | None]) -> list[Finding]:
    known = [value for value in values if value is not None]
    first, last = known[0], known[-1]
    rises = sum(b > a for a, b in pairwise(known))
    falls = sum(b < a for a, b in pairwise(known))
    what_ko, what_en = name or "값", name or "The value"
    span_ko, span_en = f"{labels[0]}부터 {labels[-1]}까지", f"from {labels[0]} to {labels[-1]}"
    if abs(last - first) <= STEADY * abs(first or 1):
        return [
            Finding(f"{what_ko}은(는) {span_ko} 비슷하게 유지되었다.", f"{what_en} stayed level {span_en}.")
        ]
    up = last > first
    steadily = (falls if up else rises) == 0
    how_ko = ("꾸준히 " if steadily else "대체로 ") + ("증가했다" if up else "감소했다")
    how_en = ("rose" if up else "fell") + (" steadily" if steadily else " overall")
    return [Finding(f"{what_ko}은(는) {span_ko} {how_ko}.", f"{what_en} {how_en} {span_en}.")]
