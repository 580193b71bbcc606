"""Tables as cells, HTML and Markdown pipes.

A table is a list of `HtmlCell` with their spans. HTML is what regions carry; pipes are what people
like to read where no cell spans. All text is escaped: content is data, never markup.
Two ways in, one reader of cells: strict for tables that are written again, loose for what a model wrote.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html.parser import HTMLParser
from typing import NamedTuple

from penstock.documents.escape import inline

MAX_SPAN = 1000  # a longer span is a typing error or an attack on whoever lays the table out
MAX_COLUMNS = 1000
MAX_LOOSE_SPAN = 200  # a longer one is a slip of the model
MAX_CELLS = 20_000

_TAG = re.compile(r"<(/?)(table|tr|td|th|br|thead|tbody|tfoot)\b([^<>]{0,200})>", re.IGNORECASE)
_WORD_MARKUP = re.compile(
    r"</?(?:b|i|u|p|em|strong|sup|sub|span|div|center|small|font)\b[^<>]{0,100}>", re.IGNORECASE
)
_SPAN = re.compile(r"(row|col)span\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)


class HtmlCell(NamedTuple):
    """A cell and its place. DocJSON's `Cell` is its published form.

    A tuple: a page may have thousands, and a frozen dataclass takes four times as long to make.
    """

    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1
    is_header: bool = False


def to_html(cells: Iterable[HtmlCell]) -> str:
    """`<table>` with one `<tr>` a row; text escaped, line breaks as `<br>`."""
    rows: dict[int, list[HtmlCell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    if not rows:
        return "<table></table>"
    lines = [_row_html(rows.get(r, [])) for r in range(max(rows) + 1)]
    head = _head_rows(rows)
    if not 0 < head < len(lines):
        return "<table>" + "".join(lines) + "</table>"
    return f"<table><thead>{''.join(lines[:head])}</thead>{''.join(lines[head:])}</table>"


def _head_rows(rows: Mapping[int, Sequence[HtmlCell]]) -> int:
    """How many rows from the first on are headings throughout."""
    count = 0
    while count in rows and all(cell.is_header for cell in rows[count]):
        count += 1
    return count


def _row_html(cells: Sequence[HtmlCell]) -> str:
    return "<tr>" + "".join(_cell_html(c) for c in sorted(cells, key=lambda c: c.column)) + "</tr>"


def _cell_html(cell: HtmlCell) -> str:
    spans = "".join(
        f' {name}="{n}"' for name, n in (("rowspan", cell.row_span), ("colspan", cell.column_span)) if n > 1
    )
    return f"<td{spans}>{html.escape(cell.text, quote=False).replace(chr(10), '<br>')}</td>"


def from_html(text: str) -> list[HtmlCell] | None:
    """Returns the cells of one table's HTML, or None where it is not one plain table.

    Strict: text outside of cells, a nested table or a second one make it None. Markup is dropped.
    """
    parser = _StrictParser()
    parser.feed(text)
    parser.close()
    cells = parser.table.cells
    return None if parser.is_broken or parser.depth or not cells else cells


def from_loose_html(text: str) -> list[HtmlCell] | None:
    """Returns the cells of a table as a model wrote it, in time linear in the text.

    Loose: what stands outside of cells is passed over, tags that are not known stay as text, and tags may
    be left open. Returns None for nested tables, for more than `MAX_CELLS` cells and for none.
    """
    table, depth, at = _CellReader(loose_text), 0, 0
    for tag in _TAG.finditer(text):
        table.write(text[at : tag.start()])
        at = tag.end()
        is_end, name = bool(tag[1]), tag[2].lower()
        if name == "br":
            table.write("\n")
            continue
        table.end_cell()
        if name == "table":
            depth += -1 if is_end else 1
        elif not is_end:
            _start(table, name, tag[3])
        if depth > 1 or len(table.cells) > MAX_CELLS:
            return None
    table.write(text[at:])
    table.end_cell()
    return table.cells or None


def loose_text(written: str) -> str:
    """Returns a cell's text without the markup of words; one space between words, line breaks kept."""
    if "<" in written:
        written = _WORD_MARKUP.sub("", written)
    if "&" in written:
        written = html.unescape(written)
    written = written.strip()
    return "\n".join(" ".join(line.split()) for line in written.split("\n")) if " " in written else written


class _CellReader:
    """Gives each cell its place, as a browser does: the first column that no span from above covers."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self.cells: list[HtmlCell] = []
        self.column = 0  # where the next cell of this row may stand at the earliest
        self._clean = clean
        self._row = -1
        self._free: dict[int, int] = {}  # column -> first row in which it is free again
        self._open: tuple[int, int, int, int, bool] | None = None
        self._text: list[str] = []

    @property
    def in_cell(self) -> bool:
        return self._open is not None

    def start_row(self) -> None:
        self._row, self.column = self._row + 1, 0

    def start_cell(self, row_span: int, column_span: int, is_header: bool) -> None:
        row, column = max(self._row, 0), self.column
        while self._free.get(column, 0) > row:
            column += 1
        for taken in range(column, column + column_span):
            self._free[taken] = row + row_span
        self.column = column + column_span
        self._open = (row, column, row_span, column_span, is_header)

    def write(self, text: str) -> None:
        if self._open is not None and text:
            self._text.append(text)

    def end_cell(self) -> None:
        if self._open is None:
            return
        row, column, row_span, column_span, is_header = self._open
        text = self._clean("".join(self._text))
        self.cells.append(HtmlCell(row, column, text, row_span, column_span, is_header))
        self._open, self._text = None, []


class _StrictParser(HTMLParser):
    """Knows table, row, cell and line break, and drops all other tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.table = _CellReader(str.strip)
        self.depth = 0
        self.in_head = False
        self.is_broken = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.depth += 1
            self.is_broken = self.is_broken or self.depth > 1 or bool(self.table.cells)
        elif tag == "tr":
            self.table.end_cell()
            self.table.start_row()
        elif tag in ("td", "th"):
            self.table.end_cell()
            self._start_cell(dict(attrs), tag == "th" or self.in_head)
        elif tag in ("thead", "tbody"):
            self.in_head = tag == "thead"
        elif tag == "br":
            self.table.write("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table", "thead"):
            self.table.end_cell()
            self.in_head = self.in_head and tag != "thead"
        if tag == "table":
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.table.in_cell:
            self.table.write(data)
        elif data.strip():
            self.is_broken = True

    def _start_cell(self, attrs: dict[str, str | None], is_header: bool) -> None:
        if self.is_broken:
            return
        self.table.start_cell(_span(attrs.get("rowspan")), _span(attrs.get("colspan")), is_header)
        self.is_broken = self.table.column > MAX_COLUMNS


def _span(value: str | None) -> int:
    digits = (value or "").strip()
    return min(max(int(digits), 1), MAX_SPAN) if digits.isdecimal() and len(digits) < 9 else 1


def _start(table: _CellReader, name: str, attributes: str) -> None:
    if name == "tr":
        table.start_row()
    elif name in ("td", "th"):
        table.start_cell(*(_loose_spans(attributes) if attributes else (1, 1)), is_header=name == "th")


def _loose_spans(attributes: str) -> tuple[int, int]:
    spans = {kind.lower(): int(count) for kind, count in _SPAN.findall(attributes)}
    rows, columns = spans.get("row", 1), spans.get("col", 1)
    return min(max(rows, 1), MAX_LOOSE_SPAN), min(max(columns, 1), MAX_LOOSE_SPAN)


def to_pipes(cells: Sequence[HtmlCell]) -> str | None:
    """Returns a Markdown table with the first row as its head, or None where pipes cannot say it."""
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
