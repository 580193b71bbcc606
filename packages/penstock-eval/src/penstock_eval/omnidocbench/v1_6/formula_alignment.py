"""Aligns a page's true formulas with runs of predicted ones, in order, at the least cost."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from penstock_eval.omnidocbench.elements import INLINE

MAX_RUN, MAX_UNEVEN_RUN = 10, 12  # the longer where the two sides differ by two formulas or more
EVEN = 1e-12

Run = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _AlignmentState:
    """The cheapest alignment up to a point: its cost, and what decides between equal costs."""

    cost: float
    edits: int
    length: int
    inline: int
    came_from: tuple[int, int] | None = None
    run: Run | None = None  # None: a step over a formula of either side


def align_formulas(
    truths: Sequence[str],
    predictions: Sequence[str],
    sources: Sequence[Hashable],
    kinds: Sequence[str],
    *,
    gaps: bool,
) -> list[Run]:
    """Returns for every truth its run of predictions, which may be empty. `gaps` lets runs of one source
    skip some."""
    if not truths or not predictions:
        return [() for _ in truths]
    runs = _CandidateRuns(truths, predictions, sources, kinds, gaps)
    points: dict[tuple[int, int], _AlignmentState] = {(0, 0): _AlignmentState(0.0, 0, 0, 0)}
    for truth in range(len(truths) + 1):
        for prediction in range(len(predictions) + 1):
            here, state = (truth, prediction), points[truth, prediction]
            if prediction < len(predictions):
                _offer(points, (truth, prediction + 1), _stepped(state, here))
            if truth < len(truths):
                _offer(points, (truth + 1, prediction), _stepped(state, here))
                for run, cost, edits, length in runs.of(truth, prediction):
                    is_inline = len(run) == 1 and kinds[run[0]] == INLINE
                    reached = _AlignmentState(
                        state.cost + cost,
                        state.edits + edits,
                        state.length + length,
                        state.inline + is_inline,
                        here,
                        run,
                    )
                    _offer(points, (truth + 1, run[-1] + 1), reached)
    return _walked_back(points, len(truths), len(predictions))


def _stepped(state: _AlignmentState, here: tuple[int, int]) -> _AlignmentState:
    return _AlignmentState(state.cost + 1.0, state.edits, state.length, state.inline, here)


def _offer(points: dict[tuple[int, int], _AlignmentState], at: tuple[int, int], new: _AlignmentState) -> None:
    old = points.get(at)
    if old is None or _is_better(new, old):
        points[at] = new


def _is_better(new: _AlignmentState, old: _AlignmentState) -> bool:
    """Compares costs, then edits by length, then the numbers of inline formulas."""
    if abs(new.cost - old.cost) > EVEN:
        return new.cost < old.cost
    if new.length and old.length:
        mine, theirs = new.edits * old.length, old.edits * new.length
        if mine != theirs:
            return mine < theirs
    elif new.length or old.length:
        return new.length > 0
    return new.inline < old.inline


def _walked_back(points: dict[tuple[int, int], _AlignmentState], truths: int, predictions: int) -> list[Run]:
    runs: list[Run] = [()] * truths
    at: tuple[int, int] = (truths, predictions)
    while (state := points[at]).came_from is not None:
        if state.run is not None:
            runs[at[0] - 1] = state.run
        at = state.came_from
    return runs


class _CandidateRuns:
    """Every run that may be joined, with its distance to every truth."""

    def __init__(
        self,
        truths: Sequence[str],
        predictions: Sequence[str],
        sources: Sequence[Hashable],
        kinds: Sequence[str],
        gaps: bool,
    ) -> None:
        apart = abs(len(truths) - len(predictions))
        longest = MAX_UNEVEN_RUN if len(truths) > 1 and apart >= 2 else MAX_RUN
        longest = min(len(predictions), longest)
        span, skips = longest, 0
        if gaps:
            span = min(len(predictions), longest + 2)
            skips = 2 if apart >= 3 else int(apart >= 1 or len(predictions) >= 4)
        self._runs: list[Run] = []
        self._slices: list[tuple[int, int]] = []
        for start in range(len(predictions)):
            before = len(self._runs)
            end = min(len(predictions), start + span)
            _grow([start], skips, end, longest, sources, kinds, self._runs)
            self._slices.append((before, len(self._runs)))
        texts = [" ".join(predictions[i] for i in run).strip() for run in self._runs]
        self._edits = process.cdist(truths, texts, scorer=Levenshtein.distance, dtype=np.int32)
        self._lengths = np.maximum(
            np.array([len(t) for t in truths])[:, None], np.array([len(t) for t in texts])
        )

    def of(self, truth: int, start: int) -> list[tuple[Run, float, int, int]]:
        """Returns each run from `start` with its distance, its edits and the longer length."""
        if start >= len(self._slices):
            return []
        first, last = self._slices[start]
        edits, lengths = self._edits[truth, first:last].tolist(), self._lengths[truth, first:last].tolist()
        return [
            (run, edit / length, edit, length)
            for run, edit, length in zip(self._runs[first:last], edits, lengths, strict=True)
        ]


def _grow(
    run: list[int],
    skips: int,
    end: int,
    longest: int,
    sources: Sequence[Hashable],
    kinds: Sequence[str],
    found: list[Run],
) -> None:
    """Adds the run and all longer ones that start with it, shorter jumps first. A run that may not be joined
    cannot grow into one that may, so whole branches are skipped."""
    found.append(tuple(run))
    if len(run) >= longest:
        return
    for following in range(run[-1] + 1, min(end, run[-1] + 2 + skips)):
        longer = [*run, following]
        if _may_join(longer, sources, kinds):
            left = skips - (following - run[-1] - 1)
            _grow(longer, left, end, longest, sources, kinds, found)


def _may_join(run: list[int], sources: Sequence[Hashable], kinds: Sequence[str]) -> bool:
    """Whether the run is lines of one formula, or neighbours that all are display formulas."""
    if len({sources[i] for i in run}) == 1:
        return True
    return run[-1] - run[0] + 1 == len(run) and all(kinds[i] == "equation_isolated" for i in run)
