"""Puts a formula together from its signs: bars make fractions and roots, places make rows and scripts.

From the smallest part to the whole: each bar, shortest first, takes what stands above and below it and
becomes one mark; what is left falls into rows; in a row, smaller signs off the baseline are scripts of what
is before them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.box import Box
from penstock.documents.formulas.bars import with_bars
from penstock.documents.formulas.marks import Mark, bars_of, marks_of
from penstock.documents.formulas.matrices import with_matrices
from penstock.documents.formulas.rows import row_latex, rows_of
from penstock.documents.formulas.signs import UnknownSign
from penstock.region import Word

MAX_MARKS = 400  # a region with more is a page of text
NUMBER = re.compile(r"\(?\s*([A-Za-z]?\d[\d.]*[a-z]?)\s*\)$")
NUMBER_GAP = 2.0  # times the size: white before a formula's number


def layer_formula(words: Sequence[Word], strokes: Sequence[Box], box: Box) -> str | None:
    """Returns LaTeX of the formula in this box of the page, or None where the layer does not tell it."""
    if not words or len(words) > MAX_MARKS:
        return None
    try:
        marks = marks_of(words)
    except UnknownSign:
        return None
    rows = rows_of(with_matrices(with_bars(marks, bars_of(strokes, box))))
    lines = [_line(row) for row in rows]
    if not any(lines):
        return None
    if len(lines) == 1:
        return lines[0]
    return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"


def _line(row: list[Mark]) -> str:
    """A row's LaTeX; a number in brackets at its far right is its tag."""
    row = sorted(row, key=lambda mark: mark.x0)
    if len(row) > 1 and row[-1].x0 - row[-2].x1 > NUMBER_GAP * row[-1].size:
        number = NUMBER.match(row[-1].text)
        if number:
            return rf"{row_latex(row[:-1])} \tag{{{number.group(1)}}}"
    return row_latex(row)
