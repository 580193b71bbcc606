"""Builds a table's cells from the words of a text layer and the lines drawn between them.

Columns are parted by white that the rows share and by lines drawn down; rows by lines drawn across, by
leading and by what a line says. Words over several columns are one cell with a span, and so is a cell that
stands in the middle of several rows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from penstock.box import Box, enclosing
from penstock.documents.tables.ruled import Ruling, rulings
from penstock.documents.tables.word_columns import type_height
from penstock.documents.text.lines import around, row_text, rows_of_words
from penstock.documents.text.paragraphs import join_lines
from penstock.documents.text.rotated_text import is_sideways
from penstock.documents.text.runs import runs_of
from penstock.region import NOWHERE, Line, TableCell, Word

# In units of the type's height.
WHITE, MAX_WHITE = 0.45, 0.8  # least white between two cells: a word's space is 0.33, of some fonts 0.5
MIN_SPACE, MAX_SPACE = 0.1, 0.9  # between what is taken for spaces of words
LONE_WHITE = 1.0  # between two cells where one row alone shows it
MIDDLE = 0.4  # between the middles of a head and of the columns below it
WIDE_COLUMN = 6.0  # of running text; in narrower ones a line's end says nothing
# Of the usual space between words.
SPACES = 1.35  # least white between two cells
MIN_CUT, CUT_SPACES = 0.3, 1.25  # and where other rows show a gutter
# Shares.
DRAWN_DOWN = 0.5  # of the table's height that a line takes to part columns
DRAWN_ACROSS = 0.85  # of the table's width that a line takes to part rows for good
CROSSED = 0.25  # of the rows with text on both sides that may run over a gutter
FRAMED_ROWS, FRAMED_CROSSED = 0.6, 0.15  # the same between columns that lines part already
CENTRED = 0.35  # of the leading: how far from the middle of its rows a cell may stand
WIDER_STEP = 1.25  # of the least leading: the next row begins
MAX_DOUBT = (
    0.05  # of the rows, of 76 tables: in 68 below, the words tell more than the network, in 6 above less
)
SHORT_TEXT = 6  # letters: what begins small and is no longer may be a unit or a name
FULL = 0.93  # of a column's width: where a line ends that had no room for the next word
_NUMBER = re.compile(r"[^\w]*\d[\d.,:/%()±×−+\-–*†‡ ]*\W*$|[-–—✓✗×]$")


@dataclass(frozen=True, slots=True)
class Piece:
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
        return _is_number(self.text)


TextLine = list[Piece]
Row = list[Piece]


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
        own, slack = [rule for rule in self.down if rule.at == self.edges[edge]], MIDDLE * self.em
        return bool(own) and not any(rule.low - slack < height < rule.high + slack for rule in own)

    def width(self, column: int) -> float:
        low, high = self.extents[column]
        return high - low

    def centre(self, column: int) -> float:
        return sum(self.extents[column]) / 2


def cells_from_words(box: Box, words: Sequence[Word], strokes: Sequence[Box]) -> list[TableCell]:
    """The cells of the table in the box; none where its words keep no columns or its rows are in doubt."""
    em = type_height(words)
    lines = [line for line in rows_of_words(words) if line]
    if em <= 0 or len(lines) < 2 or any(is_sideways(word) for word in words):
        return []
    across, down = _rules_inside(box, strokes)
    edges = column_edges(lines, em, [rule.at for rule in down])
    if not edges:
        return []
    space = max(MIN_CUT * em, CUT_SPACES * _usual_space(lines, em))
    pieces = [_pieces(line, edges, em, space) for line in lines]
    every = [piece for line in pieces for piece in line]
    extents = [_extent([p for p in every if p.first == p.last == c]) for c in range(len(edges) + 1)]
    pieces = [[_within(piece, extents, em) for piece in line] for line in pieces]
    frame = Frame(around(words), tuple(edges), tuple(across), tuple(down), em, tuple(extents))
    names = [
        (a, b) for a, b in pairwise(pieces) if len(b) == 1 and a[0].first == b[0].first == b[0].last == 0
    ]
    forced = [_is_forced(a[0], b[0], frame) for a, b in names]
    frame = replace(frame, wraps_names=3 * len(forced) >= len(pieces) and sum(forced) >= 0.8 * len(forced))
    bands = runs_of(pieces, lambda run, line: not _is_ruled_off(run[-1], line, frame))
    bands = [_with_spans(band, frame, number == 0) for number, band in enumerate(bands)]
    placed: list[TableCell] = []
    top = 0
    for number, band in enumerate(bands):
        is_head = number == 0 < len(bands) - 1
        rows, spanning = _rows_of(band, frame, is_head, is_head or len(bands) > 2)
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
            few and row[0].column == 0 and not row[0].text and not any(_is_number(c.text) for c in shown)
        )
        begun = {cell.column for cell in above if cell.text}
        goes_on = len(shown) < num_columns and any(
            cell.text[0].islower() and len(cell.text) > SHORT_TEXT and cell.column in begun for cell in shown
        )
        crossed = row[0].row > 1 and len(shown) > 1 and any(cell.column_span > 1 for cell in shown)
        doubtful += bool(shown) and (nameless or goes_on or crossed)
    return doubtful / len(rows)


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _within(piece: Piece, extents: Sequence[tuple[float, float]], em: float) -> Piece:
    """The piece without columns at its ends whose text it does not reach."""
    first, last = piece.first, piece.last
    reach = MIN_SPACE * em
    while first < last and piece.box[2] < extents[last][0] + reach:
        last -= 1
    while first < last and piece.box[0] > extents[first][1] - reach > 0:
        first += 1
    return replace(piece, first=first, last=last)


def _extent(pieces: Sequence[Piece]) -> tuple[float, float]:
    return (min(p.box[0] for p in pieces), max(p.box[2] for p in pieces)) if pieces else (0.0, 0.0)


def _rules_inside(box: Box, strokes: Sequence[Box]) -> tuple[list[Ruling], list[Ruling]]:
    x0, y0, x1, y1 = box
    across, down = rulings([s for s in strokes if s[0] < x1 and s[2] > x0 and s[1] < y1 and s[3] > y0])
    height: defaultdict[float, float] = defaultdict(float)
    for rule in down:
        height[rule.at] += min(rule.high, y1) - max(rule.low, y0)
    return across, [rule for rule in down if height[rule.at] >= DRAWN_DOWN * (y1 - y0)]


def parting_lines(box: Box, strokes: Sequence[Box]) -> list[float]:
    """Where lines are drawn down that part columns."""
    x0, _, x1, _ = box
    return sorted({rule.at for rule in _rules_inside(box, strokes)[1] if x0 < rule.at < x1})


def _usual_space(lines: Sequence[Sequence[Word]], em: float) -> float:
    gaps = [
        b.box[0] - a.box[2]
        for line in lines
        for a, b in pairwise(sorted(line, key=lambda w: w.box[0]))
        if MIN_SPACE * em < b.box[0] - a.box[2] < MAX_SPACE * em
    ]
    return median(gaps) if len(gaps) > 9 else 0.0


def column_edges(lines: Sequence[Sequence[Word]], em: float, drawn: Sequence[float]) -> list[float]:
    """Where columns are parted: in the gutters that rows share, and at the lines drawn between words."""
    white = min(MAX_WHITE * em, max(WHITE * em, SPACES * _usual_space(lines, em)))
    spans = [_spans(line, white, drawn) for line in lines]
    is_framed = min(drawn, default=em) <= min(span[0][0] for span in spans) and len(set(drawn)) > 2
    crossed_by = FRAMED_CROSSED if is_framed else CROSSED
    parted = [span for span in spans if len(span) > 1] or spans
    marks = sorted({x for span in parted for part in span for x in part})
    clear: list[tuple[float, float, int]] = []  # from, to, how well the rows show white there
    for low, high in pairwise(marks):
        beside = [_beside(span, low, em) for span in parted]
        shown = sum(side > 0 for side in beside)
        crossed = sum(side < 0 for side in beside)
        wide = max(beside, default=0.0)
        enough = shown >= FRAMED_ROWS * len(parted) if is_framed else shown > 1 or wide > LONE_WHITE * em
        if shown and enough and crossed <= crossed_by * (shown + crossed):
            clear.append((low, high, shown - 3 * crossed))
    gutters = runs_of(clear, lambda run, part: part[0] <= run[-1][1])
    edges = [edge for gutter in gutters for edge in _edges_in(gutter, parted, em)]
    edges = _with_columns_between(edges, parted)
    x0, x1 = marks[0], marks[-1]
    lines_at = sorted({at for at in drawn if x0 < at < x1})
    return sorted([*(edge for edge in edges if not _is_at(edge, lines_at, parted)), *lines_at])


def _with_columns_between(edges: list[float], spans: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """The edges between which several rows have a cell, or one has that may be a head."""
    kept = list(edges)
    for edge in edges:
        place = kept.index(edge)
        low = kept[place - 1] if place else float("-inf")
        own = [row for row, span in enumerate(spans) if any(low < a and b < edge for a, b in span)]
        if len(own) < 2 and not any(row < 2 for row in own):
            before, here = (sum(any(a < at < b for a, b in s) for s in spans) for at in (low, edge))
            kept.remove(low if place and before > here else edge)
    return kept


def _is_at(edge: float, lines_at: Sequence[float], spans: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Whether no text stands between the edge and a line: both part the same columns."""
    for at in lines_at:
        low, high = min(edge, at), max(edge, at)
        if not any(low < (a + b) / 2 < high for span in spans for a, b in span):
            return True
    return False


