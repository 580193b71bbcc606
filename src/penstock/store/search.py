"""Hybrid search in a run's index: several rankings of pages, fused by their ranks.

Sources: `text` and `image` (page vectors), `region` (vectors of charts, tables and pictures), `bm25` (words
of pages) and `region_bm25` (words of regions). Each ranks on its own; a page's score is the sum over sources
of weight / (60 + rank). Vectors of a text embedder are never compared with those of another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.documents.words import Words, snippet
from penstock.errors import UsageError
from penstock.store.index import FOLDER, PAGES, REGIONS, check_there, connect, quoted, table_names
from penstock.store.vectors import about

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_OFFSET = 60  # Cormack et al. 2009: the first ranks count, but none decides alone
CANDIDATES = 50  # of each source
PROBES = 20  # partitions looked into where vectors are indexed: 95 % of the true 50 nearest at 100,000
SOURCES = ("text", "image", "region", "bm25", "region_bm25")
WEIGHTS = {"text": 1.0, "image": 1.0, "region": 1.0, "bm25": 1.0, "region_bm25": 1.0}
# where every paragraph has its own vector, that of the whole page adds little: the right page came first
# for 8 of our 10 questions with 0.5, for 9 with 0.25 or 0.1
PARAGRAPH_WEIGHTS = {"text": 0.25}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Only these documents, pages (from, to) or labels of regions; empty means all."""

    documents: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    labels: tuple[str, ...] = ()

    def sql(self, with_labels: bool) -> str:
        parts = []
        if self.documents:
            parts.append(f"document IN ({', '.join(map(quoted, self.documents))})")
        if self.pages:
            parts.append(f"page >= {int(self.pages[0])} AND page <= {int(self.pages[1])}")
        if with_labels and self.labels:
            parts.append(f"label IN ({', '.join(map(quoted, self.labels))})")
        return " AND ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One page that was found, with the region that answers best and each source's rank and score."""

    page_id: str
    document: str
    page: int
    score: float
    snippet: str
    sources: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    region: int | None = None
    label: str | None = None
    box: tuple[int, ...] | None = None
    crop: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    page_id: str
    value: float
    region_id: str | None = None


NO_FILTERS = Filters()


