"""Tables as cells, HTML and Markdown pipes.

A table is a list of `Cell` with their spans. HTML is what regions carry; pipes are what people
like to read where no cell spans. All text is escaped: content is data, never markup.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from penstock.documents.escape import inline


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1


def to_html(cells: Iterable[Cell]) -> str:
    """`<table>` with one `<tr>` a row; text escaped, line breaks as `<br>`."""
    rows: dict[int, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    if not rows:
        return "<table></table>"
    lines = [_row_html(rows.get(r, [])) for r in range(max(rows) + 1)]
    return "<table>" + "".join(lines) + "</table>"


def _row_html(cells: Sequence[Cell]) -> str:
    return "<tr>" + "".join(_cell_html(c) for c in sorted(cells, key=lambda c: c.column)) + "</tr>"


def _cell_html(cell: Cell) -> str:
    spans = "".join(
        f' {name}="{n}"' for name, n in (("rowspan", cell.row_span), ("colspan", cell.column_span)) if n > 1
    )
    return f"<td{spans}>{html.escape(cell.text, quote=False).replace(chr(10), '<br>')}</td>"


def from_html(text: str) -> list[Cell] | None:
    """The cells of one table's HTML, or None where it is not one plain table."""
    reader = _TableReader()
    reader.feed(text)
    reader.close()
    return None if reader.broken or reader.depth or not reader.cells else reader.cells


MAX_SPAN = 1000  # a longer span is a typing error or an attack on whoever lays the table out
MAX_COLUMNS = 1000


class _TableReader(HTMLParser):
    """Collects cells; knows table, row, cell and line break, and takes all else as text's clothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.cells: list[Cell] = []
        self.depth = 0
        self.broken = False
        self._row = -1
        self._column = 0  # where the next cell of this row may stand at the earliest
        self._taken: dict[int, int] = {}  # column -> first row in which it is free again
        self._open: Cell | None = None
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.depth += 1
            self.broken = self.broken or self.depth > 1 or bool(self.cells)
        elif tag == "tr":
            self._end_cell()
            self._row += 1
            self._column = 0
        elif tag in ("td", "th"):
            self._end_cell()
            self._start_cell(dict(attrs))
        elif tag == "br":
            self._text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()
        if tag == "table":
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._text.append(data)
        elif data.strip():
            self.broken = True

    def _start_cell(self, attrs: dict[str, str | None]) -> None:
        row, column = max(self._row, 0), self._column
        while self._taken.get(column, 0) > row:
            column += 1
        rows, columns = _span(attrs.get("rowspan")), _span(attrs.get("colspan"))
        self._column = column + columns
        if self._column > MAX_COLUMNS:
            self.broken = True
            return
        for taken in range(column, column + columns):
            self._taken[taken] = row + rows
        self._open = Cell(row=row, column=column, text="", row_span=rows, column_span=columns)
        self._text = []

    def _end_cell(self) -> None:
        cell, self._open = self._open, None
        if cell is not None:
            text = "".join(self._text).strip()
            self.cells.append(
                Cell(
                    row=cell.row, column=cell.column, text=text,
                    row_span=cell.row_span, column_span=cell.column_span,
                )
            )  # fmt: skip


def _span(value: str | None) -> int:
    digits = (value or "").strip()
    return min(max(int(digits), 1), MAX_SPAN) if digits.isdecimal() and len(digits) < 9 else 1


def to_pipes(cells: Sequence[Cell]) -> str | None:
    """A Markdown table with the first row as its head, or None where pipes cannot say it."""
    if any(c.row_span > 1 or c.column_span > 1 for c in cells) or not cells:
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
