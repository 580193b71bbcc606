"""Pairs a page's formulas: tries several ways to cut and join the predicted ones and takes the cheapest.

True formulas are always cut into lines. Predicted ones are matched whole, one to one, joined with their
neighbours, cut into lines, in every grouping of lines, and with case distinctions rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
from rapidfuzz.distance import Levenshtein

from penstock_eval.metrics.text import normalised_edit
from penstock_eval.omnidocbench.elements import INLINE
from penstock_eval.omnidocbench.matching import assign, costs_between
from penstock_eval.omnidocbench.truth import TrueElement
from penstock_eval.omnidocbench.v1_6.formula_alignment import align_formulas
from penstock_eval.omnidocbench.v1_6.formula_lines import cases_as_braces
from penstock_eval.omnidocbench.v1_6.latex import without_delimiters
from penstock_eval.omnidocbench.v1_6.pairs import PiecePair, Sides, as_array, both_sides, match_pieces
from penstock_eval.omnidocbench.v1_6.pieces import FORMULA, RESCUE, PredictedPiece, in_lines

MAX_GROUPINGS = 128
MAX_GROUPED_LINES = 8
MAX_FORMULAS = 1000  # no printed page has as many; a runaway model's stay as they were matched
EVEN = 1e-12
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"))


@dataclass(frozen=True, slots=True)
class _FormulaPairing:
    rows: list[PiecePair]
    pieces: list[PredictedPiece]
    whole: int  # predicted formulas before any were cut
    rewritten: int = 0


def best_formula_pairs(
    elements: Sequence[TrueElement], pieces: Sequence[PredictedPiece], current: Sequence[PiecePair]
) -> list[PiecePair]:
    """Returns the cheapest candidate's pairs; of equal ones the earlier's."""
    given = _pool(pieces)
    if len(given) > MAX_FORMULAS:
        return _plain_kinds(current)
    ordered = _ordered(given)
    both = both_sides(elements, ordered, split=False)
    now = _FormulaPairing(_plain_kinds(current), ordered, len(ordered))
    candidates = [now, *_whole(elements, given, both), *_cut(elements, given)]
    candidates += _rewritten(elements, given)
    complete = [c for c in candidates if _is_complete(c.rows, len(both.truths))]
    if not complete:
        return []
    best = complete[0]
    for candidate in complete[1:]:
        if _is_cheaper(_costs(candidate), _costs(best)):
            best = candidate
    return best.rows


def _pool(pieces: Sequence[PredictedPiece]) -> list[PredictedPiece]:
    """Returns formulas first, then text that may stand for one, each piece once."""
    formulas = [p for p in pieces if p.kind == FORMULA]
    formulas += [replace(p, kind=FORMULA, fine=p.fine or RESCUE) for p in pieces if p.kind == RESCUE]
    sourced = [replace(p, source=(p.start, p.end, p.content, p.fine)) for p in formulas]
    return list({p.source: p for p in reversed(sourced)}.values())[::-1]


def _ordered(pieces: Sequence[PredictedPiece]) -> list[PredictedPiece]:
    return sorted(pieces, key=lambda p: (p.start, p.formula_category == INLINE, p.end))


def _whole(
    elements: Sequence[TrueElement], given: list[PredictedPiece], both: Sides
) -> Iterator[_FormulaPairing]:
    """Matches whole predicted formulas: by the quick match, one to one, and joined with neighbours."""
    count = len(both.pieces)
    yield _FormulaPairing(_plain_kinds(match_pieces(elements, given, split=False)), both.pieces, count)
    yield _FormulaPairing(_one_to_one(both), both.pieces, count)
    yield _FormulaPairing(_joined(both, gaps=False), both.pieces, count)


def _cut(elements: Sequence[TrueElement], given: list[PredictedPiece]) -> Iterator[_FormulaPairing]:
    """Matches predicted formulas cut into lines: every grouping one to one, then joined in order."""
    ordered = _ordered(given)
    for grouping in _groupings(ordered):
        both = both_sides(elements, _ordered(grouping), split=False)
        yield _FormulaPairing(_one_to_one(both), both.pieces, len(given))
    both = both_sides(elements, ordered, split=True)
    if len(both.pieces) > len(ordered):
        for gaps in (False, True):
            yield _FormulaPairing(_joined(both, gaps=gaps), both.pieces, len(ordered))


def _rewritten(elements: Sequence[TrueElement], given: list[PredictedPiece]) -> Iterator[_FormulaPairing]:
    """Matches again with case distinctions written as braces, if there are any."""
    changed = [replace(piece, content=cases_as_braces(piece.content)) for piece in given]
    count = sum(new.content != old.content for new, old in zip(changed, given, strict=True))
    if count == 0:
        return
    both = both_sides(elements, _ordered(changed), split=False)
    for candidate in (*_whole(elements, changed, both), *_cut(elements, changed)):
        yield replace(candidate, rewritten=count)


def _groupings(ordered: list[PredictedPiece]) -> list[list[PredictedPiece]]:
    """Returns every way to join neighbouring lines of formulas that can be cut; none if too many."""
    options = [_line_groups(piece) for piece in ordered]
    count = 1
    for option in options:
        count *= len(option)
    if count > MAX_GROUPINGS or all(len(option) == 1 for option in options):
        return []
    return [[piece for part in choice for piece in part] for choice in product(*options)]


def _line_groups(piece: PredictedPiece) -> list[list[PredictedPiece]]:
    lines = in_lines(piece)
    if len(lines) <= 1 or len(lines) > MAX_GROUPED_LINES:
        return [[piece]]
    groups: list[list[PredictedPiece]] = []
    for cuts in range(1 << (len(lines) - 1)):
        ends = [i + 1 for i in range(len(lines) - 1) if cuts >> i & 1]
        bounds = [0, *ends, len(lines)]
        groups.append([_as_one(lines[a:b]) for a, b in pairwise(bounds)])
    return groups


def _as_one(lines: list[PredictedPiece]) -> PredictedPiece:
    if len(lines) == 1:
        return lines[0]
    content = as_array([line.content for line in lines])
    return replace(lines[0], content=f"\\[{content}\\]", end=lines[-1].end, fine=FORMULA)


def _one_to_one(both: Sides) -> list[PiecePair]:
    """Returns the cheapest assignment; leaving a formula of either side alone costs 1."""
    wanted, given = len(both.truths), len(both.predictions)
    costs = np.ones((wanted + given, wanted + given))
    costs[wanted:, given:] = 0.0
    costs[:wanted, :given] = costs_between(
        [line.norm for line in both.truths], [line.norm for line in both.predictions]
    )
    partner = assign(costs) if given else {}
    return [_row(both, i, (partner[i],) if partner.get(i, given) < given else ()) for i in range(wanted)]


def _joined(both: Sides, *, gaps: bool) -> list[PiecePair]:
    """Pairs each truth with a run of neighbours, in order."""
    sources = [piece.source for piece in both.pieces]
    kinds = [piece.formula_category for piece in both.pieces]
    chosen = align_formulas(
        [t.norm for t in both.truths], [p.norm for p in both.predictions], sources, kinds, gaps=gaps
    )
    return [_row(both, truth, run) for truth, run in enumerate(chosen)]


def _row(both: Sides, truth: int, run: tuple[int, ...]) -> PiecePair:
    element, line = both.elements[truth], both.truths[truth]
    raw = [both.predictions[i].raw for i in run]
    norm = " ".join(both.predictions[i].norm for i in run).strip()
    kind = both.pieces[run[0]].formula_category if run else ""
    return PiecePair(
        truths=(truth,),
        predictions=run,
        truth=line.raw,
        prediction=as_array([r for r in raw if without_delimiters(r)]) if len(run) > 1 else "".join(raw),
        norm_truth=line.norm,
        norm_prediction=norm,
        category=line.category,
        kind=FORMULA if len(run) > 1 else kind,
        places=(element.place,),
        position=both.pieces[run[0]].start if run else "",
        edit=normalised_edit(line.norm, norm) if run else 1.0,
        attributes=(element.attributes,),
    )


def _plain_kinds(rows: Sequence[PiecePair]) -> list[PiecePair]:
    """Makes the kind of text that stands for a formula that of a formula."""
    return [replace(row, kind=PredictedPiece(row.kind, 0, 0, "").formula_category) for row in rows]


def _is_complete(rows: list[PiecePair], wanted: int) -> bool:
    """Whether every true formula is there once and alone, matched with formulas or nothing."""
    if wanted == 0:
        return True
    alone = {row.truths for row in rows if len(row.truths) == 1}
    return len(rows) == wanted == len(alone) and all(row.kind in ("", FORMULA, INLINE) for row in rows)


def _costs(candidate: _FormulaPairing) -> tuple[float, ...]:
    """Returns, in the order of comparison: the sum of distances, edits by length, unused predictions, the
    mean distance, rewritings, truths without a prediction."""
    rows = candidate.rows
    paired = [row for row in rows if row.predictions]
    length = sum(max(len(row.norm_truth), len(row.norm_prediction)) for row in paired)
    edits = sum(Levenshtein.distance(row.norm_truth, row.norm_prediction) for row in paired)
    held = (i for row in paired for i in row.predictions if i < len(candidate.pieces))
    used = {candidate.pieces[i].source for i in held}
    total = sum(row.edit for row in rows)
    return (
        total,
        (edits / length if length else 0.0) if rows else np.inf,
        max(0, candidate.whole - len(used)),
        total / len(rows) if rows else np.inf,
        -candidate.rewritten,
        len(rows) - len(paired),
    )


def _is_cheaper(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    for mine, theirs in zip(one, other, strict=True):
        if mine + EVEN < theirs:
            return True
        if mine > theirs + EVEN:
            return False
    return False
