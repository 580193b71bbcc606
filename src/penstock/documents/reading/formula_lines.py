"""Finds display formulas among the lines read on a picture, and running text in what a model calls a formula.

A small layout model takes a formula between two paragraphs for text, and a paragraph between two formulas
for one of them. A formula stands indented and alone on its row, has a sign such as `=` and no words, and an
engine for text is unsure of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean, median

from penstock.box import Box, area, enclosing, shared_area
from penstock.documents.layout.relabel import FORMULA_NUMBER
from penstock.documents.reading.page_reading import Draft
from penstock.documents.text.lines import rows_of
from penstock.documents.text.runs import runs_of
from penstock.region import FORMULA_LABELS, TextLine
from penstock.scripts import has_syllable, is_unspaced

AMONG_TEXT = "formula among text"  # the native label of what is text again if no network can read it

INDENT = 1.0  # of a line's height, from where the column's text begins
PLAINLY_TEXT = 0.98  # an engine for text was 0.78 to 0.97 sure of formulas, and is surer of code and sums
REACH = 0.5  # of a line's height: how far integrals and roots may stand out above and below
APART = 0.6  # the same between rows of two formulas
LIMITS_APART = 0.35  # the same between a sum and what stands below it
COVERED = 0.3  # of a formula's box by lines that are read as text
MANY_LETTERS = 8  # of Chinese, Japanese or Korean in a row: a sentence
RELATION = re.compile("[=<>≡≤≥≠≈≅∼≃∈⊂⊆→⇒↔∝]")
LIKE_EQUALS = "二"  # Chinese for two, and what an equals sign with much white around it is read as
WORD = re.compile(r"[\"'(]?([A-Za-z][a-z]{2,})[\"').,;:]*")  # between spaces: not the letters of (u)uxvx
# fmt: off
NAMES = frozenset({
    "sin", "cos", "tan", "cot", "sinh", "cosh", "tanh", "log", "exp", "lim", "max", "min", "sup", "inf",
    "arg", "det", "dim", "ker", "mod", "gcd", "deg", "rank", "diag", "and", "for", "where", "with", "all",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Row:
    """Lines on one height, read as one text."""

    places: tuple[int, ...]
    box: Box
    text: str
    confidence: float

    @property
    def num_words(self) -> int:
        words = [found[1] for token in self.text.split() if (found := WORD.fullmatch(token))]
        return sum(word not in NAMES for word in words)

    @property
    def num_unspaced(self) -> int:
        """Letters of scripts whose words this module does not tell apart."""
        return sum(has_syllable(letter) or is_unspaced(letter) for letter in self.text)

    @property
    def is_sentence(self) -> bool:
        words = self.num_words >= 3 and self.num_words >= 0.4 * len(self.text.split())
        return words or self.num_unspaced >= MANY_LETTERS


def with_formulas(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, with formulas apart from text. Those that have words of a text layer stay as they are."""
    columns = PageColumns([line for draft in drafts for line in draft.read])
    parts = [part for draft in drafts for part in _parts(draft, columns)]
    if not columns.sentences:
        return parts
    return _with_limits([part for part in parts if not _is_read_as_text(part, columns)], columns.em)


class PageColumns:
    """Where the lines of a page stand: its sentences, the numbers of formulas, and all of them."""

    def __init__(self, lines: Sequence[TextLine]) -> None:
        rows = [Row((), line.box, line.text, line.confidence) for line in lines]
        self.boxes = [row.box for row in rows]
        self.sentences = [row.box for row in rows if row.is_sentence]
        self.has_unspaced = any(row.num_unspaced >= MANY_LETTERS for row in rows)
        self._numbers = [row.box for row in rows if FORMULA_NUMBER.match(row.text.strip())]
        self.em = median(box[3] - box[1] for box in self.sentences) if self.sentences else 0.0

    def left(self, box: Box) -> float | None:
        """Where the sentences above and below a row begin."""
        reach = box[0] + self.em
        lefts = [sentence[0] for sentence in self.sentences if sentence[0] <= reach <= sentence[2]]
        return median(lefts) if lefts else None

    def indent(self, box: Box) -> float:
        """How many line heights a row begins to the right of the sentences above and below it."""
        left = self.left(box)
        return 0.0 if left is None else (box[0] - left) / self.em

    def has_number(self, row: Row) -> bool:
        _, y0, x1, y1 = row.box
        return any(
            number[0] >= x1 - self.em
            and min(number[3], y1) - max(number[1], y0) > 0.5 * (number[3] - number[1])
            for number in self._numbers
        )


def _parts(draft: Draft, columns: PageColumns) -> list[Draft]:
    region = draft.region
    is_formula = region.label in FORMULA_LABELS
    if draft.words or not draft.read or not (is_formula or region.label == "text"):
        return [draft]
    rows = _rows(draft.read)
    tests = [_is_no_prose(row, columns) if is_formula else _is_formula(row, columns) for row in rows]
    if is_formula and all(_is_plain_text(row) for row in rows):
        tests = [False] * len(rows)
    if is_formula and all(tests):
        return [
            replace(draft, region=replace(region, box=enclosing([region.box, *(row.box for row in rows)])))
        ]
    if not any(tests) and not is_formula:
        return [draft]
    groups = [
        (formula, [rows[i] for i in group])
        for formula, run in groupby(range(len(rows)), key=lambda i: tests[i])
        for group in (_formulas(list(run), rows, columns) if formula else [list(run)])
    ]
    return [_part(draft, formula, group, columns) for formula, group in groups]


def _rows(lines: Sequence[TextLine]) -> list[Row]:
    boxes = [line.box for line in lines]
    found = []
    for places in rows_of(boxes):
        own = [lines[i] for i in sorted(places, key=lambda i: boxes[i][0])]
        text = " ".join(line.text for line in own)
        box = enclosing([line.box for line in own])
        found.append(Row(tuple(places), box, text, fmean(line.confidence for line in own)))
    return found


