"""Turns OTSL, the table language PaddleOCR-VL answers in, into an HTML table.

A table is a grid written row by row. `<fcel>` begins a cell with text and `<ecel>` an empty one;
`<lcel>` belongs to the cell on its left, `<ucel>` to the one above, `<xcel>` to both; `<nl>` ends a
row. `<ched>` and `<rhed>` are cells that head a column or a row, `<srow>` one that heads a section.

    otsl_html("<fcel>a<lcel><nl><fcel>b<fcel>c<nl>")
    # '<table><tr><td colspan="2">a</td></tr><tr><td>b</td><td>c</td></tr></table>'

A model may write what no grid allows: short rows, a span of nothing, a span that is not a rectangle.
Each cell is still shown once, with the largest rectangle its marks allow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from penstock.documents.tables.html import to_html
from penstock.region import TableCell

_TOKEN = re.compile(r"<(fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl)>")
_HEADS = frozenset({"ched", "rhed", "srow"})
_STARTS = frozenset({"fcel", "ecel"}) | _HEADS


@dataclass(frozen=True, slots=True)
class _Square:
    kind: str
    text: str = ""


_EMPTY = _Square("ecel")


def is_otsl(text: str) -> bool:
    return _TOKEN.search(text) is not None


def otsl_html(text: str) -> str:
    """Returns the table as HTML. Text without a single OTSL mark is returned as it is."""
    if not is_otsl(text):
        return text
    grid = _rectangle(_rows(text))
    taken = [[False] * len(row) for row in grid]
    return to_html(
        _cell(grid, taken, r, c) for r, row in enumerate(grid) for c in range(len(row)) if not taken[r][c]
    )


def _rows(text: str) -> list[list[_Square]]:
    rows: list[list[_Square]] = [[]]
    # split gives: what is before the first mark, then mark, text, mark, text, ...
    parts = _TOKEN.split(text)
    for kind, content in zip(parts[1::2], parts[2::2], strict=True):
        if kind == "nl":
            rows.append([])
        else:
            rows[-1].append(_Square(kind, content.strip()))
    return [row for row in rows if row]


def _rectangle(rows: list[list[_Square]]) -> list[list[_Square]]:
    """Short rows are filled with empty cells; a mark that points out of the grid becomes a cell."""
    width = max((len(row) for row in rows), default=0)
    full = [row + [_EMPTY] * (width - len(row)) for row in rows]
    return [[_grounded(square, r, c) for c, square in enumerate(row)] for r, row in enumerate(full)]


def _grounded(square: _Square, row: int, column: int) -> _Square:
    needs_left = square.kind in ("lcel", "xcel")
    needs_above = square.kind in ("ucel", "xcel")
    if (needs_left and column == 0) or (needs_above and row == 0):
        return _Square("fcel" if square.text else "ecel", square.text)
    return square


def _cell(grid: list[list[_Square]], taken: list[list[bool]], r: int, c: int) -> TableCell:
    width, height = _span(grid, taken, r, c)
    for i in range(r, r + height):
        taken[i][c : c + width] = [True] * width
    return TableCell(
        r, c, _content(grid, r, c, width, height), height, width, is_header=grid[r][c].kind in _HEADS
    )


def _span(grid: list[list[_Square]], taken: list[list[bool]], r: int, c: int) -> tuple[int, int]:
    if grid[r][c].kind not in _STARTS:  # a mark whose owner does not reach it stands for itself
        return 1, 1
    width = 1
    while c + width < len(grid[r]) and grid[r][c + width].kind == "lcel" and not taken[r][c + width]:
        width += 1
    height = 1
    while r + height < len(grid) and _continues(grid[r + height], taken[r + height], c, width):
        height += 1
    return width, height


def _continues(row: list[_Square], taken: list[bool], c: int, width: int) -> bool:
    """Whether the next row carries the cell on: `ucel` first, then `xcel` (some write `ucel` again)."""
    if row[c].kind != "ucel" or any(taken[c : c + width]):
        return False
    return all(square.kind in ("xcel", "ucel") for square in row[c + 1 : c + width])


def _content(grid: list[list[_Square]], r: int, c: int, width: int, height: int) -> str:
    """The cell's text, and any text a model put behind the marks that only continue it."""
    texts = [square.text for row in grid[r : r + height] for square in row[c : c + width] if square.text]
    return " ".join(texts)
