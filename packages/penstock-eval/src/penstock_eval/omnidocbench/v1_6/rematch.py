"""Looks for a better run of predictions for titles and text that matched badly.

A model may write a paragraph in pieces, or with its formulas on lines of their own. This tries runs of
neighbours that no other pair holds, near where the text matched; a run that is nearer by more than
0.2 replaces the match. The limits are the official program's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock_eval.metrics.text import normalised_edit
from penstock_eval.omnidocbench.v1_6.normalise import as_text, text_form, with_formula_forms
from penstock_eval.omnidocbench.v1_6.pairs import PiecePair, in_reading_order
from penstock_eval.omnidocbench.v1_6.pieces import FORMULA, TEXT, PredictedPiece

BAD = 0.45
MIN_LONG_TEXT = 80  # shorter text without formulas is left as it is
AROUND = 8  # neighbours looked at on either side
GAIN = 0.2
EVEN = 1e-12
MAX_PIECES = 1000  # no printed page has as many; a runaway model's is left as it was matched

_INLINE = re.compile(r"\$[^$]+\$|\\\([^)]*\\\)")
_FORMULA_WORDS = ("\\frac", "\\sum", "\\int", "\\sqrt", "\\left", "\\right")


@dataclass(frozen=True, slots=True)
class _Rematch:
    first: int
    length: int
    norm: str
    edit: float


def rematch_texts(rows: list[PiecePair], pieces: Sequence[PredictedPiece]) -> list[PiecePair]:
    """Returns the rows, some of them with a better run of predictions."""
    pool = in_reading_order(pieces)
    if len(pool) > MAX_PIECES:
        return rows
    readings = [as_text(piece.kind, piece.content) for piece in pool]
    owned = [_owned(row, pool) for row in rows]
    found: list[tuple[float, int, _Rematch]] = []
    for number, row in enumerate(rows):
        if not _deserves_better(row):
            continue
        held = {i for other, indices in enumerate(owned) if other != number for i in indices}
        best = _best(row, pool, readings, owned[number], held)
        if best is not None:
            found.append((row.edit - best.edit, number, best))
    return _replaced(rows, pool, found)


def _replaced(
    rows: list[PiecePair], pool: list[PredictedPiece], found: list[tuple[float, int, _Rematch]]
) -> list[PiecePair]:
    """Replaces matches, the largest gains first; a prediction goes to one row only."""
    rows, used = list(rows), set[int]()
    for _, number, best in sorted(found, key=lambda entry: -entry[0]):
        indices = range(best.first, best.first + best.length)
        if used.intersection(indices):
            continue
        used.update(indices)
        rows[number] = replace(
            rows[number],
            predictions=tuple(indices),
            prediction="".join(pool[i].content for i in indices),
            norm_prediction=best.norm,
            position=pool[best.first].start,
            kind="text_block",
            edit=best.edit,
        )
    return rows


def _owned(row: PiecePair, pool: list[PredictedPiece]) -> list[int]:
    """Returns the pool's pieces that a row holds. Quirk: the row's numbers count formulas cut into lines."""
    inside = sorted({i for i in row.predictions if i < len(pool)})
    if inside or isinstance(row.position, str):
        return inside
    return [i for i, piece in enumerate(pool) if piece.start <= row.position <= piece.end]


def _deserves_better(row: PiecePair) -> bool:
    if row.category not in ("title", "text_block") or row.edit <= BAD:
        return False
    return row.category == "title" or _hints_formula(row.truth) or len(row.norm_truth) >= MIN_LONG_TEXT


def _hints_formula(text: str) -> bool:
    if _INLINE.search(text) or any(word in text for word in _FORMULA_WORDS):
        return True
    return ("^" in text or "_" in text) and ("$" in text or "\\" in text)


def _best(
    row: PiecePair, pool: list[PredictedPiece], readings: list[str], own: list[int], held: set[int]
) -> _Rematch | None:
    hinted = _hints_formula(row.truth)
    truth = text_form(with_formula_forms(row.truth) if hinted else as_text(row.category, row.truth))
    if not truth:
        return None
    kinds = (TEXT, FORMULA) if hinted else (TEXT,)
    free = [piece.kind in kinds and i not in held for i, piece in enumerate(pool)]
    low = max(0, own[0] - AROUND) if own else 0
    high = min(len(pool) - 1, own[-1] + AROUND) if own else len(pool) - 1
    best: _Rematch | None = None
    for stretch in _stretches(truth, readings, free, low, high, longest=8 if hinted else 4):
        if best is None or _is_better(stretch, best, own):
            best = stretch
    if best is None or best.edit >= row.edit - GAIN or best.edit > (BAD if hinted else 0.35):
        return None
    return best


def _stretches(
    truth: str, readings: list[str], free: list[bool], low: int, high: int, longest: int
) -> list[_Rematch]:
    found: list[_Rematch] = []
    for first in range(low, high + 1):
        for last in range(first, min(high + 1, first + longest)):
            if not free[last]:
                break
            norm = text_form("".join(readings[first : last + 1]))
            if norm:
                found.append(_Rematch(first, last - first + 1, norm, normalised_edit(truth, norm)))
    return found


def _is_better(one: _Rematch, other: _Rematch, own: list[int]) -> bool:
    """Compares distances, then lengths, then how close the runs are to the old match."""
    if abs(one.edit - other.edit) > EVEN:
        return one.edit < other.edit
    if one.length != other.length or not own:
        return one.length < other.length
    return abs(one.first - own[0]) < abs(other.first - own[0])
