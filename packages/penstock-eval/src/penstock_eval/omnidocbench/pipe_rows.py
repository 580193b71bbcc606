"""Rewrites the pipe tables of a predicted page as HTML, as OmniDocBench reads them.

Every stretch from a pipe to a pipe at a line's end is a row (or, where a row does not end in a pipe,
several lines whose second is taken for the rule under the header). Rows that follow each other make
one table. Quirks that change scores: a cell with a colon or three dashes vanishes, a row
left without cells vanishes, and so does the line of text right above a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ROW = re.compile(r"\|\s*.*?\s*\|\n", re.DOTALL)
_RULE = re.compile(r":|---")


def has_rows(content: str) -> bool:
    return len(ROW.findall(content + "\n")) >= 2


def as_html(content: str) -> str:
    """Returns the page with its rows as HTML tables, each on its own lines."""
    content = content.replace("\r", "") + "\n"
    lines: list[str] = [""]  # the benchmark's output starts with an empty line
    table: list[str] = []
    unfinished = ""
    in_table = False
    for row, text in _rows_and_text(content):
        if row is not None:
            unfinished = ""  # text on the row's own line, or right above the table, is lost
            if not in_table and len(lines) > 1:
                lines.pop()
            in_table = True
            table += _row_lines(row)
            continue
        pieces = (unfinished + text).split("\n")
        unfinished = pieces.pop()
        if in_table and (pieces or text):
            lines.append(_table(table))
            table, in_table = [], False
        lines += pieces
    if in_table:
        lines.append(_table(table))
    elif unfinished:
        lines.append(unfinished)
    # stray tags in the text are rewritten with the tables' own
    return (
        "\n".join(lines)
        .replace("<table>", '<table border="1" >')
        .replace("<td>", '<td colspan="1" rowspan="1">')
    )


def _rows_and_text(content: str) -> Iterator[tuple[str | None, str]]:
    at = 0
    for found in ROW.finditer(content):
        if found.start() > at:
            yield None, content[at : found.start()]
        yield found[0], ""
        at = found.end()
    if at < len(content):
        yield None, content[at:]


def _row_lines(source: str) -> list[str]:
    """The `<tr>` lines of one row, or none when nothing of it is left."""
    rows = [line.strip().split("|")[1:-1] for line in source.strip().split("\n")]
    lines: list[str] = []
    for cells in [rows[0], *rows[2:]]:
        kept = [f"      <td>{cell.strip()}</td>" for cell in cells]
        lines += ["    <tr>", *(line for line in kept if not _RULE.search(line)), "    </tr>"]
    return lines if len(lines) > 2 else []


def _table(lines: list[str]) -> str:
    body = "\n".join(lines)
    return f"\n\n<table>\n{body}\n</table>\n\n"
