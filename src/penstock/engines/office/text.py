"""Plain text and CSV."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator

from penstock.engines.office.blocks import (
    MAX_UNIT_CHARS,
    BlockFile,
    StructureBlock,
    in_units,
)
from penstock.errors import BadInput
from penstock.region import TableCell

MAX_ROWS = 500  # of a table in one unit
MAX_COLUMNS = 1_000
# what text without a mark may be, in the order in which it is tried: Korean before Western Europe
ENCODINGS = ("utf-8-sig", "cp949", "shift_jis", "gb18030")
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")


def decoded(data: bytes, told: str = "") -> str:
    """Returns bytes as text: by their mark, by what was said of them, or by what fits."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    for name in (*filter(None, (told,)), *ENCODINGS):
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError, ValueError):
            continue
    return data.decode("cp1252", "replace")


def read_text(data: bytes) -> BlockFile:
    """Returns paragraphs, which blank lines part; a form feed ends a page."""
    pages = decoded(data).replace("\r\n", "\n").replace("\r", "\n").split("\f")
    return BlockFile([unit for page in pages for unit in in_units(_paragraphs(page))])


def _paragraphs(page: str) -> Iterator[StructureBlock]:
    for part in _PARAGRAPH.split(page.strip("\n")):
        if part.strip():
            yield StructureBlock(label="text", text=part.strip("\n"))


def read_csv(data: bytes) -> BlockFile:
    """Returns the rows as tables of bounded size, each with the file's first row as its head."""
    text = decoded(data)
    try:
        dialect = csv.Sniffer().sniff(text[:8192], ",;\t|").delimiter
    except csv.Error:
        dialect = "\t" if text[:8192].count("\t") > text[:8192].count(",") else ","
    csv.field_size_limit(MAX_UNIT_CHARS)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=dialect) if any(row)]
    except csv.Error as exc:
        raise BadInput(f"it is no CSV that can be read: {exc}.") from exc
    if any(len(row) > MAX_COLUMNS for row in rows):
        raise BadInput(f"it has a row of more than {MAX_COLUMNS:,} columns.")
    return BlockFile([[table] for table in row_tables(rows)])


def row_tables(rows: list[list[str]]) -> Iterator[StructureBlock]:
    """Yields rows as tables of at most MAX_ROWS, each with the first row as its head."""
    head, body = rows[:1], rows[1:]
    if not body:
        yield _table(head)
    size = sum(map(len, itertools.chain(*rows))) // max(1, len(rows))
    count = max(1, min(MAX_ROWS, MAX_UNIT_CHARS // max(1, size)))
    for start in range(0, len(body), count):
        yield _table(head + body[start : start + count])


def _table(rows: list[list[str]]) -> StructureBlock:
    cells = (
        TableCell(r, c, text.strip(), is_header=r == 0)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    )
    return StructureBlock(label="table", cells=tuple(cells))
