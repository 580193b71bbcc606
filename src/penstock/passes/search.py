"""Answers a question from a run's index: its words and its vector come from processes side by side."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from penstock.passes.embed import embed_question
from penstock.processes.background import Background
from penstock.retrieval.searcher import (
    NO_FILTERS,
    Filters,
    Hit,
    Searcher,
    checked_question,
    checked_weights,
    compares_vectors,
)
from penstock.retrieval.tokens import question_tokens
from penstock.scripts import has_syllable
from penstock.stage import secret
from penstock.store.out import Out


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search. `weights` are of sources: text, image, region, bm25, region_bm25, chunk_bm25."""

    top: int = 10
    filters: Filters = NO_FILTERS
    weights: Mapping[str, float] = field(default_factory=dict)
    api_key: str | None = secret()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The best pages. `is_stale`: OUT was embedded again after indexing, so only words were compared.

    `documents` are those of the index, where nothing was found in the ones that were named.
    """

    hits: list[Hit]
    is_stale: bool
    documents: list[str]


def search_out(
    out: Path,
    question: str,
    options: SearchOptions,
    background: Background,
    tokens: Future[list[str]] | None = None,
) -> SearchResult:
    """Raises UsageError for an empty question, wrong weights, or an OUT without an index.

    `tokens` are the question's, for a caller who began to look for them before this module was loaded.
    """
    checked_question(question)
    weights = checked_weights(options.weights)
    if tokens is None and has_syllable(question):
        tokens = background.do(partial(question_tokens, question))
    ask = partial(embed_question, out, question, options.api_key)
    vector = background.do(ask) if compares_vectors(weights) else None
    with Searcher(Out(out)) as searcher:
        hits = searcher.search(
            question,
            vector.result() if vector else None,
            tokens=tokens.result() if tokens else None,
            top=options.top,
            filters=options.filters,
            weights=weights,
        )
        documents = searcher.documents() if options.filters.documents and not hits else []
        return SearchResult(hits=hits, is_stale=searcher.is_stale, documents=documents)