def _beside(span: Sequence[tuple[float, float]], at: float, em: float) -> float:
    """The width of the white right of `at` between two cells of a row; -1 where text runs over it, else 0."""
    place = bisect_right(span, (at, float("inf"))) - 1
    if place < 0:
        return 0.0
    if span[place][1] > at:
        return -1.0
    return span[place + 1][0] - span[place][1] if place + 1 < len(span) else 0.0


def _edges_in(
    gutter: Sequence[tuple[float, float, int]], spans: Sequence[Sequence[tuple[float, float]]], em: float
) -> list[float]:
    """The edge of a gutter, or several where a few cells stand in it as a column of their own."""
    low, high = gutter[0][0], gutter[-1][1]
    inside = sorted(part for span in spans for part in span if low <= part[0] and part[1] <= high)
    islands = runs_of(inside, lambda run, part: part[0] <= max(end for _, end in run))
    islands = [run for run in islands if len(run) > 1 or _heads_column(run[0], low, high, spans, em)]
    if not islands:
        best = max(part[2] for part in gutter)
        widest = max((part for part in gutter if part[2] == best), key=lambda part: part[1] - part[0])
        return [(widest[0] + widest[1]) / 2]
    stops = [low, *(x for run in islands for x in (run[0][0], max(end for _, end in run))), high]
    return [(a + b) / 2 for a, b in zip(stops[::2], stops[1::2], strict=True) if b - a > MIN_SPACE * em]


