"""Scores the search of an OUT: ranks its pages by each kind of vector, by words, by all, and reranked.

Compares a query's vector with all pages, a block at a time: 600 questions against 40,781 pages of 2,048
numbers are 50 billion multiplications, seconds on a CPU, and no index can lose a page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.errors import UsageError
from penstock.page import Page
from penstock.passes.scores import FOLDER, Summary
from penstock.passes.search_runs import reranked
from penstock.retrieval import vectors
from penstock.retrieval.hits import Hit, SearchOptions
from penstock.retrieval.index_folder import FOLDER as INDEX
from penstock.retrieval.searcher import Searcher
from penstock.retrieval.to_embed import page_entries
from penstock.sources.formats import TABLES
from penstock.sources.queries import Query
from penstock.sources.shard_ref import ShardRef
from penstock.sources.tables import ColumnReader, picture_bytes
from penstock.store.out import Out
from penstock_eval.retrieval import Ranking, score_rankings, write_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEPTH = 100  # pages kept of each ranking
BLOCK = 8_192  # rows compared at once: 64 MB of 2,048 numbers
PLAIN = SearchOptions()
SOURCES = {"text": vectors.TEXTS, "image": vectors.IMAGES, "region": vectors.REGIONS}


def evaluate_search(out: Out, queries: Sequence[Query], options: SearchOptions = PLAIN) -> dict[str, Summary]:
    """Scores every source that OUT has and writes OUT/retrieval/<source>. Returns the summaries by source.

    An OUT that was indexed and never embedded is scored by its words alone. With a reranker in the options
    its order of the best pages is scored as well.
    """
    out.need_rows()
    asked = query_vectors(out, queries)
    page_ids, keys = [entry.id for entry in page_entries(out)], content_keys(out)
    found = {}
    for name, rankings in rank_all(out, queries, asked, options).items():
        results = score_rankings(queries, rankings, page_ids, keys)
        found[name] = write_scores(out / FOLDER / name, name, results, len(queries), out.path)
    return found


def query_vectors(out: Out, queries: Sequence[Query]) -> vectors.VectorTable | None:
    """Returns the queries' vectors; None where OUT has words to search and no vectors at all."""
    asked = vectors.read(out, vectors.QUERIES)
    if asked is not None and asked.ids == [query.id for query in queries]:
        return asked
    has_vectors = asked is not None or any(vectors.read(out, name) is not None for name in SOURCES.values())
    if has_vectors or not (out / INDEX).is_dir():
        raise UsageError(f"{out} has no vectors of these queries.", "Run: penstock embed OUT --queries FILE")
    return None


def rank_all(
    out: Out, queries: Sequence[Query], asked: vectors.VectorTable | None, options: SearchOptions = PLAIN
) -> dict[str, dict[str, Ranking]]:
    """Returns the rankings by source and query id."""
    questions = asked.unit() if asked is not None else None
    made: dict[str, dict[str, Ranking]] = {}
    for source, name in SOURCES.items():
        table = vectors.read(out, name)
        if questions is not None and table is not None and table.array.shape[1] == questions.shape[1]:
            ranked = by_vectors(questions, table)
            made[source] = dict(zip((query.id for query in queries), ranked, strict=True))
    if (out / INDEX).is_dir():
        with Searcher(out) as searcher:
            made |= _rank_by_index(searcher, queries, questions, options)
    return made


def _rank_by_index(
    searcher: Searcher,
    queries: Sequence[Query],
    questions: NDArray[np.float32] | None,
    options: SearchOptions,
) -> dict[str, dict[str, Ranking]]:
    made: dict[str, dict[str, Ranking]] = {
        "bm25": {query.id: _pages(_hits(searcher, query.text, None)) for query in queries}
    }
    asked = [None] * len(queries) if questions is None else list(questions)
    pairs = [
        (query, partial(_hits, searcher, query.text, vector))
        for query, vector in zip(queries, asked, strict=True)
    ]
    if questions is not None:
        made["hybrid"] = {query.id: _pages(hits()) for query, hits in pairs}
    if options.rerank:
        made["reranked"] = {query.id: _pages(reranked(query.text, hits(), options)) for query, hits in pairs}
    return made


def _hits(searcher: Searcher, question: str, vector: NDArray[Any] | None) -> list[Hit]:
    weights = None if vector is not None else {"region_bm25": 0.0, "chunk_bm25": 0.0}
    return searcher.search(question, vector, top=DEPTH, weights=weights, snippets=False)


def _pages(hits: Sequence[Hit]) -> list[str]:
    return [hit.page_id for hit in hits]


def by_vectors(questions: NDArray[np.float32], table: vectors.VectorTable) -> list[list[str]]:
    """Returns the ids of the nearest pages for each question; of a page's regions the nearest counts."""
    best: list[dict[str, float]] = [{} for _ in questions]
    pages = [row.get("page_id", row["id"]) for row in table.facts]
    for first, block in table.chunks(BLOCK):
        similarity = questions @ block.T
        similarity[:, [not ok for ok in table.valid[first : first + len(block)]]] = -np.inf
        for found, row in zip(best, similarity, strict=True):
            _keep(found, row, pages[first : first + len(block)])
    return [sorted(found, key=lambda id: (-found[id], id))[:DEPTH] for found in best]


def _keep(found: dict[str, float], row: NDArray[np.float32], pages: Sequence[str]) -> None:
    # a page may have dozens of regions among the nearest: look at more than are kept
    count = min(len(row), 10 * DEPTH)
    for place in np.argpartition(-row, count - 1)[:count]:
        value = float(row[place])
        if value > found.get(pages[place], -np.inf):
            found[pages[place]] = value


def content_keys(out: Out) -> dict[str, str]:
    """Returns a key by page id. Pages with the same picture, or without one the same text, share a key."""
    items = (out.pages.item(entry) for entry in page_entries(out) if not entry.failed)
    return {item.id: hashlib.sha256(data).hexdigest()[:16] for item, data in _contents(items)}


def _contents(items: Iterator[Page]) -> Iterator[tuple[Page, bytes]]:
    """Yields the encoded picture of a dataset's row; for other pages their words and boxes."""
    open_rows: Mapping[str, ColumnReader] = {}
    for item in items:
        if item.media not in TABLES:
            yield (
                item,
                repr(
                    [(r.label, r.content, r.bbox_2d(item.width, item.height)) for r in item.regions]
                ).encode(),
            )
            continue
        ref = ShardRef.parse(item.uri)
        if item.uri not in open_rows:
            for rows in open_rows.values():
                rows.close()
            open_rows = {item.uri: ColumnReader(str(ref.path), ref.column)}
        [value] = open_rows[item.uri].read(item.part - ref.first, 1)
        yield item, picture_bytes(value, ref.path.parent)
    for rows in open_rows.values():
        rows.close()
