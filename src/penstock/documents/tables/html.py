"""Writes a table's cells as HTML, which is what regions carry, and reads them back.

All text is escaped: content is data, never markup. Two ways in, one reader of cells: strict for tables that
are written again, loose for what a model wrote.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import takewhile
from typing import Literal

from penstock.box import moved
from penstock.region import NOWHERE, CellPart, CellPlace, Region, TableCell, with_parts

MAX_SPAN = 1000  # a longer span is a typing error or an attack on whoever lays the table out
MAX_COLUMNS = 1000
MAX_LOOSE_SPAN = 200  # a longer one is a slip of the model
MAX_CELLS = 20_000
MAX_NESTING = 20  # tables in cells of tables

_TAG = re.compile(r"<(/?)(table|tr|td|th|br|thead|tbody|tfoot)\b([^<>]{0,200})>", re.IGNORECASE)
_WORD_MARKUP = re.compile(
    r"</?(?:b|i|u|p|em|strong|sup|sub|span|div|center|small|font)\b[^<>]{0,100}>", re.IGNORECASE
)
_SPAN = re.compile(r"(row|col)span\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)


def to_html(
    cells: Iterable[TableCell],
    head_tag: Literal["td", "th"] = "td",
    attributes: Callable[[TableCell], str] = lambda cell: "",
) -> str:
    """Returns `<table>` with one `<tr>` a row; text is escaped, line breaks are `<br>`.

    Rows of headings at the top make a `thead`, and what is under them a `tbody`. In a `thead` cells are
    `head_tag`: `td` as in PubTabNet's tables, `th` on pages for people. Other headings are always `th`.
    `attributes` writes what else the tag of a cell says, after a space.
    """
    placed = sorted(cells)
    rows: list[list[TableCell]] = [[] for _ in range(max((c.row + c.row_span for c in placed), default=0))]
    for cell in placed:
        rows[cell.row].append(cell)
    head = _head_rows(rows)
    lines = [_row_html(row, head_tag if at < head else "th", attributes) for at, row in enumerate(rows)]
    if not 0 < head < len(lines):
        return f"<table>{''.join(lines)}</table>"
    return f"<table><thead>{''.join(lines[:head])}</thead><tbody>{''.join(lines[head:])}</tbody></table>"


def with_cells(region: Region, cells: Sequence[TableCell], left: float = 0, top: float = 0) -> Region:
    """Returns the table with its content and the places of its cells.

    `left` and `top` are where the cells' boxes count from.
    """
    places = [
        CellPlace(cell.row, cell.column, moved(cell.box, left, top), cell.confidence, cell.other)
        for cell in cells
        if cell.box != NOWHERE
    ]
    return replace(region, content=to_html(cells), cells=tuple(places))


def _head_rows(rows: Sequence[Sequence[TableCell]]) -> int:
    """Returns how many rows from the first on are headings throughout."""
    heads = takewhile(lambda row: row and all(cell.is_header for cell in row), rows)
    return sum(1 for _ in heads)


def _row_html(cells: Sequence[TableCell], heading: str, attributes: Callable[[TableCell], str]) -> str:
    tagged = ((cell, heading if cell.is_header else "td") for cell in cells)
    return f"<tr>{''.join(_cell_html(cell, tag, attributes(cell)) for cell, tag in tagged)}</tr>"


def _cell_html(cell: TableCell, tag: str, more: str) -> str:
    rows = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
    columns = f' colspan="{cell.column_span}"' if cell.column_span > 1 else ""
    said = "".join(map(_part_html, cell.inner)) if cell.inner else _part_html(cell.text)
    return f"<{tag}{rows}{columns}{more}>{said}</{tag}>"


def _part_html(part: CellPart) -> str:
    return html.escape(part, quote=False).replace("\n", "<br>") if isinstance(part, str) else to_html(part)


def from_html(text: str) -> list[TableCell] | None:
    """Returns the cells of one table's HTML, or None where it is not one table.

    Strict: text outside of cells or a second table make it None. Markup is dropped.
    """
    parser = _StrictParser()
    parser.feed(text)
    parser.close()
    cells = parser.tables.finished()
    return None if parser.is_broken or parser.depth or not cells else cells


def from_loose_html(text: str) -> list[TableCell] | None:
    """Returns the cells of a table as a model wrote it, in time linear in the text.

    Loose: what stands outside of cells is passed over, tags that are not known stay as text, and tags may
    be left open. Returns None for more than `MAX_CELLS` cells, for a table in a table but in no cell, and
    for none.
    """
    tables, depth, at = _OpenTables(loose_text), 0, 0
    for tag in _TAG.finditer(text):
        tables.last.write(text[at : tag.start()])
        at = tag.end()
        is_end, name = bool(tag[1]), tag[2].lower()
        if name == "br":
            tables.last.write("\n")
        elif name != "table":
            tables.last.end_cell()
            _loose_tag(tables.last, name, is_end, tag[3])
        elif not (tables.end_inner() if is_end else depth and tables.start_inner()):
            tables.last.end_cell()
            depth += -1 if is_end else 1
        if depth > 1 or tables.is_too_much:
            return None
    tables.last.write(text[at:])
    return tables.finished() or None


def _loose_tag(table: _CellReader, name: str, is_end: bool, attributes: str) -> None:
    if not is_end:
        _start(table, name, attributes)
    elif name == "thead":
        table.in_head = False


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
        self.cells: list[TableCell] = []
        self.column = 0  # where the next cell of this row may stand at the earliest
        self.in_head = False
        self._clean = clean
        self._row = -1
        self._free: dict[int, int] = {}  # column -> first row in which it is free again
        self._open: tuple[int, int, int, int, bool] | None = None
        self._text: list[str] = []
        self._parts: list[CellPart] = []  # of the open cell, up to the last table in it

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
        self._open = (row, column, row_span, column_span, is_header or self.in_head)

    def write(self, text: str) -> None:
        if self._open is not None and text:
            self._text.append(text)

    def write_table(self, cells: Sequence[TableCell]) -> None:
        """Puts a table into the open cell."""
        self._parts += [self._clean("".join(self._text)), tuple(cells)]
        self._text = []

    def end_cell(self) -> None:
        if self._open is None:
            return
        row, column, row_span, column_span, is_header = self._open
        text = self._clean("".join(self._text))
        cell = TableCell(row, column, text, row_span, column_span, is_header)
        self.cells.append(with_parts(cell, [*self._parts, text]) if self._parts else cell)
        self._open, self._text, self._parts = None, [], []


class _OpenTables:
    """A table that is read, and those in its open cell, in that one's open cell, and so on."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._open = [_CellReader(clean)]
        self._num_inner = 0  # cells of tables that were closed

    @property
    def last(self) -> _CellReader:
        return self._open[-1]

    @property
    def is_too_much(self) -> bool:
        return len(self._open) > MAX_NESTING or self._num_inner + len(self.last.cells) > MAX_CELLS

    def start_inner(self) -> bool:
        """Opens a table in the open cell. Returns False where none is open."""
        if self.last.in_cell:
            self._open.append(_CellReader(self._clean))
            return True
        return False

    def end_inner(self) -> bool:
        """Closes a table that stands in a cell. Returns False where there is none."""
        if len(self._open) == 1:
            return False
        self.last.end_cell()
        inner = self._open.pop()
        self._num_inner += len(inner.cells)
        self.last.write_table(inner.cells)
        return True

    def finished(self) -> list[TableCell]:
        """Closes what is open. Returns the cells of the table itself."""
        while self.end_inner():
            pass
        self.last.end_cell()
        return self.last.cells


