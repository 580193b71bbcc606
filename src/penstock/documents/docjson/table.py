"""Tables a model wrote, as cells: HTML or Markdown pipes, in time linear in the text.

Not an HTML parser: it knows table, row, cell and line break, drops the clothing of text inside cells and
takes everything else as text. What is not one plain table (nested, no cell at all) is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from pydantic import TypeAdapter

from penstock.documents.docjson.model import Cell, Table

MAX_SPAN = 200  # a longer one is a slip of the model
MAX_CELLS = 20_000
COMPLEX_CELLS, COMPLEX_SPANS, COMPLEX_EMPTY = 200, 4, 0.4  # beyond these a table is hard to read as text

_TAG = re.compile(r"<(/?)(table|tr|td|th|br|thead|tbody|tfoot)\b([^<>]{0,200})>", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)
_CLOTHING = re.compile(
    r"</?(?:b|i|u|p|em|strong|sup|sub|span|div|center|small|font)\b[^<>]{0,100}>", re.IGNORECASE
)
_SPAN = re.compile(r"(row|col)span\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_CELLS = TypeAdapter(list[Cell])  # all cells of a table in one call
_PLAIN_TAGS = ("<td>", "</td>", "<tr>", "</tr>", "<table>", "</table>")
_NUMERIC = re.compile(r"[-+±~<>≤≥]?\s?[₩$€£]?\s?\d[\d,.\s:/\-]*\s?(?:[%‰℃°a-zA-Z가-힣]{0,4})")


def read_table(text: str) -> Table:
    """The table of a region's content. Never raises."""
    cells = _pipes(text) if text.lstrip().startswith("|") else _cells(text)
    if cells is None:
        return Table(html=text, is_complex=True, complexity_reasons=["not one plain table"])
    return made_of(cells)


def words_of(table: Table) -> str:
    """The words of a table that could not be read as cells; "" for one that was."""
    return " ".join(unescape(_ANY_TAG.sub(" ", table.html)).split())


def made_of(cells: list[Cell]) -> Table:
    """A table with its size, its headers marked and what makes it hard to read."""
    rows = max((cell.r + cell.rs for cell in cells), default=0)
    columns = max((cell.c + cell.cs for cell in cells), default=0)
    _mark_headers(cells, rows)
    reasons = _reasons(cells, rows, columns)
    return Table(
        num_rows=rows, num_cols=columns, cells=cells, is_complex=bool(reasons), complexity_reasons=reasons
    )


def is_numeric(text: str) -> bool:
    return _NUMERIC.fullmatch(text.strip()) is not None


def rows_of(table: Table) -> list[list[str]]:
    """A grid of texts; a spanning cell stands in each place it covers."""
    rows, columns = table.num_rows, table.num_cols
    grid = [[""] * columns for _ in range(rows)]
    for cell in table.cells:
        if cell.rs == cell.cs == 1 and cell.r < rows and cell.c < columns:  # nearly all
            grid[cell.r][cell.c] = cell.text
            continue
        for r in range(cell.r, min(cell.r + cell.rs, rows)):
            for c in range(cell.c, min(cell.c + cell.cs, columns)):
                grid[r][c] = cell.text
    return grid


def header_depth(table: Table) -> int:
    """How many rows at the top are headers."""
    return 1 + max((cell.r + cell.rs - 1 for cell in table.cells if cell.is_header), default=-1)


def _plain_cells(text: str) -> list[Cell]:
    """The cells of the commonest kind of table, rows of `<td>` and nothing else, in a third of the time."""
    return _CELLS.validate_python(
        [
            {"r": r, "c": c, "text": _cell_text(cell.partition("</td>")[0])}
            for r, row in enumerate(text.split("<tr>")[1:])
            for c, cell in enumerate(row.split("<td>")[1:])
        ]
    )


