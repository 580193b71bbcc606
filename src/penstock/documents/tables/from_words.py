"""Builds a table's cells from the words of a text layer and the lines drawn between them.

Columns are parted by white that the rows share and by lines drawn down; rows by lines drawn across, by
leading and by what a line says. Words over several columns are one cell with a span, and so is a cell that
stands in the middle of several rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from penstock.box import Box, enclosing
from penstock.documents.tables.cell_words import (
    CellWords,
    Frame,
    Row,
    cut_pieces,
    extent_of,
    is_number_text,
    is_ruled_off,
    within_text,
)
from penstock.documents.tables.gutters import rules_inside, usual_space, white_edges
from penstock.documents.tables.rows_of_words import is_forced, rows_of
from penstock.documents.tables.ruled import ruled_table
from penstock.documents.tables.spans_of_words import row_spans, with_spans
from penstock.documents.tables.word_columns import type_height
from penstock.documents.text.lines import around, rows_of_words
from penstock.documents.text.paragraphs import join_lines
from penstock.documents.text.rotated_text import is_sideways
from penstock.documents.text.runs import runs_of
from penstock.region import NOWHERE, Line, TableCell, Word

# of the usual space between words, and in units of the type's height: where rows show a gutter
MIN_CUT, CUT_SPACES = 0.3, 1.25
MAX_DOUBT = 0.1  # of the rows, chosen on 76 tables: above it the network tells more than the words
SHORT_TEXT = 6  # letters: what begins small and is no longer may be a unit or a name


def cells_of_layer(box: Box, words: Sequence[Word], strokes: Sequence[Box]) -> list[TableCell]:
    """The cells of the table in the box by the lines drawn around them, or by the words; none in doubt."""
    return ruled_table(box, words, strokes) or cells_from_words(box, words, strokes)


def cells_from_words(box: Box, words: Sequence[Word], strokes: Sequence[Box]) -> list[TableCell]:
    """The cells of the table in the box; none where its words keep no columns or its rows are in doubt."""
    em = type_height(words)
    lines = [line for line in rows_of_words(words) if line]
    if em <= 0 or len(lines) < 2 or any(is_sideways(word) for word in words):
        return []
    across, down = rules_inside(box, strokes)
    edges = white_edges(lines, em, [rule.at for rule in down])
    if not edges:
        return []
    space = max(MIN_CUT * em, CUT_SPACES * usual_space(lines, em))
    pieces = [cut_pieces(line, edges, em, space) for line in lines]
    every = [piece for line in pieces for piece in line]
    extents = [extent_of([p for p in every if p.first == p.last == c]) for c in range(len(edges) + 1)]
    pieces = [[within_text(piece, extents, em) for piece in line] for line in pieces]
    frame = Frame(around(words), tuple(edges), tuple(across), tuple(down), em, tuple(extents))
    names = [
        (a, b) for a, b in pairwise(pieces) if len(b) == 1 and a[0].first == b[0].first == b[0].last == 0
    ]
    forced = [is_forced(a[0], b[0], frame) for a, b in names]
    frame = replace(frame, wraps_names=3 * len(forced) >= len(pieces) and sum(forced) >= 0.8 * len(forced))
    bands = runs_of(pieces, lambda run, line: not is_ruled_off(run[-1], line, frame))
    bands = [with_spans(band, frame) for band in bands]
    placed: list[TableCell] = []
    top = 0
    for number, band in enumerate(bands):
        is_head = number == 0 < len(bands) - 1
        rows, spanning = rows_of(band, frame, is_head, is_head or len(bands) > 2)
        placed += _cells(rows, spanning, frame, top)
        top += len(rows)
    return placed if _doubt(placed) <= MAX_DOUBT else []


def _doubt(cells: Sequence[TableCell]) -> float:
    """The share of rows that look like a part of another, or have one cell over several columns."""
    rows = [[cell for cell in cells if cell.row == row] for row in range(cells[-1].row + 1)]
    num_columns = max(cell.column + cell.column_span for cell in cells)
    doubtful = 0
    for above, row in pairwise(rows):
        shown = [cell for cell in row if cell.text]
        few = len(shown) <= num_columns / 2
        nameless = (
            few and row[0].column == 0 and not row[0].text and not any(is_number_text(c.text) for c in shown)
        )
        begun = {cell.column for cell in above if cell.text}
        goes_on = len(shown) < num_columns and any(
            cell.text[0].islower() and len(cell.text) > SHORT_TEXT and cell.column in begun for cell in shown
        )
        crossed = row[0].row > 1 and len(shown) > 1 and any(cell.column_span > 1 for cell in shown)
        doubtful += bool(shown) and (nameless or goes_on or crossed)
    return doubtful / len(rows)


def _cells(rows: Sequence[Row], spanning: Sequence[CellWords], frame: Frame, top: int) -> list[TableCell]:
    num_columns = len(frame.edges) + 1
    held: dict[tuple[int, int], list[CellWords]] = {}
    for number, row in enumerate(rows):
        for piece in row:
            held.setdefault((number, piece.first), []).append(piece)
    spans = {at: (own[0].first, max(piece.last for piece in own)) for at, own in held.items()}
    tall = row_spans(rows, spanning, held, frame)
    taken: set[tuple[int, int]] = set()
    found: list[TableCell] = []
    for number in range(len(rows)):
        for column in range(num_columns):
            if (number, column) in taken:
                continue
            if (number, column) in tall:
                pieces, down, across = tall[number, column], len(rows), 1
            else:
                pieces, down = held.get((number, column), []), 1
                _, last = spans.get((number, column), (column, column))
                across = last - column + 1
            taken |= {(number + r, column + c) for r in range(down) for c in range(across)}
            text = _text(pieces)
            box = enclosing([piece.box for piece in pieces]) if pieces else NOWHERE
            found.append(TableCell(top + number, column, text, down, across, box=box))
    return found


def _text(pieces: Sequence[CellWords]) -> str:
    ordered = sorted(pieces, key=lambda piece: (piece.middle, piece.box[0]))
    return join_lines([Line(text=piece.text, box=piece.box) for piece in ordered])