class _StrictParser(HTMLParser):
    """Knows table, row, cell and line break, and drops all other tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables = _OpenTables(str.strip)
        self.depth = 0
        self.is_broken = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        table = self.tables.last
        if tag == "table":
            self._start_table()
        elif tag == "tr":
            table.end_cell()
            table.start_row()
        elif tag in ("td", "th"):
            table.end_cell()
            self._start_cell(dict(attrs), tag == "th")
        elif tag in ("thead", "tbody"):
            table.in_head = tag == "thead"
        elif tag == "br":
            table.write("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self.tables.end_inner():
            return
        table = self.tables.last
        if tag in ("td", "th", "tr", "table", "thead"):
            table.end_cell()
            table.in_head = table.in_head and tag != "thead"
        if tag == "table":
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.tables.last.in_cell:
            self.tables.last.write(data)
        elif data.strip():
            self.is_broken = True

    def _start_table(self) -> None:
        if not (self.depth and self.tables.start_inner()):
            self.depth += 1
            self.is_broken = self.is_broken or self.depth > 1 or bool(self.tables.last.cells)
        self.is_broken = self.is_broken or self.tables.is_too_much

    def _start_cell(self, attrs: dict[str, str | None], is_header: bool) -> None:
        if self.is_broken:
            return
        table = self.tables.last
        table.start_cell(_span(attrs.get("rowspan")), _span(attrs.get("colspan")), is_header)
        self.is_broken = table.column > MAX_COLUMNS


def _span(value: str | None) -> int:
    digits = (value or "").strip()
    return min(max(int(digits), 1), MAX_SPAN) if digits.isdecimal() and len(digits) < 9 else 1


def _start(table: _CellReader, name: str, attributes: str) -> None:
    if name == "tr":
        table.start_row()
    elif name in ("td", "th"):
        table.start_cell(*(_loose_spans(attributes) if attributes else (1, 1)), is_header=name == "th")
    else:
        table.in_head = name == "thead"


def _loose_spans(attributes: str) -> tuple[int, int]:
    spans = {kind.lower(): int(count) for kind, count in _SPAN.findall(attributes)}
    rows, columns = spans.get("row", 1), spans.get("col", 1)
    return min(max(rows, 1), MAX_LOOSE_SPAN), min(max(columns, 1), MAX_LOOSE_SPAN)
