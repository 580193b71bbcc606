"""Scores how well questions find their pages: Recall@k, nDCG@k and MRR, by query type and domain.

The numbers are trec_eval's (and so mteb's): binary relevance, nDCG against the ideal ranking, MRR of the
first relevant page. The `-dup` numbers also accept copies: 1,419 of KoPub's 40,781 pages are copies, and a
copy of the right page is right. `penstock eval compare` reads the folders written here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.errors import UsageError
from penstock.passes.scores import SUMMARY, Summary
from penstock.sources.queries import Query
from penstock_eval.results import SAMPLES, SampleResult, sample_line, summarise, write_text

CUTOFFS = (1, 5, 10)
NDCG_CUTOFFS = (5, 10)  # 10 is mteb's main score
MRR_CUTOFF = 10
PROTOCOL = "retrieval-1"
DUPLICATES = "-dup"

Ranking = Sequence[str]  # page ids, the best first


def recall(ranking: Ranking, relevant: frozenset[str], cutoff: int) -> float:
    return len(relevant.intersection(ranking[:cutoff])) / len(relevant) if relevant else math.nan


def ndcg(ranking: Ranking, relevant: frozenset[str], cutoff: int) -> float:
    if not relevant:
        return math.nan
    gain = sum(1 / math.log2(rank + 1) for rank, id in enumerate(ranking[:cutoff], 1) if id in relevant)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), cutoff) + 1))
    return gain / ideal


def reciprocal_rank(ranking: Ranking, relevant: frozenset[str], cutoff: int = MRR_CUTOFF) -> float:
    if not relevant:
        return math.nan
    return next((1 / rank for rank, id in enumerate(ranking[:cutoff], 1) if id in relevant), 0.0)


def scores(ranking: Ranking, relevant: frozenset[str], suffix: str = "") -> dict[str, float]:
    """Returns all numbers of one question."""
    found = {f"recall@{cutoff}{suffix}": recall(ranking, relevant, cutoff) for cutoff in CUTOFFS}
    found |= {f"ndcg@{cutoff}{suffix}": ndcg(ranking, relevant, cutoff) for cutoff in NDCG_CUTOFFS}
    found[f"mrr@{MRR_CUTOFF}{suffix}"] = reciprocal_rank(ranking, relevant)
    return found


def metric_names() -> dict[str, bool]:
    """Returns every metric's name; all are better when higher."""
    nothing = frozenset({""})
    return dict.fromkeys([*scores([], nothing), *scores([], nothing, DUPLICATES)], True)


def once_each(ranking: Ranking, keys: Mapping[str, str]) -> list[str]:
    """Returns the content keys in the order they first come: later copies take no rank."""
    return list(dict.fromkeys(keys.get(id, id) for id in ranking))


def score_rankings(
    queries: Sequence[Query],
    rankings: Mapping[str, Ranking],
    page_ids: Sequence[str],
    keys: Mapping[str, str] | None = None,
) -> list[SampleResult]:
    """Returns one result a query. `rankings` is by query id; `keys` are equal for pages of equal content."""
    keys = keys or {}
    unknown = [query.id for query in queries if not query.resolved(page_ids)]
    if len(unknown) == len(queries):
        raise UsageError(
            "No query names a page of this run.", "Check ground_truth: rows of the corpus or page ids."
        )
    results = []
    for query in queries:
        pages = frozenset(query.resolved(page_ids))
        if not pages:  # --limit may have left its page out
            continue
        ranking = rankings.get(query.id, ())
        wanted = frozenset(keys.get(id, id) for id in pages)
        slices = [f"type:{query.type}"] * bool(query.type) + [f"domain:{query.domain}"] * bool(query.domain)
        results.append(
            SampleResult(
                id=query.id,
                scores={
                    **scores(ranking, pages),
                    **scores(once_each(ranking, keys), wanted, DUPLICATES),
                },
                slices=tuple(slices),
                truth=" ".join(sorted(pages)),
                prediction=" ".join(ranking[: max(CUTOFFS)]),
                notes=(query.text,),
            )
        )
    return results


def write_scores(
    folder: Path, name: str, results: Sequence[SampleResult], num_queries: int, out: Path | None = None
) -> Summary:
    """Writes samples.jsonl and summary.json of one source, which `penstock eval compare` reads."""
    skipped = num_queries - len(results)
    warnings = [f"{skipped} queries name no page of this run and are left out."] if skipped else []
    summary = summarise(f"retrieval by {name}", PROTOCOL, results, metric_names(), {}, warnings)
    write_text(folder / SAMPLES, "".join(map(sample_line, results)), out or folder)
    write_text(folder / SUMMARY, summary.as_json(), out or folder)
    return summary
