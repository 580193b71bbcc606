"""Rewrites pipe tables of Markdown as HTML tables, by the rule of the DP-Bench harness.

A header line, a line of dashes and colons, then rows until a line without a pipe. Rows take the
width of the wider of the first two lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape


def with_html_tables(markdown: str, *, sections: bool = False) -> str:
    """Returns the Markdown with every pipe table replaced by one line of HTML.

    With `sections` the header line is a `thead` and the rest a `tbody`, of `td` all, as in PubTabNet.
    """
    return "".join(_segments(markdown.splitlines(keepends=True), _in_sections if sections else _html))


def _segments(lines: list[str], written: Callable[[list[list[str]]], str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        width = _table_width(lines, at)
        if width == 0:
            yield lines[at]
            at += 1
            continue
        after = at + 2
        while after < len(lines) and _cells(lines[after]):
            after += 1
        rows = [_fitted(_cells(line), width) for line in [lines[at], *lines[at + 2 : after]]]
        ending = lines[at][len(lines[at].rstrip("\r\n")) :]
        yield written(rows) + ending
        at = after


def _table_width(lines: list[str], at: int) -> int:
    """Returns the number of columns of the table that starts at this line; 0 if none does."""
    if at + 1 >= len(lines):
        return 0
    header, rule = _cells(lines[at]), _cells(lines[at + 1])
    ruled = bool(rule) and all(cell.replace(" ", "") and set(cell) <= set("-: ") for cell in rule)
    return max(len(header), len(rule)) if header and ruled else 0


def _cells(line: str) -> list[str]:
    text = line.strip()
    if "|" not in text:
        return []
    cells = text.split("|")
    if text.startswith("|"):
        cells = cells[1:]
    if cells and text.endswith("|"):
        cells = cells[:-1]
    return [cell.strip() for cell in cells]


def _fitted(cells: list[str], width: int) -> list[str]:
    if len(cells) == 3 < width:  # the harness reads three cells as first, one spread over the middle, last
        return [cells[0], *[cells[1]] * (width - 2), cells[2]]
    return (cells + [""] * (width - len(cells)))[:width]


def _html(rows: list[list[str]]) -> str:
    if len(rows) > 1 and not any(rows[0]):
        rows = rows[1:]  # an empty header line only opens the table
    header = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows[1:])
    return f"<table><tr>{header}</tr>" + "".join(f"<tr>{row}</tr>" for row in body) + "</table>"


def _in_sections(rows: list[list[str]]) -> str:
    written = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    if len(rows) > 1 and not any(rows[0]):
        return f"<table><tbody>{''.join(written[1:])}</tbody></table>"
    return f"<table><thead>{written[0]}</thead><tbody>{''.join(written[1:])}</tbody></table>"
