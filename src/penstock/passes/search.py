"""Answers a question from a run's index; for a large one words and vector are found side by side."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from pathlib import Path

from penstock.passes.questions import embed_question
from penstock.passes.small_search import small_search
from penstock.processes.background import Background
from penstock.retrieval.hits import (
    SearchOptions,
    SearchResult,
    compares_vectors,
)
from penstock.retrieval.searcher import Searcher
from penstock.retrieval.tokens import question_tokens
from penstock.scripts import has_syllable
from penstock.store.out import Out


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
    if found := small_search(out, question, options):
        return found
    weights = options.weights
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