def _cells(text: str) -> list[Cell] | None:
    # every tag is one of these six: no attributes, no headers, no line breaks
    if text.count("<") == sum(map(text.count, _PLAIN_TAGS)) and text.count("<table>") == 1:
        return _plain_cells(text)[:MAX_CELLS] or None
    reader = _Reader()
    at = 0
    for tag in _TAG.finditer(text):
        reader.text(text[at : tag.start()])
        reader.tag(bool(tag[1]), tag[2].lower(), tag[3])
        at = tag.end()
        if reader.nested or len(reader.cells) > MAX_CELLS:
            return None
    reader.text(text[at:])
    reader.end_cell()
    return reader.cells or None


class _Reader:
    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.nested = False
        self._depth = 0
        self._row, self._column = -1, 0
        self._free: dict[int, int] = {}  # column -> first row in which it is free again
        self._open: tuple[int, int, int, int, bool] | None = None
        self._words: list[str] = []

    def text(self, text: str) -> None:
        if self._open is not None and text:
            self._words.append(text)

    def tag(self, closing: bool, name: str, attributes: str) -> None:
        if name == "br":
            self._words.append("\n")
        elif name == "table":
            self.end_cell()
            self._depth += -1 if closing else 1
            self.nested = self._depth > 1
        elif name in ("td", "th"):
            self.end_cell()
            if not closing:
                self._start(attributes, name == "th")
        else:
            self.end_cell()
            if name == "tr" and not closing:
                self._row, self._column = self._row + 1, 0

    def end_cell(self) -> None:
        if self._open is not None:
            row, column, down, across, header = self._open
            text = _cell_text("".join(self._words))
            self.cells.append(Cell(r=row, c=column, rs=down, cs=across, text=text, is_header=header))
        self._open, self._words = None, []

    def _start(self, attributes: str, header: bool) -> None:
        row, column = max(self._row, 0), self._column
        while self._free.get(column, 0) > row:
            column += 1
        down, across = _spans(attributes) if attributes else (1, 1)
        for taken in range(column, column + across):
            self._free[taken] = row + down
        self._column = column + across
        self._open = (row, column, down, across, header)


def _spans(attributes: str) -> tuple[int, int]:
    spans = {kind.lower(): int(count) for kind, count in _SPAN.findall(attributes)}
    return min(max(spans.get("row", 1), 1), MAX_SPAN), min(max(spans.get("col", 1), 1), MAX_SPAN)


def _cell_text(written: str) -> str:
    """Without the clothing of text; one space between words, line breaks kept."""
    if "<" in written:
        written = _CLOTHING.sub("", written)
    if "&" in written:
        written = unescape(written)
    written = written.strip()
    return "\n".join(" ".join(line.split()) for line in written.split("\n")) if " " in written else written


_RULE = re.compile(r"[\s|:\-]+")


def _pipes(text: str) -> list[Cell] | None:
    lines = [line.strip() for line in text.split("\n") if line.strip().startswith("|")]
    rows = [line.strip("|").split("|") for line in lines if not _RULE.fullmatch(line)]
    cells = [Cell(r=r, c=c, text=text.strip()) for r, row in enumerate(rows) for c, text in enumerate(row)]
    return cells[:MAX_CELLS] or None


def _mark_headers(cells: Sequence[Cell], rows: int) -> None:
    """Without `<th>` the first row heads the table if it has no number and something stands under it."""
    if any(cell.is_header for cell in cells) or rows < 2:
        return
    top = [cell for cell in cells if cell.r == 0]
    depth = max((cell.rs for cell in top), default=1)
    if depth >= rows or any(is_numeric(cell.text) for cell in top) or not any(cell.text for cell in top):
        return
    for cell in cells:
        cell.is_header = cell.r < depth


def _reasons(cells: Sequence[Cell], rows: int, columns: int) -> list[str]:
    spanning = sum(cell.rs > 1 or cell.cs > 1 for cell in cells)
    empty = sum(not cell.text for cell in cells)
    found = {
        "many cells": len(cells) > COMPLEX_CELLS,
        "many spans": spanning > COMPLEX_SPANS,
        "many empty cells": len(cells) >= 8 and empty > COMPLEX_EMPTY * len(cells),
        "ragged rows": sum(cell.rs * cell.cs for cell in cells) != rows * columns,
    }
    return [reason for reason, holds in found.items() if holds]
