"""The grid of a table and the text in it: cells with spans, filled with lines, written as HTML.

Knows no model: a structure may come from a network, from ruling lines or from the lines of text
alone. No line is ever lost: one that lies in no cell goes to the nearest.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Protocol

from penstock.box import Box, GridCell
from penstock.scripts import is_syllable

SPLIT_BELOW = 0.7  # a line with this much of its width in one cell belongs to it whole
TALL = 2.5  # times the usual height: a line that stands upright
ROW_OVERLAP = 0.5  # lines that share this much of the lower one's height stand side by side
# Scripts that are written without spaces: kana, ideographs, their punctuation and full-width forms.
UNSPACED = (("\u3000", "\u30ff"), ("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"))


class PlacedText(Protocol):
    """A text with its box, whoever read it."""

    @property
    def text(self) -> str: ...
    @property
    def box(self) -> Box: ...


@dataclass(frozen=True, slots=True)
class TableStructure:
    """A grid of `rows` x `cols`. `score` is how sure its maker is, 0..1; `head` counts its heading's rows."""

    rows: int = 0
    cols: int = 0
    cells: tuple[GridCell, ...] = ()
    score: float = 0.0
    head: int = 0


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A line of text, or the words of one that stand in one cell."""

    text: str
    box: Box


def fill(structure: TableStructure, lines: Sequence[PlacedText]) -> str:
    """The table as HTML, every line in the cell it overlaps best, in reading order.

    Without a structure, or with one column where the lines stand in several, the grid is made from
    where the lines stand.
    """
    pieces = [TextPiece(line.text.strip(), line.box) for line in lines if line.text.strip()]
    if structure.cols < 2:
        made = from_lines(lines)
        structure = made if made.cols > structure.cols else structure
    structure = _with_rows_of_text(structure, lines)
    held: dict[GridCell, list[TextPiece]] = {cell: [] for cell in structure.cells}
    for piece in pieces:
        for part, cell in _placed(piece, structure.cells):
            held[cell].append(part)
    texts = {cell: joined(parts) for cell, parts in held.items()}
    return to_html(*_without_empty_head(structure, texts))


def _with_rows_of_text(structure: TableStructure, lines: Sequence[PlacedText]) -> TableStructure:
    """The structure with its rows where the text's are, if it has as many: a network's boxes drift.

    A row without text beside one with two of text is a miscount of the network: the grid is the text's then.
    """
    lines = _level([line for line in lines if line.text.strip()])
    boxes = [line.box for line in lines]
    rows = _bands([(box[1], box[3]) for box in boxes], ROW_OVERLAP)
    if not rows or any(cell.rowspan > 1 for cell in structure.cells):
        return structure
    if len(rows) == structure.rows:
        cells = [replace(cell, box=_at_height(cell.box, rows[cell.row])) for cell in structure.cells]
        return replace(structure, cells=tuple(cells))
    made = from_lines(lines)
    plain = all(cell.colspan == 1 for cell in structure.cells)
    if plain and made.cols == structure.cols and _has_empty_row(structure, boxes):
        return replace(made, score=structure.score, head=structure.head)
    return structure


def _level(lines: Sequence[PlacedText]) -> list[PlacedText]:
    """The lines without those that stand upright beside several rows."""
    usual = median(line.box[3] - line.box[1] for line in lines) if lines else 0.0
    return [line for line in lines if line.box[3] - line.box[1] <= TALL * usual]


def _has_empty_row(structure: TableStructure, boxes: Sequence[Box]) -> bool:
    owners = {min(structure.cells, key=lambda cell: _misfit(box, cell.box)).row for box in boxes}
    return len(owners) < structure.rows


def _at_height(box: Box, row: tuple[float, float]) -> Box:
    return (box[0], row[0], box[2], row[1])


def to_html(structure: TableStructure, texts: dict[GridCell, str]) -> str:
    """Rows of `td` with spans, those of the heading in a `thead`; texts are escaped."""
    rows = []
    for row in range(structure.rows):
        cells = sorted((cell for cell in structure.cells if cell.row == row), key=lambda cell: cell.col)
        rows.append("<tr>" + "".join(_td(cell, texts.get(cell, "")) for cell in cells) + "</tr>")
    if not 0 < structure.head < len(rows):
        return "<table>" + "".join(rows) + "</table>"
    head, body = "".join(rows[: structure.head]), "".join(rows[structure.head :])
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def from_lines(lines: Iterable[PlacedText]) -> TableStructure:
    """A grid without spans from the lines alone: rows by height, columns by the gaps rows share."""
    boxes = [line.box for line in lines if line.text.strip()]
    rows = _bands([(box[1], box[3]) for box in boxes], ROW_OVERLAP)
    # a line alone in its row may be a title across the table, which says nothing of columns
    crowded = [box for box in boxes if sum(_is_beside(box, other) for other in boxes) > 1]
    cols = _bands([(box[0], box[2]) for box in crowded or boxes], 0.0)
    cells = [
        GridCell(row, col, 1, 1, (left, top, right, bottom))
        for row, (top, bottom) in enumerate(rows)
        for col, (left, right) in enumerate(cols)
    ]
    return TableStructure(len(rows), len(cols), tuple(cells))


def joined(pieces: Sequence[TextPiece]) -> str:
    """The text of one cell in reading order, its line ends closed."""
    rows = _bands([(piece.box[1], piece.box[3]) for piece in pieces], ROW_OVERLAP)
    middles = [(top + bottom) / 2 for top, bottom in rows]

    def place(piece: TextPiece) -> tuple[int, float]:
        middle = (piece.box[1] + piece.box[3]) / 2
        nearest = min(range(len(middles)), key=lambda row: abs(middles[row] - middle))
        return nearest, piece.box[0]

    text = ""
    for piece in sorted(pieces, key=place):
        gap = "" if not text or (_is_unspaced(text[-1]) and _is_unspaced(piece.text[0])) else " "
        text += gap + piece.text
    return text


def _without_empty_head(
    structure: TableStructure, texts: dict[GridCell, str]
) -> tuple[TableStructure, dict[GridCell, str]]:
    """The table without a first row that is one wide empty cell: slanet-plus often invents one."""
    head = [cell for cell in structure.cells if cell.row == 0]
    is_ghost = len(head) == 1 and head[0].rowspan == 1 and not texts.get(head[0])
    if structure.rows < 2 or not is_ghost:
        return structure, texts
    moved = {cell: replace(cell, row=cell.row - 1) for cell in structure.cells if cell.row > 0}
    head_rows = max(0, structure.head - 1)
    shorter = replace(structure, rows=structure.rows - 1, cells=tuple(moved.values()), head=head_rows)
    return shorter, {moved[cell]: text for cell, text in texts.items() if cell in moved}


def _placed(piece: TextPiece, cells: Sequence[GridCell]) -> list[tuple[TextPiece, GridCell]]:
    """The piece with its cell, or its words with theirs where a row of numbers was read as one line."""
    best = min(cells, key=lambda cell: _misfit(piece.box, cell.box))
    width = piece.box[2] - piece.box[0]
    if _common(piece.box, best.box, 0) >= SPLIT_BELOW * width or not _is_numbers(piece.text):
        return [(piece, best)]
    beside = [cell for cell in cells if _is_beside(piece.box, cell.box)] or [best]
    found: list[tuple[TextPiece, GridCell]] = []
    for word in _words(piece):
        cell = min(beside, key=lambda cell: _misfit(word.box, cell.box))
        if found and found[-1][1] == cell:
            before = found[-1][0]
            box = (before.box[0], before.box[1], word.box[2], word.box[3])
            found[-1] = (TextPiece(f"{before.text} {word.text}", box), cell)
        else:
            found.append((word, cell))
    return found


def _is_numbers(text: str) -> bool:
    """Numbers side by side are columns; words are more likely one phrase."""
    words = text.split()
    return len(words) > 1 and 2 * sum(any(map(str.isdigit, word)) for word in words) >= len(words)


def _is_beside(a: Box, b: Box) -> bool:
    return _common(a, b, 1) > ROW_OVERLAP * min(a[3] - a[1], b[3] - b[1])


def _words(piece: TextPiece) -> list[TextPiece]:
    """The words with the boxes they would have if all letters were of one of two widths."""
    left, top, right, bottom = piece.box
    steps = [2.0 if _is_unspaced(letter) or is_syllable(letter) else 1.0 for letter in piece.text]
    unit = (right - left) / sum(steps)
    words, at = [], 0
    for word in piece.text.split(" "):
        start = left + unit * sum(steps[:at])
        if word:
            words.append(
                TextPiece(word, (start, top, start + unit * sum(steps[at : at + len(word)]), bottom))
            )
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


def _td(cell: GridCell, text: str) -> str:
    rows = f' rowspan="{cell.rowspan}"' if cell.rowspan > 1 else ""
    cols = f' colspan="{cell.colspan}"' if cell.colspan > 1 else ""
    return f"<td{rows}{cols}>{html.escape(text, quote=False)}</td>"
