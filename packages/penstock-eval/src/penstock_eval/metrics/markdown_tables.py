"""Rewrites pipe tables as HTML by the rule of GitHub Flavored Markdown, where a cell may hold tags.

`pipe_tables.py` has the rule of the DP-Bench harness, which knows neither tags nor escaped bars in cells.
"""

from __future__ import annotations

import re

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*:?-+:?\s*")


def with_tables_as_html(markdown: str) -> str:
    """Returns Markdown in which every pipe table is one line of HTML."""
    lines, written, at = markdown.splitlines(), [], 0
    while at < len(lines):
        width = _width(lines, at)
        if not width:
            written.append(lines[at])
            at += 1
            continue
        after = at + 2
        while after < len(lines) and "|" in lines[after]:
            after += 1
        rows = [_cells(line) for line in (lines[at], *lines[at + 2 : after])]
        written.append(_html(rows, width))
        at = after
    return "\n".join(written)


def _width(lines: list[str], at: int) -> int:
    """Returns the number of columns of the table whose head is this line; 0 if it is none."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "-" not in lines[at + 1]:
        return 0
    head, rule = _cells(lines[at]), _cells(lines[at + 1])
    ruled = all(_RULE.fullmatch(cell) for cell in rule)
    return len(head) if ruled and len(head) == len(rule) else 0


def _cells(line: str) -> list[str]:
    text = line.strip()
    cells = _BAR.split(text.removeprefix("|"))
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _html(rows: list[list[str]], width: int) -> str:
    if len(rows) > 1 and not any(rows[0]):
        rows = rows[1:]  # an empty head only opens the table
    fitted = [(row + [""] * (width - len(row)))[:width] for row in rows]
    written = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in fitted)
    return f"<table>{''.join(written)}</table>"
