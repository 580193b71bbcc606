"""Finds where one paragraph of a region ends and the next begins, by boxes and wording.

A layout model's text region may hold several paragraphs, a list, an address or a whole receipt. Text
fills its rows: a row with room left for the first word of the next row ends a paragraph. Marks show
lists, dots show tables of contents. In doubt the paragraph goes on: a sentence cut in two is worse than
two sentences in one paragraph. Not for right-to-left or upright text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock.box import Box, enclosing
from penstock.documents.layout.labels import LEADER
from penstock.documents.text.runs import runs_of
from penstock.region import Line
from penstock.scripts import UNSPACED, is_unspaced, reads_right_to_left

# All in units of a row's height.
MARGIN = 1.0  # beyond the next word: estimates of its width are that rough
UNSPACED_MARGIN = 2.5  # Chinese and Japanese leave up to two characters rather than begin with a comma
INDENT = 0.8
TAB = 2.0  # white inside a row that is wider than any space: a name and its amount

MIN_BY_LINE, IN_PIECES = 6, 0.3  # rows of a receipt, and the share of them that an engine finds in pieces
SHORT = 45  # letters: the mean row of a receipt is shorter
AROUND = 2  # rows above and below that tell how far rows reach here: text may flow around a picture

_BULLET = re.compile(r"[•‣◦▪■□◆◇○●▶►➢✓✔∙◾▷①-⑳※]\s*\S")
_DASH = re.compile(r"[-–—*·]\s+\S")
_NUMBER = re.compile(r"([(（]?)(\d{1,3})([.)）]?)\s*(?=[^\s\d.,)%])")
_SENTENCE_END = re.compile(r"[.!?:;。！？：…][\"”’')\]]?$")
_FIRST_WORD = re.compile(rf"[^\s{UNSPACED}]*[{UNSPACED}]|\S+")  # what a row above had to have room for
_CUT = re.compile("[-\u2010\x02\xad\ufffe]$")


@dataclass(frozen=True, slots=True)
class _TextRow:
    """Lines on one height: an engine may find a row in pieces."""

    lines: tuple[Line, ...]
    box: Box

    @property
    def text(self) -> str:
        return " ".join(line.text.strip() for line in self.lines)

    @property
    def width(self) -> float:
        return self.box[2] - self.box[0]

    @property
    def height(self) -> float:
        return max(line.box[3] - line.box[1] for line in self.lines)

    @property
    def is_tabbed(self) -> bool:
        return any(b.box[0] - a.box[2] > TAB * self.height for a, b in pairwise(self.lines))


def split_paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines as paragraphs, in the order given. Leaves out lines without text."""
    rows = _rows([line for line in lines if line.text.strip()])
    if _is_by_line(rows):
        return [list(row.lines) for row in rows]
    numbers: dict[tuple[str, str], int] = {}  # of each kind of numbering, the last that began a row
    found: list[list[Line]] = []
    for place, row in enumerate(rows):
        begins = not found or _begins(rows, place, found[-1][0].text.strip())
        if _is_next_number(row.text, numbers) or begins:
            found.append([])
        found[-1] += row.lines
    return found


def _is_by_line(rows: Sequence[_TextRow]) -> bool:
    """Whether the rows are a receipt's or a form's: short, many of them in pieces that stand apart."""
    in_pieces = sum(len(row.lines) > 1 for row in rows)
    text = "".join(row.text for row in rows)
    if 2 * sum(map(is_unspaced, text)) > len(text):  # a row of Chinese is a sentence at half that length
        return False
    letters = len(text)
    return len(rows) >= MIN_BY_LINE and in_pieces >= IN_PIECES * len(rows) and letters <= SHORT * len(rows)


def _rows(lines: Sequence[Line]) -> list[_TextRow]:
    rows = runs_of(lines, lambda row, line: _same_row(row[-1], line))
    return [_TextRow(tuple(row), enclosing([line.box for line in row])) for row in rows]


def _same_row(a: Line, b: Line) -> bool:
    shared = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    return shared > 0.5 * min(a.box[3] - a.box[1], b.box[3] - b.box[1])


def _is_next_number(text: str, numbers: dict[tuple[str, str], int]) -> bool:
    """Whether the row is a list's next item: `2.` after a row that began with `1.`."""
    found = _NUMBER.match(text)
    if found is None:
        return False
    kind, number = (found[1], found[3]), int(found[2])
    follows = numbers.get(kind) == number - 1
    numbers[kind] = number
    return follows


def _begins(rows: Sequence[_TextRow], place: int, first: str) -> bool:
    """Whether the row begins a paragraph; `first` is how the one before began."""
    above, below = rows[place - 1], rows[place]
    text, last = below.text, above.text
    if below.height > 2 * below.width or reads_right_to_left(text):
        return False
    if _BULLET.match(text) or LEADER.search(last) or above.is_tabbed or below.is_tabbed:
        return True
    if _DASH.match(text) and (_DASH.match(first) or _SENTENCE_END.search(last)):
        return True
    return _ended_early(rows, place) or _is_indented(rows, place)


def _ended_early(rows: Sequence[_TextRow], place: int) -> bool:
    """Whether the row above left room for this row's first word."""
    above, below = rows[place - 1], rows[place]
    text, last = below.text, above.text
    if _CUT.search(last) or (text[0].islower() and not _SENTENCE_END.search(last)):
        return False
    word = _FIRST_WORD.match(text)
    assert word is not None  # no row is without text
    margin = UNSPACED_MARGIN if is_unspaced(word[0][-1]) else MARGIN
    return _room(rows, place) > below.width * len(word[0]) / len(text) + margin * below.height > 0


def _room(rows: Sequence[_TextRow], place: int) -> float:
    """How much farther the row above could have reached; on both sides if rows are centred here."""
    near = rows[max(0, place - 1 - AROUND) : place + 1 + AROUND]
    left, _, right, _ = enclosing([row.box for row in near])
    above, below = rows[place - 1], rows[place]
    centred = all(
        abs(row.box[0] - left - (right - row.box[2])) < row.height and row.box[0] - left > INDENT * row.height
        for row in (above, below)
        if row.width < right - left - row.height
    )
    return right - left - above.width if centred else right - above.box[2]


def _is_indented(rows: Sequence[_TextRow], place: int) -> bool:
    """Whether the row starts farther in than both its neighbours, after the end of a sentence."""
    if place + 1 >= len(rows) or not _SENTENCE_END.search(rows[place - 1].text):
        return False
    above, below, after = rows[place - 1 : place + 2]
    em = INDENT * below.height
    return em > 0 and below.box[0] - above.box[0] > em and below.box[0] - after.box[0] > em
