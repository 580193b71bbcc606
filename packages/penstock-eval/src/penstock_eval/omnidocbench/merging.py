"""Joins neighbouring predictions that together are one true element.

A model may cut a paragraph into pieces that the annotators did not. For every true element that nothing
matches well, this grows each run of free neighbours while growing brings it closer and every piece nearly
occurs in the truth, and proposes the best run. Of proposals that overlap, the set with the least mean
cost wins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.errors import DeadlinePassed
from penstock_eval.metrics.near_match import occurs_nearly
from penstock_eval.metrics.text import normalised_edit

CLOSE = 0.25  # a pair nearer than this is taken as found
MAX_PIECE = 0.6  # each piece must be this near to a window of the truth

Run = tuple[int, ...]  # neighbouring predictions


@dataclass(frozen=True, slots=True)
class Proposal:
    run: Run
    cost: float


def join_neighbours(
    costs: NDArray[np.float64], truths: list[str], predictions: list[str], end: float
) -> list[Run]:
    """Returns all predictions as runs, most of them of one. Raises DeadlinePassed after `end`."""
    found = costs < CLOSE
    free_truths = np.flatnonzero(~found.any(axis=1)).tolist()
    taken = set(np.flatnonzero(found.any(axis=0)).tolist())
    proposals: list[Proposal] = []
    for true_index in free_truths:
        if time.monotonic() > end:
            raise DeadlinePassed("Matching a page's elements took too long.")
        best = _best_run(truths[true_index], predictions, taken)
        if best is not None:
            proposals.append(best)
    return _with_runs(len(predictions), _compatible(proposals))


def _best_run(truth: str, predictions: list[str], taken: set[int]) -> Proposal | None:
    fits: dict[int, tuple[bool, bool]] = {}
    best: Proposal | None = None
    for start in range(len(predictions)):
        if start in taken:
            continue
        run = _grown(truth, predictions, start, taken, fits)
        cost = normalised_edit(truth, " ".join(predictions[i] for i in run))
        if best is None or cost < best.cost:
            best = Proposal(run, cost)
    return best


def _grown(
    truth: str, predictions: list[str], start: int, taken: set[int], fits: dict[int, tuple[bool, bool]]
) -> Run:
    run = [start]
    cost = normalised_edit(truth, predictions[start])
    while True:
        following = run[-1] + 1
        if following in taken or following >= len(predictions):
            break
        joined = " ".join(predictions[i] for i in [*run, following])
        joined_cost = normalised_edit(truth, joined)
        if joined_cost > cost or not all(_fits(truth, predictions, i, fits)[0] for i in run):
            break
        if not _fits(truth, predictions, following, fits)[1]:
            break
        run.append(following)
        cost = joined_cost
        if len(joined) > len(truth):
            break
    return tuple(run)


def _fits(
    truth: str, predictions: list[str], index: int, fits: dict[int, tuple[bool, bool]]
) -> tuple[bool, bool]:
    """Whether a prediction occurs in the truth within the limit, and strictly within it."""
    if index not in fits:
        strictly = occurs_nearly(predictions[index], truth, MAX_PIECE)
        fits[index] = (
            strictly or occurs_nearly(predictions[index], truth, MAX_PIECE, inclusive=True),
            strictly,
        )
    return fits[index]


def _compatible(proposals: list[Proposal]) -> list[Run]:
    """Chooses runs that do not overlap from proposals that may."""
    chosen: list[Run] = []
    for group in _overlapping(sorted(proposals, key=lambda proposal: proposal.run[0])):
        chosen += [proposal.run for proposal in _cheapest(group)]
    return chosen


def _overlapping(proposals: list[Proposal]) -> list[list[Proposal]]:
    groups: list[list[Proposal]] = []
    for proposal in proposals:
        if groups and any(set(proposal.run) & set(other.run) for other in groups[-1]):
            groups[-1].append(proposal)
        else:
            groups.append([proposal])
    return groups


def _cheapest(group: list[Proposal]) -> list[Proposal]:
    """Returns the set of compatible proposals, built in order, with the least mean cost."""
    paths: list[list[Proposal]] = [[group[0]]]
    for proposal in group[1:]:
        placed = False
        for path in paths:
            same = next((other for other in path if other.run == proposal.run), None)
            if same is not None:
                placed = True
                if same.cost > proposal.cost:
                    path.remove(same)
                    path.append(proposal)
            elif not any(set(other.run) & set(proposal.run) for other in path):
                placed = True
                path.append(proposal)
        if not placed:
            paths.append([proposal])
    return min(paths, key=lambda path: sum(p.cost for p in path) / len(path))


def _with_runs(count: int, runs: list[Run]) -> list[Run]:
    joined = {run[0]: run for run in runs}
    covered = {i for run in runs for i in run[1:]}
    return [joined.get(i, (i,)) for i in range(count) if i not in covered]
