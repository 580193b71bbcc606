"""Tells which lines of words are one row of a table: by leading, lines drawn across, and what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from penstock.documents.tables.cell_words import CellWords, Frame, Row, TextLine, middle_of

WIDE_COLUMN = 6.0  # heights of type, of running text; in narrower columns a line's end says nothing
WIDER_STEP = 1.25  # of the least leading: the next row begins
FULL = 0.93  # of a column's width: where a line ends that had no room for the next word


def rows_of(
    band: Sequence[TextLine], frame: Frame, is_head: bool, ruled: bool
) -> tuple[list[Row], list[CellWords]]:
    """The rows between two lines drawn across, and the pieces that stand in the middle of several."""
    if len(band) == 1 or _is_one_row(band, frame, is_head, ruled):
        return [[piece for line in band for piece in line]], []
    steps = [middle_of(b) - middle_of(a) for a, b in pairwise(band)]
    floating = [_floats(place, band, frame) for place in range(len(band))]
    least = min((step for step in steps if step > 0.7 * frame.em), default=frame.em)
    rows: list[list[TextLine]] = []
    for place, line in enumerate(band):
        if floating[place]:
            continue
        if rows and _goes_on(rows[-1], line, frame, least):
            rows[-1].append(line)
        else:
            rows.append([line])
    spanning = [piece for line, floats in zip(band, floating, strict=True) if floats for piece in line]
    return [[piece for line in row for piece in line] for row in rows], spanning


def _is_one_row(band: Sequence[TextLine], frame: Frame, is_head: bool, ruled: bool) -> bool:
    columns: dict[int, list[CellWords]] = {}
    for line in band:
        for piece in line:
            if piece.first != piece.last:
                return False
            columns.setdefault(piece.first, []).append(piece)
    if not ruled or any(frame.covered(middle_of(a), middle_of(b)) > 0.02 for a, b in pairwise(band)):
        return False
    pairs = [(a, b) for own in columns.values() for a, b in pairwise(own)]
    if any(a.is_number and b.is_number for a, b in pairs):
        return False
    if max(middle_of(b) - middle_of(a) for a, b in pairwise(band)) > 2 * frame.em:
        return False
    if is_head:
        return True
    breaks = [is_forced(a, b, frame) for a, b in pairs if frame.width(a.first) > WIDE_COLUMN * frame.em]
    counts = Counter(len(own) for own in columns.values())
    if 2 * counts[1] >= len(columns) > 1:
        return len(breaks) < 2 or any(breaks)
    return bool(breaks) and sum(breaks) > 0.6 * len(breaks)


def is_forced(above: CellWords, below: CellWords, frame: Frame) -> bool:
    """Whether the column had no room for the next word behind a line."""
    word = below.words[0].box
    needed = above.box[2] - above.box[0] + word[2] - word[0] + 0.25 * frame.em
    return needed > FULL * frame.width(above.first)


def _floats(place: int, band: Sequence[TextLine], frame: Frame) -> bool:
    """Whether a line stands between two others whose columns it has not: a cell of several rows."""
    if not 0 < place < len(band) - 1:
        return False
    above, line, below = band[place - 1 : place + 2]
    near = 0.75 * (middle_of(below) - middle_of(above))
    columns = {piece.first for piece in line}
    beside = {c for p in (*above, *below) for c in range(p.first, p.last + 1)}
    return (
        max(middle_of(line) - middle_of(above), middle_of(below) - middle_of(line)) < near
        and middle_of(below) - middle_of(above) < 2.6 * frame.em
        and not columns & beside
        and len(line) <= min(len(above), len(below))
    )


def _goes_on(row: Sequence[TextLine], line: TextLine, frame: Frame, least: float) -> bool:
    """Whether a line is one more of the same row."""
    above = row[-1]
    step = middle_of(line) - middle_of(above)
    if step > WIDER_STEP * least or frame.covered(middle_of(above), middle_of(line)) > 0.02:
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
    return 0 not in mine and mine < set(last) and all(is_forced(last[p.first], p, frame) for p in line)


def _continues(above: CellWords, below: CellWords, frame: Frame) -> bool:
    """Whether a line of a name goes on in the next one: it had no room, and the next one is no beginning."""
    if frame.width(above.first) < WIDE_COLUMN * frame.em or not is_forced(above, below, frame):
        return False
    return not below.text[0].isupper() or frame.wraps_names
