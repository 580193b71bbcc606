"""The tables of `beside_office_peers.py`: a tool a row, the best of a column in bold."""

from __future__ import annotations

from typing import Any

COLUMNS = (
    "headings", "lists", "tables", "formulas", "pictures", "order", "text_edit", "lost", "invented", "kept",
)  # fmt: skip
LOWER = ("text_edit", "lost", "invented")
Rows = dict[str, Any]


def whole_table(made: Rows) -> str:
    """All formats that a tool reads together, with the half width of the 95 % interval."""
    header = ["tool", "read", *COLUMNS, "CPU ms"]
    best = {name: _best(made, lambda row, key=name: row["scores"].get(key), name) for name in COLUMNS}
    rows = []
    for tool, row in made.items():
        cells = [_cell(row["scores"].get(name), best[name]) for name in COLUMNS]
        rows.append([tool, f"{row['read']} of {row['documents']}", *cells, f"{row['cpu_ms']:.0f}"])
    return _markdown(header, rows)


def format_table(made: Rows) -> str:
    """One row for each format and tool."""
    kinds = dict.fromkeys(kind for row in made.values() for kind in row["formats"])
    rows = []
    for kind in kinds:
        readers = {tool: row["formats"][kind] for tool, row in made.items() if kind in row["formats"]}
        best = {name: _best(readers, lambda row, key=name: row.get(key), name) for name in COLUMNS}
        for tool, scores in readers.items():
            rows.append([kind, tool, *(_cell(scores.get(name), best[name], False) for name in COLUMNS)])
    return _markdown(["format", "tool", *COLUMNS], rows)


def others_table(elsewhere: Rows) -> str:
    rows = []
    for tool, row in elsewhere.items():
        if row:
            kinds = ", ".join(f"{kind} {mean:.3f} ({count})" for kind, (mean, count) in row["order"].items())
            rows.append([tool, f"{row['read']} of {row['files']}", _cell(row["all"], None), kinds])
    return _markdown(["tool", "read", "order", "by format (files)"], rows)


def _best(rows: Rows, take: Any, name: str) -> float | None:
    values = [take(row)[0] for row in rows.values() if take(row)]
    if not values:
        return None
    return round(min(values) if name in LOWER else max(values), 3)


def _cell(interval: list[float] | None, best: float | None, with_width: bool = True) -> str:
    if interval is None:
        return ""
    mean, low, high = interval
    shown = f"**{mean:.3f}**" if round(mean, 3) == best else f"{mean:.3f}"
    return f"{shown} ±{(high - low) / 2:.3f}" if with_width else shown


def _markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
