"""DocJSON's tables, from the HTML or the Markdown pipes that a model wrote.

`documents/tables` reads both; here cells get the form that DocJSON publishes, headers and
reasons to call a table complex. What is not one plain table (nested, no cell at all) is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape, unescape
from typing import Any

from pydantic import TypeAdapter

from penstock.documents.docjson.model import Cell, Table
from penstock.documents.tables.html import MAX_CELLS, from_loose_html, loose_text, to_html
from penstock.documents.tables.pipes import from_pipes
from penstock.region import TableCell

COMPLEX_CELLS, COMPLEX_SPANS, COMPLEX_EMPTY = 200, 4, 0.4  # beyond these a table is hard to read as text

_ANY_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)
_CELLS = TypeAdapter(list[Cell])  # all cells of a table in one call
_PLAIN_TAGS = ("<td>", "</td>", "<tr>", "</tr>", "<table>", "</table>")
_NUMERIC = re.compile(r"[-+±~<>≤≥]?\s?[₩$€£]?\s?\d[\d,.\s:/\-]*\s?(?:[%‰℃°a-zA-Z가-힣]{0,4})")


def read_table(text: str) -> Table:
    """Returns the table of a region's content. Never raises."""
    cells = _cells(text)
    if not cells:
        return Table(html=text, is_complex=True, complexity_reasons=["not one plain table"])
    return made_of(cells)


def words_of(table: Table) -> str:
    """Returns the words of a table that could not be read as cells; "" for one that was."""
    return " ".join(unescape(_ANY_TAG.sub(" ", table.html)).split())


def made_of(cells: list[Cell]) -> Table:
    """Returns a table with its size, its headers marked and what makes it hard to read."""
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
    """Returns a grid of texts; a spanning cell stands in each place it covers."""
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
    """Returns how many rows at the top are headers."""
    return 1 + max((cell.r + cell.rs - 1 for cell in table.cells if cell.is_header), default=-1)


def _plain_cells(text: str) -> list[Cell]:
    """Reads the commonest kind of table, rows of `<td>` and nothing else, in a third of the time."""
    return _CELLS.validate_python(
        [
            {"r": r, "c": c, "text": loose_text(cell.partition("</td>")[0])}
            for r, row in enumerate(text.split("<tr>")[1:])
            for c, cell in enumerate(row.split("<td>")[1:])
        ]
    )


def _cells(text: str) -> list[Cell]:
    if text.lstrip().startswith("|"):
        return _published(from_pipes(text))[:MAX_CELLS]
    # every tag is one of these six: no attributes, no headers, no line breaks
    if text.count("<") == sum(map(text.count, _PLAIN_TAGS)) and text.count("<table>") == 1:
        return _plain_cells(text)[:MAX_CELLS]
    return _published(from_loose_html(text) or ())


def _published(cells: Iterable[TableCell]) -> list[Cell]:
    return _CELLS.validate_python(_rows(cells))


def _rows(cells: Iterable[TableCell]) -> list[dict[str, Any]]:
    return [
        {"r": r, "c": c, "rs": rows, "cs": columns, "text": text, "is_header": is_header}
        | ({"inner": [one if isinstance(one, str) else _rows(one) for one in inner]} if inner else {})
        for r, c, text, rows, columns, is_header, _, _, _, inner in cells
    ]


def grid_cells(cells: Iterable[Cell]) -> list[TableCell]:
    """Returns published cells as those of a grid, for the writers of HTML and pipes."""
    return [
        TableCell(
            cell.r, cell.c, cell.text, cell.rs, cell.cs, cell.is_header,
            inner=tuple(one if isinstance(one, str) else tuple(grid_cells(one)) for one in cell.inner),
        )
        for cell in cells
    ]  # fmt: skip


def table_html(table: Table, *, with_places: bool = False) -> str:
    """Returns the cells as HTML for people; text is escaped.

    With places, a cell's tag says its locator, its box and how surely it was read, as far as they are known.
    """
    if not table.cells:
        return escape(table.html, quote=False)
    places = {(cell.r, cell.c): _place(cell) for cell in table.cells} if with_places else {}
    return to_html(grid_cells(table.cells), "th", lambda cell: places.get((cell.row, cell.column), ""))


def _place(cell: Cell) -> str:
    box = "" if cell.bbox is None else f' data-box="{" ".join(map(str, cell.bbox.norm999))}"'
    return f"{named_place(cell.locator, cell.confidence)}{box}"


def named_place(locator: str, confidence: float | None) -> str:
    """Returns the attributes of an element that say where it was read, and how surely."""
    name = f' data-locator="{escape(locator)}"' if locator else ""
    return name if confidence is None else f'{name} data-confidence="{confidence:g}"'


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
        "a table in a cell": any(cell.inner for cell in cells),
        "many cells": len(cells) > COMPLEX_CELLS,
        "many spans": spanning > COMPLEX_SPANS,
        "many empty cells": len(cells) >= 8 and empty > COMPLEX_EMPTY * len(cells),
        "ragged rows": sum(cell.rs * cell.cs for cell in cells) != rows * columns,
    }
    return [reason for reason, holds in found.items() if holds]
