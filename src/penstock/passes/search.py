"""Answers a question from a run's index; for a large one words and vector are found side by side."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from pathlib import Path

from penstock.addresses.locator import Locator, is_locator
from penstock.exports.located import Located, locate
from penstock.passes.questions import embed_question
from penstock.passes.small_search import NOTHING, small_search
from penstock.processes.background import Background
from penstock.retrieval.hits import Hit, SearchOptions, SearchResult, compares_vectors
from penstock.retrieval.metadata import resolved
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
    """Returns the best pages, or what stands at the locator that the question is.

    Raises UsageError for an empty question, wrong weights, or an OUT without an index.
    `tokens` are the question's, for a caller who began to look for them before this module was loaded.
    """
    if is_locator(question):
        return SearchResult(
            hits=[hit_at_address(Out(out), Locator.parse(question))], is_stale=False, documents=[]
        )
    if found := small_search(out, question, options):
        return found
    filters = resolved(out, options.filters)
    if filters is None:
        return NOTHING
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
            filters=filters,
            weights=weights,
        )
        documents = searcher.documents() if filters.documents and not hits else []
        return SearchResult(hits=hits, is_stale=searcher.is_stale, documents=documents)


def hit_at_address(out: Out, address: Locator) -> Hit:
    """Returns what stands at an address of a run. Raises UsageError where there is nothing."""
    found = locate(out, address)
    place = found.document, found.page or 1
    ids = (entry.id for entry in out.entries() if (entry.document, entry.part + 1) == place)
    return hit_at(found, next(ids, ""))


def hit_at(found: Located, page_id: str) -> Hit:
    """Returns what stands at an address as a search has it."""
    return Hit(
        page_id=page_id, document=found.document, page=found.page or 1, score=1.0, snippet=found.text,
        region=found.region, label=found.label or None, box=found.bbox, crop=found.crop,
        locator=str(found.locator),
    )  # fmt: skip
