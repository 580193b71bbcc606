"""Pairs of true and predicted pieces with everything that later steps ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.evaluate.metrics.text import normalised_edit
from penstock.evaluate.omnidocbench.elements import INLINE
from penstock.evaluate.omnidocbench.granular.cutting import FORMULA, TEXT, Piece, in_lines
from penstock.evaluate.omnidocbench.granular.forms import across, formula_form, text_form
from penstock.evaluate.omnidocbench.granular.latex import bare
from penstock.evaluate.omnidocbench.granular.rows import lines_of
from penstock.evaluate.omnidocbench.matching import Line, Pair, Rules, main_category, quick_match
from penstock.evaluate.omnidocbench.truth import TrueElement

FORMULA_KINDS = (FORMULA, INLINE)
RULES = Rules(joint=True, hidden_formulas=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One pair. `edit` is the matcher's own cost, 1 for what was paired only because it was left over."""

    truths: tuple[int, ...]
    predictions: tuple[int, ...]
    truth: str
    prediction: str
    norm_truth: str
    norm_prediction: str
    category: str
    kind: str
    places: tuple[float | str, ...]
    position: float | str
    edit: float
    attributes: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of a match. Quirk: lines that are empty in the compared form are dropped, elements and
    pieces are not, so on pages that have such lines places and kinds are looked up further along."""

    elements: list[TrueElement]
    pieces: list[Piece]
    truths: list[Line]
    predictions: list[Line]


def in_reading_order(pieces: Sequence[Piece]) -> list[Piece]:
    """By position, inline formulas behind everything else."""
    return sorted(pieces, key=lambda piece: (piece.fine == INLINE, piece.start))


def sides(elements: Sequence[TrueElement], pieces: Sequence[Piece], *, split: bool) -> Sides:
    """`split` cuts predicted formulas into lines too; true ones always are."""
    whole = [part for element in elements for part in element_lines(element)]
    given = [part for piece in pieces for part in (in_lines(piece) if split else [piece])]
    truths = [_true_line(element) for element in whole]
    predictions = [_line(piece) for piece in given]
    return Sides(
        whole, given, [t for t in truths if t.raw and t.norm], [p for p in predictions if p.raw and p.norm]
    )


def matched(elements: Sequence[TrueElement], pieces: Sequence[Piece], *, split: bool = True) -> list[Row]:
    """The quick match; pairs without a truth are dropped, as nobody counts them."""
    both = sides(elements, in_reading_order(pieces), split=split)
    pairs = quick_match(both.truths, both.predictions, RULES)
    return [_row(pair, both) for pair in pairs if pair.truths]


def element_lines(element: TrueElement) -> list[TrueElement]:
    """A true formula as its lines, placed a little after one another."""
    lines = lines_of(element.latex) if element.category == FORMULA else []
    if not lines:
        return [element]
    return [
        replace(element, latex=f"\\[{line.latex}\\]", order=float(element.order or 0) + number / 1000)
        for number, line in enumerate(lines, start=1)
    ]


def compared_as_text(row: Row) -> Row:
    """A pair of text and formula is compared as text."""
    if not row.category or not row.kind or (row.category in FORMULA_KINDS) == (row.kind in FORMULA_KINDS):
        return row
    truth, prediction = across(row.category, row.truth), across(row.kind, row.prediction)
    norm_truth, norm_prediction = text_form(truth), text_form(prediction)
    return replace(
        row,
        truth=truth,
        prediction=prediction,
        norm_truth=norm_truth,
        norm_prediction=norm_prediction,
        edit=distance(norm_truth, norm_prediction),
    )


def distance(truth: str, prediction: str) -> float:
    return normalised_edit(truth, prediction)


def stacked(formulas: Sequence[str]) -> str:
    """Several formulas as the lines of one."""
    inside = " \\\\ ".join("{" + bare(formula) + "}" for formula in formulas)
    return "\\begin{array}{l} " + inside + " \\end{array}"


def _row(pair: Pair, both: Sides) -> Row:
    mine, theirs = [both.truths[i] for i in pair.truths], [both.predictions[i] for i in pair.predictions]
    category = main_category(mine)
    first = both.pieces[pair.predictions[0]] if pair.predictions else None
    kind = first.category if first else ""
    return Row(
        truths=pair.truths,
        predictions=pair.predictions,
        truth=_raw(mine, category == FORMULA),
        prediction=_raw(theirs, "equation" in kind),
        norm_truth="".join(line.norm for line in mine),
        norm_prediction="".join(line.norm for line in theirs),
        category=category,
        kind=kind,
        places=tuple(both.elements[i].place for i in pair.truths),
        position=first.start if first else "",
        edit=_edit(pair, mine, theirs),
        attributes=tuple(both.elements[i].attributes for i in pair.truths),
    )


def _raw(lines: list[Line], are_formulas: bool) -> str:
    raw = [line.raw for line in lines]
    return stacked(raw) if are_formulas and len(raw) > 1 else "".join(raw)


def _edit(pair: Pair, mine: list[Line], theirs: list[Line]) -> float:
    """Quirk: where several true lines share predictions, only the first prediction is compared."""
    if not theirs or pair.leftover:
        return 1.0
    if len(mine) > 1:
        return distance("".join(line.norm for line in mine), theirs[0].norm)
    return distance(mine[0].norm, " ".join(line.norm for line in theirs))


def _true_line(element: TrueElement) -> Line:
    if element.category == FORMULA:
        return Line(element.latex, formula_form(element.latex), element.category)
    return Line(element.text, text_form(element.text), element.category)


def _line(piece: Piece) -> Line:
    if piece.kind == TEXT:
        return Line(piece.content, text_form(piece.content), piece.category)
    return Line(piece.content, formula_form(piece.content), piece.category)
