"""Tells which cells of a table go over several columns or rows: by lines below them, and by their height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from penstock.documents.tables.cell_words import DRAWN_ACROSS, CellWords, Frame, Row, TextLine

CENTRED = 0.35  # of the leading: how far from the middle of its rows a cell may stand


def with_spans(band: Sequence[TextLine], frame: Frame) -> list[TextLine]:
    """The lines with their pieces over all columns that they head."""
    return [
        [_spanning(piece, line, band[place + 1 :], frame) for piece in line]
        for place, line in enumerate(band)
    ]


def _spanning(piece: CellWords, line: TextLine, below: Sequence[TextLine], frame: Frame) -> CellWords:
    """The piece to the ends of the line drawn below it, and up to lines drawn down."""
    headed = _headed(piece, below, frame)
    if len(line) == 1 and not headed and piece.first != piece.last:
        return replace(piece, first=0, last=len(frame.edges))
    low = max((other.last + 1 for other in line if other.last < piece.first), default=0)
    high = min((other.first - 1 for other in line if other.first > piece.last), default=len(frame.edges))
    first, last = headed or (piece.first, piece.last)
    while first > low and frame.is_open(first - 1, piece.middle):
        first -= 1
    while last < high and frame.is_open(last, piece.middle):
        last += 1
    return replace(piece, first=min(piece.first, max(first, low)), last=max(piece.last, min(last, high)))


def _headed(piece: CellWords, lines: Sequence[TextLine], frame: Frame) -> tuple[int, int] | None:
    """The columns over which the line goes that is drawn between a piece and the text below it."""
    centre = (piece.box[0] + piece.box[2]) / 2
    under = (p.middle for line in lines for p in line if p.box[0] < piece.box[2] and piece.box[0] < p.box[2])
    below = next(under, piece.middle)
    for rule in frame.across:
        if piece.middle < rule.at < below and rule.low < centre < rule.high:
            inside = [c for c in range(len(frame.extents)) if rule.low < frame.centre(c) < rule.high]
            if inside and rule.high - rule.low < DRAWN_ACROSS * (frame.box[2] - frame.box[0]):
                return inside[0], inside[-1]
    return None


def row_spans(
    rows: Sequence[Row],
    spanning: Sequence[CellWords],
    held: dict[tuple[int, int], list[CellWords]],
    frame: Frame,
) -> dict[tuple[int, int], list[CellWords]]:
    """The cells that stand alone in their column, in the middle of all rows of the band."""
    if len(rows) < 2:
        return {}
    heights = [median(p.middle for p in row) for row in rows]
    middle, leading = (heights[0] + heights[-1]) / 2, median(b - a for a, b in pairwise(heights))
    found: dict[tuple[int, int], list[CellWords]] = {}
    for column in range(len(frame.edges) + 1):
        inside = [p for (_, c), own in held.items() for p in own if c <= column <= p.last]
        own = [p for p in spanning if p.first == column]
        alone = [*inside, *own]
        if not alone or any(p.first != p.last for p in alone):
            continue
        numbers = {number for (number, c) in held if c == column}
        centre = (min(p.box[1] for p in alone) + max(p.box[3] for p in alone)) / 2
        if (own or len(numbers) == 1) and abs(centre - middle) < CENTRED * leading and len(numbers) < 2:
            found[0, column] = alone
            for number in numbers:
                held.pop((number, column))
    return found
