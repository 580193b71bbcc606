"""Pairs a page's true elements with predicted ones: the benchmark's quick match.

Takes near pairs first, joins neighbours, then finds the cheapest assignment; undoes pairs further apart than
0.7; adds true elements that occur inside a prediction; pairs what is left on both sides. A predicted
block that matches nothing costs nothing in v1.5: that is why `invented` exists.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from scipy.optimize import linear_sum_assignment

from penstock.errors import DeadlinePassed
from penstock_eval.metrics.near_match import occurs_nearly
from penstock_eval.omnidocbench.merging import CLOSE, Run, join_neighbours
from penstock_eval.omnidocbench.protocols import FORMULA_CATEGORY, IGNORED

MAX_COST = 0.7
MAX_INSIDE = 0.4  # a true element this near to a window of a prediction is part of it
DEADLINE_S = 30.0  # then the page is matched one to one, as the benchmark does

Costs = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MatchLine:
    """One element on either side: as written, as compared, and its category."""

    raw: str
    norm: str
    category: str
    place: float | str = ""  # truth: its order; prediction: where it starts
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinePair:
    """True and predicted lines that belong together; either side may be empty."""

    truths: tuple[int, ...]
    predictions: tuple[int, ...]
    leftover: bool = False  # paired at the end, however far apart


def assign(costs: Costs) -> dict[int, int]:
    """Returns columns by row at the lowest cost. With fewer columns than rows, some rows get none."""
    rows, columns = linear_sum_assignment(costs)
    return dict(zip(rows.tolist(), columns.tolist(), strict=True))


def costs_between(truths: Sequence[str], predictions: Sequence[str]) -> Costs:
    """Normalised edit distance of every truth to every prediction."""
    if not truths or not predictions:
        return np.zeros((len(truths), len(predictions)))
    costs: Costs = process.cdist(
        truths, predictions, scorer=Levenshtein.normalized_distance, dtype=np.float64
    )
    return costs


@dataclass(frozen=True, slots=True)
class MatchRules:
    """How versions differ: v1.0 matches no ignored parts first, v1.6 looks for no formula inside text."""

    joint: bool = True
    hidden_formulas: bool = True


def quick_match(
    truths: list[MatchLine], predictions: list[MatchLine], rules: MatchRules, deadline_s: float = DEADLINE_S
) -> list[LinePair]:
    """Returns the pairs of one page; matches one to one if the deadline passes."""
    if not truths:
        return [LinePair((), (i,)) for i in range(len(predictions))]
    if not predictions:
        return [LinePair((i,), ()) for i in range(len(truths))]
    if len(truths) == len(predictions) == 1:
        return [LinePair((0,), (0,))]
    try:
        return _matched(truths, predictions, rules, time.monotonic() + deadline_s)
    except DeadlinePassed:
        return simple_match(truths, predictions)


def simple_match(truths: list[MatchLine], predictions: list[MatchLine]) -> list[LinePair]:
    """Returns the cheapest one-to-one assignment; predictions left over are one pair, the last."""
    if not truths:
        return [LinePair((), tuple(range(len(predictions))))] if predictions else []
    partner = assign(costs_between([line.norm for line in truths], [line.norm for line in predictions]))
    pairs = [LinePair((i,), (partner[i],) if i in partner else ()) for i in range(len(truths))]
    left = tuple(sorted(set(range(len(predictions))) - set(partner.values())))
    return [*pairs, LinePair((), left)] if left else pairs


def main_category(truths: Sequence[MatchLine]) -> str:
    """Returns the commonest category of a pair's true lines; scored categories go before ignored ones."""
    if not truths:
        return ""
    scored = [line.category for line in truths if line.category not in IGNORED]
    return Counter(scored or [line.category for line in truths]).most_common(1)[0][0]


def _matched(
    truths: list[MatchLine], predictions: list[MatchLine], rules: MatchRules, end: float
) -> list[LinePair]:
    if not rules.joint:
        every = list(range(len(truths)))
        return _match_part(truths, predictions, every, list(range(len(predictions))), rules, end)
    ignored = [i for i, line in enumerate(truths) if line.category in IGNORED]
    scored = [i for i, line in enumerate(truths) if line.category not in IGNORED]
    near = costs_between([truths[i].norm for i in ignored], [line.norm for line in predictions]) < CLOSE
    free = np.flatnonzero(~near.any(axis=0)).tolist()
    pairs = _match_part(truths, predictions, scored, free, rules, end)
    return pairs + _ignored_pairs(truths, predictions, ignored, near)


