"""A question to one run or several, its hits put in order by a served reranker where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from penstock.addresses.locator import is_locator
from penstock.engines.rerank.server import ServerReranker
from penstock.errors import UsageError
from penstock.retrieval.embedded_by import embedded_by, source_weights
from penstock.retrieval.hits import Hit, SearchOptions, SearchResult
from penstock.retrieval.ranking import CANDIDATES
from penstock.retrieval.several_runs import RunHits, together

MAX_CHARS = 6_000  # of a text that is reranked: some 2,000 tokens
Ask = Callable[[Path, SearchOptions], SearchResult]


def search_runs(outs: Sequence[Path], question: str, options: SearchOptions, ask: Ask) -> SearchResult:
    """Returns the best hits of all runs. `ask` answers from one of them."""
    if is_locator(question):
        return _at_locator(outs, options, ask)
    if len(outs) == 1 and not options.rerank:
        return ask(outs[0], options)
    deep = replace(options, top=max(options.top, CANDIDATES))
    found = [ask(out, deep) for out in outs]
    hits = found[0].hits if len(outs) == 1 else _together(outs, found)
    if options.rerank:
        hits = reranked(question, hits, options)
    return SearchResult(
        hits=hits[: options.top],
        is_stale=any(one.is_stale for one in found),
        documents=[name for one in found for name in one.documents] if not hits else [],
    )


def _at_locator(outs: Sequence[Path], options: SearchOptions, ask: Ask) -> SearchResult:
    """Returns what stands there in the first run that has it. Raises UsageError if none has."""
    for out in outs[:-1]:
        with suppress(UsageError):
            return ask(out, options)
    return ask(outs[-1], options)


def _together(outs: Sequence[Path], found: Sequence[SearchResult]) -> list[Hit]:
    runs = []
    for out, one in zip(outs, found, strict=True):
        made = embedded_by(out)
        space = f"{made.get('engine', '')} {made.get('model', '')}"
        runs.append(RunHits(str(out), one.hits, space, source_weights(made)))
    return together(runs)


def reranked(question: str, hits: list[Hit], options: SearchOptions) -> list[Hit]:
    """Returns the hits by what the reranker says of their texts; those it left out come last."""
    considered = hits[:CANDIDATES]
    with closing(ServerReranker(options.rerank, options.rerank_model, options.rerank_key)) as reranker:
        scores = reranker.scores(question, [_text(hit) for hit in considered])
    scored = [(score, hit) for score, hit in zip(scores, considered, strict=True) if score is not None]
    best = sorted(scored, key=lambda one: -one[0])
    ranked = [
        replace(hit, score=round(score, 6), sources={**hit.sources, "rerank": (rank, round(score, 6))})
        for rank, (score, hit) in enumerate(best, 1)
    ]
    left = [hit for score, hit in zip(scores, considered, strict=True) if score is None]
    return [*ranked, *left, *hits[CANDIDATES:]]


def _text(hit: Hit) -> str:
    return f"{hit.section}\n{hit.text or hit.snippet}".strip()[:MAX_CHARS]
