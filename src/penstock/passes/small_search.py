"""Answers a question from the small files of an index, in this process and with little loaded.

Imports neither lancedb nor pyarrow nor Kiwi: a command that answers one question would wait for them longest.
"""

from __future__ import annotations

from pathlib import Path

from penstock.passes.questions import embed_question
from penstock.retrieval.embedded_by import embedded_by, source_weights
from penstock.retrieval.hits import (
    SearchOptions,
    SearchResult,
    checked_question,
    checked_weights,
    compares_vectors,
)
from penstock.retrieval.index_folder import FOLDER, open_index
from penstock.retrieval.metadata import resolved
from penstock.retrieval.small_index import SmallIndex

NOTHING = SearchResult(hits=[], is_stale=False, documents=[])


def small_search(out: Path, question: str, options: SearchOptions) -> SearchResult | None:
    """Returns what `search_out` would, or None where the index is too large, or too old, to have small files.

    Raises UsageError for an empty question, wrong weights, or an OUT without an index.
    """
    checked_question(question)
    given = checked_weights(options.weights)
    filters = resolved(out, options.filters)
    if filters is None:
        return NOTHING
    reading = open_index(out / FOLDER)
    try:
        index = SmallIndex.at(reading.home)
        if index is None:
            return None
        made = embedded_by(out)
        is_stale = made.get("fingerprint", "") != reading.about["made_by"]
        weights = {**source_weights(made), **given}
        compared = compares_vectors(weights) and not is_stale
        vector = embed_question(out, question, options.api_key) if compared else None
        hits = index.search(
            index.tokens(question), vector, options.top, filters, weights, made.get("engine", "")
        )
        documents = index.documents() if filters.documents and not hits else []
        return SearchResult(hits=hits, is_stale=is_stale, documents=documents)
    finally:
        reading.close()
