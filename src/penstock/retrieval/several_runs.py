"""Puts the hits of several runs together: each source ranks all of them by its own values.

A run's own ranks say nothing about another's: the best page of a run without an answer would stand next to
the best of one that has it. Words are compared as BM25 gives them, which is near enough for runs of one kind
of document; vectors of two engines are not, so that their runs keep their own ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.retrieval.hits import Hit
from penstock.retrieval.ranking import RANK_OFFSET


@dataclass(frozen=True, slots=True)
class RunHits:
    """What one run answers. `space` names the engine of its vectors, `weights` are of its sources."""

    out: str
    hits: Sequence[Hit]
    space: str
    weights: Mapping[str, float]


def together(runs: Sequence[RunHits]) -> list[Hit]:
    """Returns the hits of all runs, best first, each with its run."""
    places: dict[tuple[str, str], list[tuple[float, int, int]]] = defaultdict(list)
    for number, run in enumerate(runs):
        for index, hit in enumerate(run.hits):
            for source, (_, value) in hit.sources.items():
                space = "words" if source.endswith("bm25") else run.space
                places[source, space].append((-value, number, index))
    scores: dict[tuple[int, int], float] = defaultdict(float)
    for (source, _), found in places.items():
        for rank, (_, number, index) in enumerate(sorted(found), 1):
            scores[number, index] += runs[number].weights.get(source, 1.0) / (RANK_OFFSET + rank)
    best = sorted(scores, key=lambda place: (-scores[place], place))
    return [
        replace(runs[number].hits[index], score=round(scores[number, index], 6), out=runs[number].out)
        for number, index in best
    ]
