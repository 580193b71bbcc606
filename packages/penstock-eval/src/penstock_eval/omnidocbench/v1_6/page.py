"""Scores one page by v1.6: matches text and formulas together, then formulas again on their own."""

from __future__ import annotations

from penstock_eval.metrics.tables import DEADLINE_S
from penstock_eval.omnidocbench.matching import MatchLine, simple_match
from penstock_eval.omnidocbench.page import (
    MatchedPair,
    PageScore,
    order_edit,
    reading_orders,
    score_pair,
    score_table,
)
from penstock_eval.omnidocbench.protocols import FORMULA_CATEGORY, IGNORED, TEXT_CATEGORIES
from penstock_eval.omnidocbench.truth import TruePage
from penstock_eval.omnidocbench.v1_6.formula_pairs import best_formula_pairs
from penstock_eval.omnidocbench.v1_6.normalise import table_form
from penstock_eval.omnidocbench.v1_6.pairs import PiecePair, compared_as_text, match_pieces
from penstock_eval.omnidocbench.v1_6.pieces import (
    FORMULA,
    RESCUE,
    TABLE,
    PredictedPiece,
    predicted_pieces,
)
from penstock_eval.omnidocbench.v1_6.rematch import rematch_texts


def score_page(page: TruePage, markdown: str, table_deadline_s: float = DEADLINE_S) -> PageScore:
    """Scores one page against its truth. A missing prediction is an empty page."""
    pieces = predicted_pieces(markdown)
    mixed = _by_kind([piece for piece in pieces if piece.kind not in (TABLE, RESCUE)])
    rows = [compared_as_text(row) for row in match_pieces(page.texts_and_formulas, mixed)]
    rows = rematch_texts(rows, mixed)
    texts = [row for row in rows if row.category in TEXT_CATEGORIES and row.category not in IGNORED]
    formulas: list[PiecePair] = []
    if page.of(FORMULA_CATEGORY):
        current = [row for row in rows if row.category == FORMULA]
        formulas = best_formula_pairs(page.of(FORMULA_CATEGORY), pieces, current)
    tables = _tables(page, [piece for piece in pieces if piece.kind == TABLE], table_deadline_s)
    text_pairs, formula_pairs = [_matched(row) for row in texts], [_matched(row) for row in formulas]
    true_order, found_order = reading_orders([*text_pairs, *formula_pairs, *tables])
    return PageScore(
        image=page.image,
        slices=page.slices,
        texts=tuple(m.scored for m in text_pairs),
        formulas=tuple(m.scored for m in formula_pairs),
        tables=tuple(m.scored for m in tables),
        order=order_edit(true_order, found_order),
        true_order=true_order,
        found_order=found_order,
    )


def _by_kind(pieces: list[PredictedPiece]) -> list[PredictedPiece]:
    """Sorts by kind, the page's first kind first: it decides between pieces that start at one place."""
    kinds = dict.fromkeys(piece.kind for piece in pieces)
    return [piece for kind in kinds for piece in pieces if piece.kind == kind]


def _matched(row: PiecePair) -> MatchedPair:
    scored = score_pair(row.truth, row.prediction, row.norm_truth, row.norm_prediction, row.attributes)
    return MatchedPair(scored, row.category, row.kind, row.places, row.position)


def _tables(page: TruePage, pieces: list[PredictedPiece], deadline_s: float) -> list[MatchedPair]:
    """Scores true tables against the predicted ones whose cleaned HTML is nearest; others cost nothing."""
    elements = page.of("table")
    truths = [
        MatchLine(e.html, table_form(e.html) or e.html, "table", attributes=e.attributes) for e in elements
    ]
    given = [MatchLine(p.content, table_form(p.content) or p.content, p.category) for p in pieces]
    truths = [line for line in truths if line.raw]
    found: list[MatchedPair] = []
    for pair in simple_match(truths, given):
        if not pair.truths:
            continue
        number, partner = pair.truths[0], pair.predictions[0] if pair.predictions else None
        predicted = given[partner].raw if partner is not None else ""
        scored = score_table(truths[number], predicted, table_form, deadline_s)
        # quirk: the first predicted table counts as having no place on the page
        position: float | str = pieces[partner].start if partner else ""
        found.append(MatchedPair(scored, "table", "", (elements[number].place,), position))
    return found