def _ignored_pairs(
    truths: list[MatchLine], predictions: list[MatchLine], ignored: list[int], near: NDArray[np.bool_]
) -> list[LinePair]:
    """Pairs ignored parts with the last prediction near them, and those left over with each other."""
    found = [(int(row), int(column)) for row, column in np.argwhere(near)]
    last = {row: number for number, (row, _) in enumerate(found)}
    pairs = [LinePair((ignored[row],), (found[number][1],)) for row, number in last.items()]
    spare = [column for number, (_, column) in enumerate(found) if number not in last.values()]
    lone = [i for row, i in enumerate(ignored) if row not in last]
    if spare and lone:
        norms = [line.norm for line in truths], [line.norm for line in predictions]
        rest = _paired_leftovers(lone, spare, *norms, joint=True)
        pairs += rest
        lone = [i for i in lone if i not in {pair.truths[0] for pair in rest}]
    return pairs + [LinePair((i,), ()) for i in lone]


def _match_part(
    truths: list[MatchLine],
    predictions: list[MatchLine],
    rows: list[int],
    columns: list[int],
    rules: MatchRules,
    end: float,
) -> list[LinePair]:
    """Matches some truths with some predictions; the pairs carry the page's own indices."""
    wanted, given = [truths[i].norm for i in rows], [predictions[i].norm for i in columns]
    costs = costs_between(wanted, given)
    runs = join_neighbours(costs, wanted, given, end)
    if any(len(run) > 1 for run in runs):
        costs = costs_between(wanted, [" ".join(given[i] for i in run) for run in runs])
    assigned = _assigned(costs, runs)
    hidden = [
        number
        for number, i in enumerate(rows)
        if number not in assigned and (rules.hidden_formulas or truths[i].category != FORMULA_CATEGORY)
    ]
    pairs = _with_leftovers(_grouped(assigned, hidden, wanted, given), wanted, given, rules.joint)
    return [
        LinePair(tuple(rows[i] for i in p.truths), tuple(columns[i] for i in p.predictions), p.leftover)
        for p in pairs
    ]


def _assigned(costs: Costs, runs: list[Run]) -> dict[int, Run]:
    """Returns each true line's run of predictions, if one is near enough."""
    return {row: runs[column] for row, column in assign(costs).items() if costs[row, column] <= MAX_COST}


def _grouped(
    assigned: dict[int, Run], hidden: list[int], truths: list[str], predictions: list[str]
) -> dict[Run, list[int]]:
    """Returns runs of predictions with all true lines they match or hold inside."""
    groups: dict[Run, list[int]] = {run: [truth] for truth, run in assigned.items()}
    placed = set(assigned)
    for column, prediction in enumerate(predictions):
        inside = [i for i in hidden if occurs_nearly(truths[i], prediction, MAX_INSIDE)]
        if inside:
            group = groups.setdefault((column,), [])
            group += [i for i in inside if i not in placed]
            placed.update(inside)
    return groups


def _with_leftovers(
    groups: dict[Run, list[int]], truths: list[str], predictions: list[str], joint: bool
) -> list[LinePair]:
    """Returns all pairs with those of leftovers; true lines without a prediction come last."""
    pairs = [LinePair(tuple(sorted(found)), run) for run, found in groups.items() if found]
    lone = set(range(len(truths))) - {i for found in groups.values() for i in found}
    spare = set(range(len(predictions))) - {i for run in groups for i in run}
    if spare and not lone:
        return [*pairs, LinePair((), tuple(spare))]
    if not spare:
        single = [LinePair((i,), ()) for i in sorted(lone)]
        # v1.0 lists a true line without any prediction twice
        return pairs + (single if joint else [LinePair((i,), ()) for i in lone] + single)
    rest = _paired_leftovers(list(lone), list(spare), truths, predictions, joint)
    done = {pair.truths[0] for pair in rest}
    return pairs + rest + [LinePair((i,), ()) for i in sorted(lone - done)]


def _paired_leftovers(
    lone: list[int], spare: list[int], truths: list[str], predictions: list[str], joint: bool
) -> list[LinePair]:
    """Pairs what is left on both sides, however far apart: both texts then count as errors."""
    scorer = Levenshtein.normalized_distance if joint else Levenshtein.distance
    costs = process.cdist(
        [truths[i] for i in lone], [predictions[i] for i in spare], scorer=scorer, dtype=np.float64
    )
    return [LinePair((lone[row],), (spare[column],), leftover=True) for row, column in assign(costs).items()]
