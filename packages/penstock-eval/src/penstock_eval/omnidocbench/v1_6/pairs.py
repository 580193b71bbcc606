"""Pairs true and predicted pieces by the quick match, with all that later steps need of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock_eval.metrics.text import normalised_edit
from penstock_eval.omnidocbench.elements import INLINE
from penstock_eval.omnidocbench.matching import (
    LinePair,
    MatchLine,
    MatchRules,
    main_category,
    quick_match,
)
from penstock_eval.omnidocbench.truth import TrueElement
from penstock_eval.omnidocbench.v1_6.formula_lines import formula_lines
from penstock_eval.omnidocbench.v1_6.latex import without_delimiters
from penstock_eval.omnidocbench.v1_6.normalise import as_text, formula_form, text_form
from penstock_eval.omnidocbench.v1_6.pieces import FORMULA, TEXT, PredictedPiece, in_lines

FORMULA_KINDS = (FORMULA, INLINE)
RULES = MatchRules(joint=True, hidden_formulas=False)


@dataclass(frozen=True, slots=True)
class PiecePair:
    """One pair. `edit` is the matcher's cost; 1 if both sides were paired only as leftovers."""

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
    pieces are not, so on pages with such lines places and kinds are those of an earlier element."""

    elements: list[TrueElement]
    pieces: list[PredictedPiece]
    truths: list[MatchLine]
    predictions: list[MatchLine]


def in_reading_order(pieces: Sequence[PredictedPiece]) -> list[PredictedPiece]:
    """Sorts by position, inline formulas after everything else."""
    return sorted(pieces, key=lambda piece: (piece.fine == INLINE, piece.start))


def both_sides(elements: Sequence[TrueElement], pieces: Sequence[PredictedPiece], *, split: bool) -> Sides:
    """Cuts true formulas into lines, with `split` predicted ones too, and normalises both sides."""
    whole = [part for element in elements for part in element_lines(element)]
    given = [part for piece in pieces for part in (in_lines(piece) if split else [piece])]
    truths = [_true_line(element) for element in whole]
    predictions = [_line(piece) for piece in given]
    return Sides(
        whole, given, [t for t in truths if t.raw and t.norm], [p for p in predictions if p.raw and p.norm]
    )


def match_pieces(
    elements: Sequence[TrueElement], pieces: Sequence[PredictedPiece], *, split: bool = True
) -> list[PiecePair]:
    """Returns the pairs of the quick match; drops those without a truth, which nothing counts."""
    both = both_sides(elements, in_reading_order(pieces), split=split)
    pairs = quick_match(both.truths, both.predictions, RULES)
    return [_row(pair, both) for pair in pairs if pair.truths]


def element_lines(element: TrueElement) -> list[TrueElement]:
    """Returns a true formula as its lines, each a little after the one before."""
    lines = formula_lines(element.latex) if element.category == FORMULA else []
    if not lines:
        return [element]
    return [
        replace(element, latex=f"\\[{line.latex}\\]", order=float(element.order or 0) + number / 1000)
        for number, line in enumerate(lines, start=1)
    ]


def compared_as_text(row: PiecePair) -> PiecePair:
    """Compares a pair of text and formula as text."""
    if not row.category or not row.kind or (row.category in FORMULA_KINDS) == (row.kind in FORMULA_KINDS):
        return row
    truth, prediction = as_text(row.category, row.truth), as_text(row.kind, row.prediction)
    norm_truth, norm_prediction = text_form(truth), text_form(prediction)
    return replace(
        row,
        truth=truth,
        prediction=prediction,
        norm_truth=norm_truth,
        norm_prediction=norm_prediction,
        edit=normalised_edit(norm_truth, norm_prediction),
    )


def as_array(formulas: Sequence[str]) -> str:
    """Writes several formulas as the lines of one."""
    inside = " \\\\ ".join("{" + without_delimiters(formula) + "}" for formula in formulas)
    return "\\begin{array}{l} " + inside + " \\end{array}"


def _row(pair: LinePair, both: Sides) -> PiecePair:
    mine, theirs = [both.truths[i] for i in pair.truths], [both.predictions[i] for i in pair.predictions]
    category = main_category(mine)
    first = both.pieces[pair.predictions[0]] if pair.predictions else None
    kind = first.category if first else ""
    return PiecePair(
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


def _raw(lines: list[MatchLine], are_formulas: bool) -> str:
    raw = [line.raw for line in lines]
    return as_array(raw) if are_formulas and len(raw) > 1 else "".join(raw)


def _edit(pair: LinePair, mine: list[MatchLine], theirs: list[MatchLine]) -> float:
    """Quirk: where several true lines share predictions, only the first prediction is compared."""
    if not theirs or pair.leftover:
        return 1.0
    if len(mine) > 1:
        return normalised_edit("".join(line.norm for line in mine), theirs[0].norm)
    return normalised_edit(mine[0].norm, " ".join(line.norm for line in theirs))


def _true_line(element: TrueElement) -> MatchLine:
    if element.category == FORMULA:
        return MatchLine(element.latex, formula_form(element.latex), element.category)
    return MatchLine(element.text, text_form(element.text), element.category)


def _line(piece: PredictedPiece) -> MatchLine:
    if piece.kind == TEXT:
        return MatchLine(piece.content, text_form(piece.content), piece.category)
    return MatchLine(piece.content, formula_form(piece.content), piece.category)
