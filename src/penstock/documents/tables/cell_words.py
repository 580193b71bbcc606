"""The words of a table's lines, cut where its columns are parted, and what is known before its rows are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from penstock.box import Box
from penstock.documents.tables.gutters import MIN_SPACE
from penstock.documents.tables.ruled import Ruling
from penstock.documents.text.lines import around, row_text
from penstock.documents.text.runs import runs_of
from penstock.region import Word

PAST_END = 0.4  # of the type's height: how far past its end a line drawn down still parts columns
DRAWN_ACROSS = 0.85  # of the table's width that a line takes to part rows for good
_NUMBER = re.compile(r"[^\w]*\d[\d.,:/%()±×−+\-–*†‡ ]*\W*$|[-–—✓✗×]$")


@dataclass(frozen=True, slots=True)
class CellWords:
    """Words of one line that stand together, and the first and last column that they stand in."""

    words: tuple[Word, ...]
    first: int
    last: int
    box: Box

    @property
    def text(self) -> str:
        return row_text(self.words)

    @property
    def middle(self) -> float:
        return (self.box[1] + self.box[3]) / 2

    @property
    def is_number(self) -> bool:
        return is_number_text(self.text)


TextLine = list[CellWords]
Row = list[CellWords]


@dataclass(frozen=True, slots=True)
class Frame:
    """What is known of the table before its rows: where its columns are parted, and the lines across it."""

    box: Box
    edges: tuple[float, ...]
    across: tuple[Ruling, ...]
    down: tuple[Ruling, ...]
    em: float
    extents: tuple[tuple[float, float], ...]  # of each column's text
    wraps_names: bool = False  # whether names of rows take several lines

    def covered(self, top: float, bottom: float) -> float:
        """Share of the width that lines between two heights take."""
        x0, _, x1, _ = self.box
        between = [rule for rule in self.across if top < rule.at < bottom]
        return sum(max(0.0, min(x1, r.high) - max(x0, r.low)) for r in between) / (x1 - x0)

    def is_open(self, edge: int, height: float) -> bool:
        """Whether the line that parts two columns is not drawn at a height."""
        own, slack = [rule for rule in self.down if rule.at == self.edges[edge]], PAST_END * self.em
        return bool(own) and not any(rule.low - slack < height < rule.high + slack for rule in own)

    def width(self, column: int) -> float:
        low, high = self.extents[column]
        return high - low

    def centre(self, column: int) -> float:
        return sum(self.extents[column]) / 2


def is_number_text(text: str) -> bool:
    return _NUMBER.match(text) is not None


def cut_pieces(line: Sequence[Word], edges: Sequence[float], em: float, space: float) -> TextLine:
    """The line cut at the edges that stand in its white."""
    ordered = sorted(line, key=lambda word: word.box[0])
    parts = runs_of(ordered, lambda part, word: not _is_cut(part, word, edges, em, space))
    pieces: TextLine = []
    for part in parts:
        box = around(part)
        reach = min(0.3 * em, 0.3 * (box[2] - box[0]))
        first, last = bisect_right(edges, box[0] + reach), bisect_right(edges, box[2] - reach)
        if pieces and first <= pieces[-1].last:
            first = min(pieces[-1].last + 1, len(edges))
        pieces.append(CellWords(tuple(part), first, max(first, last), box))
    return pieces


def _is_cut(part: Sequence[Word], word: Word, edges: Sequence[float], em: float, space: float) -> bool:
    end = max(before.box[2] for before in part)
    slack = 0.1 * em
    return word.box[0] - end >= space and any(end - slack <= edge <= word.box[0] + slack for edge in edges)


def within_text(piece: CellWords, extents: Sequence[tuple[float, float]], em: float) -> CellWords:
    """The piece without columns at its ends whose text it does not reach."""
    first, last = piece.first, piece.last
    reach = MIN_SPACE * em
    while first < last and piece.box[2] < extents[last][0] + reach:
        last -= 1
    while first < last and piece.box[0] > extents[first][1] - reach > 0:
        first += 1
    return replace(piece, first=first, last=last)


def extent_of(pieces: Sequence[CellWords]) -> tuple[float, float]:
    return (min(p.box[0] for p in pieces), max(p.box[2] for p in pieces)) if pieces else (0.0, 0.0)


def middle_of(line: TextLine) -> float:
    return median(piece.middle for piece in line)


def is_ruled_off(above: TextLine, below: TextLine, frame: Frame) -> bool:
    return frame.covered(middle_of(above), middle_of(below)) >= DRAWN_ACROSS
