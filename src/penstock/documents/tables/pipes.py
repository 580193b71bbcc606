"""Writes and reads tables as Markdown pipes, which people like to read where no cell spans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.documents.text.escape import inline
from penstock.region import TableCell

_RULE = re.compile(r"[\s|:\-]+")


def to_pipes(cells: Sequence[TableCell]) -> str | None:
    """Returns a Markdown table with the first row as its head, or None where pipes cannot say it."""
    if any(c.row_span > 1 or c.column_span > 1 or c.inner for c in cells) or not cells:
        return None
    num_rows, num_columns = max(c.row for c in cells) + 1, max(c.column for c in cells) + 1
    if num_columns < 2 or num_rows * num_columns > 4 * len(cells) + 16:
        return None
    grid = [[""] * num_columns for _ in range(num_rows)]
    for cell in cells:
        grid[cell.row][cell.column] = _pipe_text(cell.text)
    lines = ["| " + " | ".join(row) + " |" for row in grid]
    return "\n".join([lines[0], "|" + " --- |" * num_columns, *lines[1:]])


def _pipe_text(text: str) -> str:
    parts = (inline(part.strip()).replace("|", "\\|") for part in text.split("\n"))
    return "<br>".join(parts)


def from_pipes(text: str) -> list[TableCell]:
    """Returns the cells of the lines that begin with a pipe, without the rule under the head."""
    lines = [line.strip() for line in text.split("\n") if line.strip().startswith("|")]
    rows = [line.strip("|").split("|") for line in lines if not _RULE.fullmatch(line)]
    return [TableCell(r, c, text.strip()) for r, row in enumerate(rows) for c, text in enumerate(row)]