class Searcher:
    """An open index. Opening loads no model; Kiwi comes with the first Korean question."""

    def __init__(self, out: Path, threads: int = 1) -> None:
        self._about = check_there(out)
        base = connect(out / FOLDER)
        self._tables = {name: base.open_table(name) for name in table_names(base)}
        self._words = Words(threads)
        self._weights = {**WEIGHTS, **(PARAGRAPH_WEIGHTS if about(out).get("regions") == "all" else {})}

    def search(
        self,
        question: str,
        vector: NDArray[Any] | None = None,
        *,
        top: int = 10,
        filters: Filters = NO_FILTERS,
        weights: Mapping[str, float] | None = None,
        snippets: bool = True,
    ) -> list[Hit]:
        """The best pages. `vector` is the question's, by the engine that embedded the run."""
        chosen = {**self._weights, **(weights or {})}
        for name in chosen:
            if name not in SOURCES:
                raise UsageError(f"There is no source {name!r}.", f"Choose from: {', '.join(SOURCES)}.")
        tokens = list(dict.fromkeys(word.token for word in self._words.of(question)))
        rankings = self._rankings(tokens, vector, filters, {n for n, weight in chosen.items() if weight > 0})
        scores: dict[str, float] = defaultdict(float)
        for name, found in rankings.items():
            for rank, one in enumerate(found, 1):
                scores[one.page_id] += chosen[name] / (RANK_OFFSET + rank)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:top]
        return self._hits(best, scores, rankings, set(tokens) if snippets else None)

    def _rankings(
        self, tokens: list[str], vector: NDArray[Any] | None, filters: Filters, wanted: set[str]
    ) -> dict[str, list[_Found]]:
        found: dict[str, list[_Found]] = {}
        for name in SOURCES:
            of_pages = name in ("text", "image", "bm25")
            if name not in wanted or (of_pages and filters.labels):  # labels are of regions
                continue
            if name.endswith("bm25"):
                found[name] = self._by_words(PAGES if of_pages else REGIONS, tokens, filters)
            elif vector is not None and self._about[name] == len(vector):
                column = f"{name}_vector" if of_pages else "vector"
                found[name] = self._by_vector(PAGES if of_pages else REGIONS, column, vector, filters)
        return found

    def _by_words(self, table: str, tokens: list[str], filters: Filters) -> list[_Found]:
        if not tokens or table not in self._tables:
            return []
        query = self._tables[table].search(" ".join(tokens), query_type="fts", fts_columns="words")
        return _ranked(query, table, filters, "_score", 1.0)

    def _by_vector(self, table: str, column: str, vector: NDArray[Any], filters: Filters) -> list[_Found]:
        if table not in self._tables:
            return []
        query = (
            self._tables[table]
            .search(vector, vector_column_name=column)
            .distance_type("cosine")
            .nprobes(PROBES)
        )
        return _ranked(query, table, filters, "_distance", -1.0)

    def _hits(
        self,
        best: Sequence[str],
        scores: Mapping[str, float],
        rankings: Mapping[str, list[_Found]],
        tokens: set[str] | None,
    ) -> list[Hit]:
        pages = self._fetch(PAGES, best, ["id", "document", "page", "text"])
        regions = self._fetch(REGIONS, _regions_of(best, rankings), REGION_COLUMNS)
        by_page = {row["page_id"]: row for row in regions.values()}
        return [
            Hit(
                page_id=id,
                document=pages[id]["document"],
                page=pages[id]["page"],
                score=round(scores[id], 6),
                snippet="" if tokens is None else self._snippet(pages[id], by_page.get(id), tokens),
                sources=_sources(id, rankings),
                **_place(by_page.get(id)),
            )
            for id in best
        ]

    def _snippet(self, page: dict[str, Any], region: dict[str, Any] | None, tokens: set[str]) -> str:
        text: str = (region or page)["text"] or page["text"]
        return snippet(text, self._words.places(text, tokens), tokens)

    def _fetch(self, table: str, ids: Sequence[str], columns: list[str]) -> dict[str, dict[str, Any]]:
        if not ids or table not in self._tables:
            return {}
        where = f"id IN ({', '.join(map(quoted, ids))})"
        rows = self._tables[table].search().where(where).select(columns).limit(len(ids)).to_list()
        return {row["id"]: row for row in rows}


REGION_COLUMNS = ["id", "page_id", "index", "label", "box", "crop", "text"]


def _ranked(query: Any, table: str, filters: Filters, score: str, sign: float) -> list[_Found]:
    """Pages by their first place; of several regions on one page the best counts."""
    where = filters.sql(with_labels=table == REGIONS)
    columns = ["id", score] if table == PAGES else ["id", "page_id", score]
    query = query.where(where, prefilter=True) if where else query
    rows = query.select(columns).limit(CANDIDATES).to_list()
    found: dict[str, _Found] = {}
    for row in rows:
        page_id = row["id"] if table == PAGES else row["page_id"]
        if page_id not in found:
            value = 1 - row[score] if sign < 0 else row[score]  # cosine distance -> similarity
            found[page_id] = _Found(page_id, float(value), None if table == PAGES else row["id"])
    return list(found.values())


def _place(region: dict[str, Any] | None) -> dict[str, Any]:
    if region is None:
        return {}
    names = {"region": "index", "label": "label", "crop": "crop"}
    return {**{name: region[column] for name, column in names.items()}, "box": tuple(region["box"])}


def _sources(id: str, rankings: Mapping[str, list[_Found]]) -> dict[str, tuple[int, float]]:
    places: dict[str, tuple[int, float]] = {}
    for name, found in rankings.items():
        for rank, one in enumerate(found, 1):
            if one.page_id == id:
                places[name] = (rank, round(one.value, 4))
    return places


def _regions_of(pages: Sequence[str], rankings: Mapping[str, list[_Found]]) -> list[str]:
    """The best region of each page: what its words found, else what its vector found."""
    chosen: dict[str, str] = {}
    for name in ("region_bm25", "region"):
        for one in rankings.get(name, ()):
            if one.region_id and one.page_id in pages:
                chosen.setdefault(one.page_id, one.region_id)
    return list(chosen.values())