def _is_formula(row: Row, columns: PageColumns) -> bool:
    """Whether a row of a text is a formula that stands by itself."""
    if row.num_words or row.confidence >= PLAINLY_TEXT or not _has_relation(row, columns):
        return False
    return not _has_foreign_letters(row, columns) and columns.indent(row.box) >= INDENT


def _has_relation(row: Row, columns: PageColumns) -> bool:
    return bool(RELATION.search(row.text)) or (LIKE_EQUALS in row.text and not columns.has_unspaced)


def _has_foreign_letters(row: Row, columns: PageColumns) -> bool:
    """Whether a row has letters of Chinese, Japanese or Korean; on an English page 二 is a bar."""
    if row.num_unspaced >= MANY_LETTERS or has_syllable(row.text):
        return True
    return row.num_unspaced > 0 and columns.has_unspaced


def _is_no_prose(row: Row, columns: PageColumns) -> bool:
    """Whether a row of what the model calls a formula may be one: its remarks do not stand at the left."""
    at_left = bool(columns.sentences) and columns.indent(row.box) < INDENT
    if at_left and (row.num_words >= 2 or (row.num_words and not _has_relation(row, columns))):
        return False
    return not row.is_sentence


def _is_plain_text(row: Row) -> bool:
    """Words, read surely, that say nothing of each other: the name of a shop at the top of its receipt."""
    return bool(row.num_words) and row.confidence >= PLAINLY_TEXT and not RELATION.search(row.text)


def _formulas(run: Sequence[int], rows: Sequence[Row], columns: PageColumns) -> list[list[int]]:
    """Rows one after the other as formulas: apart where white stands between, or where each has a number."""

    def goes_on(group: list[int], i: int) -> bool:
        above = [rows[j] for j in group]
        white = rows[i].box[1] - max(row.box[3] for row in above)
        numbered = columns.has_number(rows[i]) and any(columns.has_number(row) for row in above)
        return white <= APART * columns.em and not numbered

    return runs_of(run, goes_on)


def _part(draft: Draft, formula: bool, rows: Sequence[Row], columns: PageColumns) -> Draft:
    region, lines = draft.region, tuple(draft.read[i] for row in rows for i in sorted(row.places))
    box = enclosing([row.box for row in rows])
    if not formula:
        return Draft(replace(region, label="text", box=box, crop=None), read=lines)
    native = region.native_label if region.label in FORMULA_LABELS else AMONG_TEXT
    own = _with_room(box, columns)
    return Draft(replace(region, label="display_formula", native_label=native, box=own), read=lines)


def _with_room(box: Box, columns: PageColumns) -> Box:
    """The box with room for signs that stand out of their lines or that no line has, up to the next lines."""
    x0, y0, x1, y1 = box
    em = columns.em
    others = [other for other in columns.boxes if shared_area(other, box) < 0.5 * area(other)]
    top = max([y0 - REACH * em, *(other[3] for other in others if other[3] <= y0 + 0.5 * em)])
    low = min([y1 + REACH * em, *(other[1] for other in others if other[1] >= y1 - 0.5 * em)])
    beside = [other for other in others if min(other[3], y1) - max(other[1], y0) > 0.2 * em]
    left = max([columns.left(box) or x0, *(other[2] for other in beside if other[2] <= x0 + 0.5 * em)])
    return (min(left, x0), min(top, y0), x1, max(low, y1))


def _is_read_as_text(draft: Draft, columns: PageColumns) -> bool:
    """Whether the model's box for a formula lies over lines that another region has."""
    if draft.words or draft.read or draft.region.label not in FORMULA_LABELS:
        return False
    covered = sum(shared_area(draft.region.box, line) for line in columns.boxes)
    return covered > COVERED * area(draft.region.box)


def _with_limits(drafts: Sequence[Draft], em: float) -> list[Draft]:
    """The drafts, with what stands right above or below a formula and is no text as a part of it."""
    kept: dict[int, Draft] = dict(enumerate(drafts))
    for own in range(len(drafts)):
        draft = kept[own]  # with what has come to it so far
        if draft.words or not _may_be_limits(draft):
            continue
        for place, formula in kept.items():
            if place != own and _is_right_at(draft, formula, em):
                box = enclosing([formula.region.box, draft.region.box, *(line.box for line in draft.read)])
                whole = replace(formula.region, box=box)
                kept[place] = replace(formula, region=whole, read=(*formula.read, *draft.read))
                del kept[own]
                break
    return list(kept.values())


def _may_be_limits(draft: Draft) -> bool:
    is_candidate = draft.region.label == "text" or draft.region.native_label == AMONG_TEXT
    return is_candidate and bool(draft.read) and all(map(_is_limit, _rows(draft.read)))


def _is_limit(row: Row) -> bool:
    return not (row.num_words or row.num_unspaced or FORMULA_NUMBER.match(row.text.strip()))


def _is_right_at(draft: Draft, formula: Draft, em: float) -> bool:
    """Whether the draft stands above or below the formula, no gap between them, and is the lesser one."""
    if formula.region.label != "display_formula" or not formula.read:
        return False
    x0, y0, x1, y1 = enclosing([line.box for line in draft.read])
    left, top, right, low = formula.region.box
    inside = min(x1, right + em) - max(x0, left - em)
    near = max(y0 - low, top - y1) <= LIMITS_APART * em and inside >= 0.5 * (x1 - x0)
    others = enclosing([line.box for line in formula.read])
    is_lesser = draft.region.label == "text" or x1 - x0 < 0.5 * (others[2] - others[0])
    return near and is_lesser and y1 - y0 <= 2 * em