def _heads_column(
    part: tuple[float, float],
    low: float,
    high: float,
    spans: Sequence[Sequence[tuple[float, float]]],
    em: float,
) -> bool:
    """Whether a cell that is the only one between two columns is the head of an empty one."""
    return part in [*spans[0], *spans[1]] and min(part[0] - low, high - part[1]) >= WHITE * em


def _spans(line: Sequence[Word], white: float, drawn: Sequence[float]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for x0, x1 in sorted((word.box[0], word.box[2]) for word in line):
        parted = found and any(found[-1][1] <= at + 1 and at - 1 <= x0 for at in drawn)
        if found and x0 - found[-1][1] < white and not parted:
            found[-1] = (found[-1][0], max(x1, found[-1][1]))
        else:
            found.append((x0, x1))
    return found


def _pieces(line: Sequence[Word], edges: Sequence[float], em: float, space: float) -> TextLine:
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
        pieces.append(Piece(tuple(part), first, max(first, last), box))
    return pieces


def _is_cut(part: Sequence[Word], word: Word, edges: Sequence[float], em: float, space: float) -> bool:
    end = max(before.box[2] for before in part)
    slack = 0.1 * em
    return word.box[0] - end >= space and any(end - slack <= edge <= word.box[0] + slack for edge in edges)


def _middle(line: TextLine) -> float:
    return median(piece.middle for piece in line)


def _is_ruled_off(above: TextLine, below: TextLine, frame: Frame) -> bool:
    return frame.covered(_middle(above), _middle(below)) >= DRAWN_ACROSS


def _rows_of(
    band: Sequence[TextLine], frame: Frame, is_head: bool, ruled: bool
) -> tuple[list[Row], list[Piece]]:
    """The rows between two lines drawn across, and the pieces that stand in the middle of several."""
    if len(band) == 1 or _is_one_row(band, frame, is_head, ruled):
        return [[piece for line in band for piece in line]], []
    steps = [_middle(b) - _middle(a) for a, b in pairwise(band)]
    floating = [_floats(place, band, frame) for place in range(len(band))]
    least = min((step for step in steps if step > 0.7 * frame.em), default=frame.em)
    set_apart = _are_set_apart(steps, least)
    rows: list[list[TextLine]] = []
    for place, line in enumerate(band):
        if floating[place]:
            continue
        beside = _is_beside(place, band) or (place > 1 and _is_beside(place - 1, band))
        if rows and (beside or _goes_on(rows[-1], line, frame, least, set_apart)):
            rows[-1].append(line)
        else:
            rows.append([line])
    spanning = [piece for line, floats in zip(band, floating, strict=True) if floats for piece in line]
    return [[piece for line in row for piece in line] for row in rows], spanning


def _are_set_apart(steps: Sequence[float], least: float) -> bool:
    """Whether white tells rows from the lines of a row: some lines stand close and others do not."""
    close = sum(step < 1.12 * least for step in steps)
    wide = sum(step > WIDER_STEP * least for step in steps)
    return close > 0 and wide > 1 and close + wide >= 0.9 * len(steps)


def _is_one_row(band: Sequence[TextLine], frame: Frame, is_head: bool, ruled: bool) -> bool:
    columns: dict[int, list[Piece]] = {}
    for line in band:
        for piece in line:
            if piece.first != piece.last:
                return False
            columns.setdefault(piece.first, []).append(piece)
    if not ruled or any(frame.covered(_middle(a), _middle(b)) > 0.02 for a, b in pairwise(band)):
        return False
    pairs = [(a, b) for own in columns.values() for a, b in pairwise(own)]
    if any(a.is_number and b.is_number for a, b in pairs):
        return False
    if max(_middle(b) - _middle(a) for a, b in pairwise(band)) > 2 * frame.em:
        return False
    if is_head:
        return True
    breaks = [_is_forced(a, b, frame) for a, b in pairs if frame.width(a.first) > WIDE_COLUMN * frame.em]
    counts = Counter(len(own) for own in columns.values())
    if 2 * counts[1] >= len(columns) > 1:
        return len(breaks) < 2 or any(breaks)
    return bool(breaks) and sum(breaks) > 0.6 * len(breaks)


def _is_forced(above: Piece, below: Piece, frame: Frame) -> bool:
    """Whether the column had no room for the next word behind a line."""
    word = below.words[0].box
    needed = above.box[2] - above.box[0] + word[2] - word[0] + 0.25 * frame.em
    return needed > FULL * frame.width(above.first)


def _floats(place: int, band: Sequence[TextLine], frame: Frame) -> bool:
    """Whether a line stands between two others whose columns it has not: a cell of several rows."""
    if not 0 < place < len(band) - 1:
        return False
    above, line, below = band[place - 1 : place + 2]
    if _is_alone_in_the_middle(place, band):
        return True
    near = 0.75 * (_middle(below) - _middle(above))
    columns = {piece.first for piece in line}
    beside = {c for p in (*above, *below) for c in range(p.first, p.last + 1)}
    return (
        max(_middle(line) - _middle(above), _middle(below) - _middle(line)) < near
        and _middle(below) - _middle(above) < 2.6 * frame.em
        and not columns & beside
        and len(line) <= min(len(above), len(below))
    )


def _is_beside(place: int, band: Sequence[TextLine]) -> bool:
    """Whether a line stands beside the two lines of a cell, between their heights."""
    if not 0 < place < len(band) - 1:
        return False
    above, line, below = band[place - 1 : place + 2]
    columns = [{piece.first for piece in own} for own in (above, line, below)]
    further = [*band[max(0, place - 2) : place - 1], *band[place + 2 : place + 3]]
    step = _middle(below) - _middle(above)
    return (
        max(_middle(line) - _middle(above), _middle(below) - _middle(line)) < 0.75 * step
        and columns[0] == columns[2]
        and not columns[0] & columns[1]
        and len(line) > len(above)
        and not any({piece.first for piece in other} == columns[1] for other in further)
    )


def _is_alone_in_the_middle(place: int, band: Sequence[TextLine]) -> bool:
    """Whether a line has columns of its own, and stands in the middle of the band."""
    columns = {piece.first for piece in band[place]}
    others = {piece.first for other in band if other is not band[place] for piece in other}
    leading = (_middle(band[-1]) - _middle(band[0])) / (len(band) - 1)
    centre = (_middle(band[0]) + _middle(band[-1])) / 2
    return not columns & others and abs(_middle(band[place]) - centre) < CENTRED * leading


def _goes_on(row: Sequence[TextLine], line: TextLine, frame: Frame, least: float, set_apart: bool) -> bool:
    """Whether a line is one more of the same row."""
    above = row[-1]
    step = _middle(line) - _middle(above)
    if step > WIDER_STEP * least or frame.covered(_middle(above), _middle(line)) > 0.02:
        return False
    if any(piece.first != piece.last for piece in (*above, *line)):
        return False
    last = {piece.first: piece for other in row for piece in other}
    mine = {piece.first for piece in line}
    cut = (
        last[piece.first].text.endswith("-") and piece.text[0].islower()
        for piece in line
        if piece.first in last
    )
    if any(cut):
        return True
    if not mine <= set(last):
        return False
    all_wide = all(frame.width(column) > WIDE_COLUMN * frame.em for column in mine)
    if 0 in mine and (all_wide or frame.wraps_names) and _continues(last[0], line[0], frame):
        return not any(piece.is_number and not piece.text.startswith("(") for piece in line)
    if any(piece.is_number for piece in line):
        return False
    if set_apart:
        return True
    return 0 not in mine and mine < set(last) and all(_is_forced(last[p.first], p, frame) for p in line)


def _continues(above: Piece, below: Piece, frame: Frame) -> bool:
    """Whether a line of a name goes on in the next one: it had no room, and the next one is no beginning."""
    if frame.width(above.first) < WIDE_COLUMN * frame.em or not _is_forced(above, below, frame):
        return False
    return not below.text[0].isupper() or frame.wraps_names


def _cells(rows: Sequence[Row], spanning: Sequence[Piece], frame: Frame, top: int) -> list[TableCell]:
    num_columns = len(frame.edges) + 1
    held: dict[tuple[int, int], list[Piece]] = {}
    for number, row in enumerate(rows):
        for piece in row:
            held.setdefault((number, piece.first), []).append(piece)
    spans = {at: (own[0].first, max(piece.last for piece in own)) for at, own in held.items()}
    tall = _row_spans(rows, spanning, held, frame)
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


def _text(pieces: Sequence[Piece]) -> str:
    ordered = sorted(pieces, key=lambda piece: (piece.middle, piece.box[0]))
    return join_lines([Line(text=piece.text, box=piece.box) for piece in ordered])


def _with_spans(band: Sequence[TextLine], frame: Frame, is_first: bool) -> list[TextLine]:
    """The lines with their pieces over all columns that they head."""
    head = [*band[1:3], []] if is_first else [[] for _ in band]
    longer = [len(line) < len(below) for line, below in zip(band, head, strict=False)]
    longer += [False] * (len(band) - len(longer))
    return [
        [_spanning(piece, line, band[place + 1 :], frame, longer[place]) for piece in line]
        for place, line in enumerate(band)
    ]


def _spanning(piece: Piece, line: TextLine, below: Sequence[TextLine], frame: Frame, is_head: bool) -> Piece:
    """The piece to the ends of the line drawn below it, else about its middle, and up to lines drawn down."""
    headed = _headed(piece, below, frame)
    if len(line) == 1 and not headed and (piece.first != piece.last or _is_title(piece, frame)):
        return replace(piece, first=0, last=len(frame.edges))
    low = max((other.last + 1 for other in line if other.last < piece.first), default=0)
    high = min((other.first - 1 for other in line if other.first > piece.last), default=len(frame.edges))
    first, last = headed or (_about(piece, low, high, frame) if is_head else (piece.first, piece.last))
    while first > low and frame.is_open(first - 1, piece.middle):
        first -= 1
    while last < high and frame.is_open(last, piece.middle):
        last += 1
    return replace(piece, first=min(piece.first, max(first, low)), last=max(piece.last, min(last, high)))


def _is_title(piece: Piece, frame: Frame) -> bool:
    """Whether a piece in the first column stands in the middle of the table."""
    x0, _, x1, _ = frame.box
    centre = (piece.box[0] + piece.box[2]) / 2
    return piece.first == 0 and abs(centre - (x0 + x1) / 2) < frame.em and piece.box[0] > x0 + frame.em


def _about(piece: Piece, low: int, high: int, frame: Frame) -> tuple[int, int]:
    """The widest run of free columns in whose middle the piece stands, or its own."""
    centre = (piece.box[0] + piece.box[2]) / 2
    for first, last in sorted(
        ((a, b) for a in range(low, piece.first + 1) for b in range(piece.last, high + 1) if b > a),
        key=lambda run: run[0] - run[1],
    ):
        start, end = frame.extents[first][0], frame.extents[last][1]
        if abs((start + end) / 2 - centre) < MIDDLE * frame.em:
            return first, last
    return piece.first, piece.last


def _headed(piece: Piece, lines: Sequence[TextLine], frame: Frame) -> tuple[int, int] | None:
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


def _row_spans(
    rows: Sequence[Row],
    spanning: Sequence[Piece],
    held: dict[tuple[int, int], list[Piece]],
    frame: Frame,
) -> dict[tuple[int, int], list[Piece]]:
    """The cells that stand alone in their column, in the middle of all rows of the band."""
    if len(rows) < 2:
        return {}
    heights = [median(p.middle for p in row) for row in rows]
    middle, leading = (heights[0] + heights[-1]) / 2, median(b - a for a, b in pairwise(heights))
    found: dict[tuple[int, int], list[Piece]] = {}
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
