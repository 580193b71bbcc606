"""Fills the cells of a grid with lines of text.

Knows no model: a grid may come from a network, from ruling lines or from the lines of text
alone. No line is ever lost: one that lies in no cell goes to the nearest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from penstock.box import Box
from penstock.region import Line, TableCell, TableGrid
from penstock.scripts import is_syllable

SPLIT_BELOW = 0.7  # a line with this much of its width in one cell belongs to it whole
TALL = 2.5  # times the usual height: a line that stands upright
ROW_OVERLAP = 0.5  # lines that share this much of the lower one's height stand side by side
# Scripts that are written without spaces: kana, ideographs, their punctuation and full-width forms.
UNSPACED = (("\u3000", "\u30ff"), ("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"))


def fill(grid: TableGrid, lines: Sequence[Line]) -> list[TableCell]:
    """Returns the cells, every line in the one it overlaps best, in reading order.

    Without a grid, or with one column where the lines stand in several, the grid is made from
    where the lines stand.
    """
    pieces = [replace(line, text=line.text.strip()) for line in lines if line.text.strip()]
    if grid.columns < 2:
        made = from_lines(lines)
        grid = made if made.columns > grid.columns else grid
    grid = _with_rows_of_text(grid, lines)
    held: dict[TableCell, list[Line]] = {cell: [] for cell in grid.cells}
    for piece in pieces:
        for part, cell in _placed(piece, grid.cells):
            held[cell].append(part)
    cells = [
        cell._replace(
            text=joined(held[cell]),
            is_header=cell.row < grid.head < grid.rows,
            confidence=_least_confidence(held[cell]),
            other=_other(held[cell]),
        )
        for cell in grid.cells
    ]
    return _without_empty_head(cells)


def _least_confidence(pieces: Iterable[Line]) -> float | None:
    """Returns that of the worst piece: one wrong figure makes a cell wrong."""
    return min((piece.confidence for piece in pieces if piece.confidence is not None), default=None)


def _other(pieces: Sequence[Line]) -> str:
    """Returns what a second reader read in the cell; nothing where both read the same."""
    if not any(piece.other for piece in pieces):
        return ""
    return joined([replace(piece, text=piece.other or piece.text) for piece in pieces])


def _with_rows_of_text(grid: TableGrid, lines: Sequence[Line]) -> TableGrid:
    """The grid with its rows where the text's are, if it has as many: a network's boxes drift.

    A row without text beside one with two of text is a miscount of the network: the grid is the text's then.
    """
    lines = _level([line for line in lines if line.text.strip()])
    boxes = [line.box for line in lines]
    rows = _bands([(box[1], box[3]) for box in boxes], ROW_OVERLAP)
    if not rows or any(cell.row_span > 1 for cell in grid.cells):
        return grid
    if len(rows) == grid.rows:
        cells = [cell._replace(box=_at_height(cell.box, rows[cell.row])) for cell in grid.cells]
        return replace(grid, cells=tuple(cells))
    made = from_lines(lines)
    plain = all(cell.column_span == 1 for cell in grid.cells)
    if plain and made.columns == grid.columns and _has_empty_row(grid, boxes):
        return replace(made, head=grid.head)
    return grid


def _level(lines: Sequence[Line]) -> list[Line]:
    """The lines without those that stand upright beside several rows."""
    usual = median(line.box[3] - line.box[1] for line in lines) if lines else 0.0
    return [line for line in lines if line.box[3] - line.box[1] <= TALL * usual]


def _has_empty_row(grid: TableGrid, boxes: Sequence[Box]) -> bool:
    owners = {min(grid.cells, key=lambda cell: _misfit(box, cell.box)).row for box in boxes}
    return len(owners) < grid.rows


def _at_height(box: Box, row: tuple[float, float]) -> Box:
    return (box[0], row[0], box[2], row[1])


def from_lines(lines: Iterable[Line]) -> TableGrid:
    """A grid without spans from the lines alone: rows by height, columns by the gaps rows share."""
    boxes = [line.box for line in lines if line.text.strip()]
    rows = _bands([(box[1], box[3]) for box in boxes], ROW_OVERLAP)
    # a line alone in its row may be a title across the table, which says nothing of columns
    crowded = [box for box in boxes if sum(_is_beside(box, other) for other in boxes) > 1]
    columns = _bands([(box[0], box[2]) for box in crowded or boxes], 0.0)
    cells = [
        TableCell(row, column, box=(left, top, right, bottom))
        for row, (top, bottom) in enumerate(rows)
        for column, (left, right) in enumerate(columns)
    ]
    return TableGrid(len(rows), len(columns), tuple(cells))


def joined(pieces: Sequence[Line]) -> str:
    """The text of one cell in reading order, its line ends closed."""
    rows = _bands([(piece.box[1], piece.box[3]) for piece in pieces], ROW_OVERLAP)
    middles = [(top + bottom) / 2 for top, bottom in rows]

    def place(piece: Line) -> tuple[int, float]:
        middle = (piece.box[1] + piece.box[3]) / 2
        nearest = min(range(len(middles)), key=lambda row: abs(middles[row] - middle))
        return nearest, piece.box[0]

    text = ""
    for piece in sorted(pieces, key=place):
        gap = "" if not text or (_is_unspaced(text[-1]) and _is_unspaced(piece.text[0])) else " "
        text += gap + piece.text
    return text


def _without_empty_head(cells: list[TableCell]) -> list[TableCell]:
    """Returns the cells without a first row that is one wide empty cell: slanet-plus often invents one."""
    head = [cell for cell in cells if cell.row == 0]
    if len(head) != 1 or head == cells or head[0].row_span > 1 or head[0].text:
        return cells
    return [cell._replace(row=cell.row - 1) for cell in cells if cell.row > 0]


def _placed(piece: Line, cells: Sequence[TableCell]) -> list[tuple[Line, TableCell]]:
    """The piece with its cell, or its words with theirs where a row of numbers was read as one line."""
    best = min(cells, key=lambda cell: _misfit(piece.box, cell.box))
    width = piece.box[2] - piece.box[0]
    if _common(piece.box, best.box, 0) >= SPLIT_BELOW * width or not _is_numbers(piece.text):
        return [(piece, best)]
    beside = [cell for cell in cells if _is_beside(piece.box, cell.box)] or [best]
    found: list[tuple[Line, TableCell]] = []
    for word in _words(piece):
        cell = min(beside, key=lambda cell: _misfit(word.box, cell.box))
        if found and found[-1][1] == cell:
            before = found[-1][0]
            found[-1] = (_appended(before, word), cell)
        else:
            found.append((word, cell))
    return found


def _appended(before: Line, word: Line) -> Line:
    box = (before.box[0], before.box[1], word.box[2], word.box[3])
    text, other = f"{before.text} {word.text}", ""
    if before.other or word.other:
        other = f"{before.other or before.text} {word.other or word.text}"
    return replace(before, text=text, box=box, other=other)


def _is_numbers(text: str) -> bool:
    """Numbers side by side are columns; words are more likely one phrase."""
    words = text.split()
    return len(words) > 1 and 2 * sum(any(map(str.isdigit, word)) for word in words) >= len(words)


def _is_beside(a: Box, b: Box) -> bool:
    return _common(a, b, 1) > ROW_OVERLAP * min(a[3] - a[1], b[3] - b[1])


def _words(piece: Line) -> list[Line]:
    """The words with the boxes they would have if all letters were of one of two widths."""
    left, top, right, bottom = piece.box
    steps = [2.0 if _is_unspaced(letter) or is_syllable(letter) else 1.0 for letter in piece.text]
    unit = (right - left) / sum(steps)
    words, at = [], 0
    texts, others = piece.text.split(" "), piece.other.split(" ")
    if len(others) != len(texts):
        others = [""] * len(texts)  # which word the second reader read differently is not known
    for word, other in zip(texts, others, strict=True):
        start = left + unit * sum(steps[:at])
        if word:
            end = start + unit * sum(steps[at : at + len(word)])
            words.append(replace(piece, text=word, other=other, box=(start, top, end, bottom)))
        at += len(word) + 1
    return words


def _misfit(box: Box, cell: Box) -> tuple[float, float]:
    """Less is better: first by how much of `box` lies outside the cell, then by distance."""
    inside = _common(box, cell, 0) * _common(box, cell, 1)
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    away = max(cell[0] - x, x - cell[2], 0.0) ** 2 + max(cell[1] - y, y - cell[3], 0.0) ** 2
    centre = (cell[0] + cell[2]) / 2 - x, (cell[1] + cell[3]) / 2 - y
    return -inside, away + 1e-6 * (centre[0] ** 2 + centre[1] ** 2)


def _common(a: Box, b: Box, axis: int) -> float:
    return max(0.0, min(a[axis + 2], b[axis + 2]) - max(a[axis], b[axis]))


def _bands(spans: Iterable[tuple[float, float]], overlap: float) -> list[tuple[float, float]]:
    """Spans that share more than `overlap` of the shorter one, merged, in order."""
    bands: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if bands:
            low, high = bands[-1]
            if min(high, end) - start > overlap * min(high - low, end - start):
                bands[-1] = (low, max(high, end))
                continue
        bands.append((start, end))
    return bands


def _is_unspaced(letter: str) -> bool:
    return any(first <= letter <= last for first, last in UNSPACED)
