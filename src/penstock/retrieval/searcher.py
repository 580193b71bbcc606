"""Hybrid search in a run's index: several rankings of pages, fused by their ranks.

Sources: `text` and `image` (page vectors), `region` (vectors of charts, tables and pictures), `bm25` (words
of pages), `region_bm25` (words of regions) and `chunk_bm25` (words of chunks, with the titles they stand
under and the keywords of pass 2). Each ranks on its own; a page's score is the sum over sources of
weight / (60 + rank). Vectors of a text embedder are never compared with those of another.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.errors import UsageError
from penstock.region import LABELS
from penstock.retrieval.index import CHUNKS, PAGES, REGIONS, connect, num_partitions, quoted, table_names
from penstock.retrieval.index_folder import FOLDER, index_errors, open_index
from penstock.retrieval.tokens import Tokeniser, snippet
from penstock.retrieval.vectors import about
from penstock.sources.page_range import PageRange
from penstock.store.out import Out

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_OFFSET = 60  # Cormack et al. 2009: the first ranks count, but none decides alone
CANDIDATES = 50  # of each source
MAX_PAGE = 2**31 - 1  # what a column of page numbers can hold
# vectors a question is compared with at least. With 20 partitions whatever their size, of the 10 nearest
# among 4,000 vectors 66 % were found, among 20,000 92 %, among 100,000 99 %; so it is all, 98 % and 99 %
COMPARED = 10_000
MIN_PROBES = 20
# of each source the table it ranks and the column it looks into
SOURCES = {
    "text": (PAGES, "text_vector"),
    "image": (PAGES, "image_vector"),
    "region": (REGIONS, "vector"),
    "bm25": (PAGES, "words"),
    "region_bm25": (REGIONS, "words"),
    "chunk_bm25": (CHUNKS, "words"),
}
WEIGHTS = dict.fromkeys(SOURCES, 1.0)
# where every paragraph has its own vector, that of the whole page adds little: the right page came first
# for 8 of our 10 questions with 0.5, for 9 with 0.25 or 0.1
PARAGRAPH_WEIGHTS = {"text": 0.25}
ANSWERS = ("region_bm25", "chunk_bm25", "region")  # what tells of a page which part of it was meant
# of each table what tells the pages of a row, and what a hit shows
KEYS = {
    PAGES: ["id"],
    REGIONS: ["page_id"],
    CHUNKS: ["pages", "page_ids"],
}
SHOWN = {
    PAGES: ["document", "page", "text"],
    REGIONS: ["document", "page", "text", "section", "index", "label", "box", "crop"],
}
SHOWN[CHUNKS] = [*SHOWN[REGIONS], "pages", "page_ids"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Only these documents, pages, labels of regions, words of a section; empty means all."""

    documents: tuple[str, ...] = ()
    pages: PageRange | None = None
    labels: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = sorted(set(self.labels) - set(LABELS))
        if unknown:
            raise UsageError(f"There is no label {unknown[0]!r}.", f"Choose from: {', '.join(LABELS)}.")

    @property
    def of_parts(self) -> bool:
        """Whether whole pages cannot pass: labels and sections belong to what stands on them."""
        return bool(self.labels or self.sections)

    def sql(self, table: str) -> str:
        parts = []
        if self.documents:
            parts.append(f"document IN ({', '.join(map(quoted, self.documents))})")
        if self.pages:
            parts.append(f"({' OR '.join(_in_span(table, *span) for span in self.pages.spans)})")
        if self.labels:
            parts.append(f"label IN ({', '.join(map(quoted, self.labels))})")
        if self.sections:
            parts.append(f"({' OR '.join(map(_in_section, self.sections))})")
        return " AND ".join(parts)

    def has_page(self, page: int) -> bool:
        return self.pages is None or page in self.pages


def _in_span(table: str, first: int, last: int) -> str:
    end = "last_page" if table == CHUNKS else "page"
    return f"({end} >= {min(first, MAX_PAGE)} AND page <= {min(last, MAX_PAGE)})"


def _in_section(name: str) -> str:
    return f"contains(lower(section), {quoted(name.lower())})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One page that was found, with the region or chunk that answers best and each source's rank and score.

    `section` is the path of titles it stands under, `pages` are those of a chunk.
    """

    page_id: str
    document: str
    page: int
    score: float
    snippet: str
    sources: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    section: str = ""
    pages: tuple[int, ...] = ()
    region: int | None = None
    label: str | None = None
    box: tuple[int, ...] | None = None
    crop: str | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    """A row that speaks for a page. `row` is the table's own number of it, for taking it out fast."""

    page_id: str
    rank: int
    value: float
    table: str
    row: int


_Ranked = dict[str, _Match]  # by page
NO_FILTERS = Filters()


class Searcher:
    """An open index; close it, or use it in a `with`. Kiwi comes with the first Korean question.

    It answers from the index as it was opened, whatever is built meanwhile. `is_stale` says that OUT was
    embedded again since then, so that only words are compared.
    """

    def __init__(self, out: Out, threads: int = 1) -> None:
        self._reading = open_index(out / FOLDER)
        self._about = self._reading.about
        base = connect(self._reading.home)
        self._tables = {name: base.open_table(name) for name in table_names(base)}
        self._words = Tokeniser(threads)
        self._probes = {name: probes(table.count_rows()) for name, table in self._tables.items()}
        self._keys = {name: _Keys(table, KEYS[name]) for name, table in self._tables.items()}
        # the rankings of a question are made side by side, by the library's own threads: ours only wait
        self._pool = ThreadPoolExecutor(len(SOURCES), thread_name_prefix="search")
        made = about(out)
        self._weights = {**WEIGHTS, **(PARAGRAPH_WEIGHTS if made.get("regions") == "all" else {})}
        # vectors made since by another model are in another space: a question would meet strangers
        self.is_stale = made.get("fingerprint", "") != self._about["made_by"]

    def close(self) -> None:
        self._pool.shutdown()
        self._reading.close()

    def __enter__(self) -> Searcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def search(
        self,
        question: str,
        vector: NDArray[Any] | None = None,
        *,
        tokens: Sequence[str] | None = None,
        top: int = 10,
        filters: Filters = NO_FILTERS,
        weights: Mapping[str, float] | None = None,
        snippets: bool = True,
    ) -> list[Hit]:
        """Returns the best pages. `vector` is the question's, by the engine that embedded the run.

        `tokens` are those of its words (retrieval/tokens.py), for a caller who has them.
        """
        checked_question(question)
        chosen = {**self._weights, **checked_weights(weights or {})}
        with index_errors(self._reading.home.parent):
            if tokens is None:
                tokens = [word.token for word in self._words.of(question)]
            return self._best(list(dict.fromkeys(tokens)), vector, top, filters, chosen, snippets)

    def _best(
        self,
        tokens: list[str],
        vector: NDArray[Any] | None,
        top: int,
        filters: Filters,
        chosen: Mapping[str, float],
        snippets: bool,
    ) -> list[Hit]:
        rankings = self._rankings(tokens, vector, filters, {n for n, weight in chosen.items() if weight > 0})
        scores: dict[str, float] = defaultdict(float)
        for name, ranked in rankings.items():
            for id, one in ranked.items():
                scores[id] += chosen[name] / (RANK_OFFSET + one.rank)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:top]
        return self._hits(best, scores, rankings, set(tokens) if snippets else None)

    def documents(self) -> list[str]:
        """Returns the names of all documents in the index."""
        if PAGES not in self._tables:
            return []
        rows = self._tables[PAGES].search().select(["document"]).limit(None).to_arrow()
        return sorted(rows["document"].unique().to_pylist())

    def _rankings(
        self, tokens: list[str], vector: NDArray[Any] | None, filters: Filters, wanted: set[str]
    ) -> dict[str, _Ranked]:
        queries = {}
        for name, (table, column) in SOURCES.items():
            if name not in wanted or table not in self._tables or (table == PAGES and filters.of_parts):
                continue
            if column == "words" and tokens:
                queries[name] = self._by_words(table, tokens)
            elif column != "words" and vector is not None and self._has_vectors(name, len(vector)):
                queries[name] = self._by_vector(table, column, vector)
        made = self._pool.map(lambda name: self._ranked(queries[name], SOURCES[name][0], filters), queries)
        return dict(zip(queries, made, strict=True))

    def _has_vectors(self, source: str, width: int) -> bool:
        return not self.is_stale and self._about[source] == width

    def _by_words(self, table: str, tokens: list[str]) -> Any:
        return self._tables[table].search(" ".join(tokens), query_type="fts", fts_columns="words")

    def _by_vector(self, table: str, column: str, vector: NDArray[Any]) -> Any:
        query = self._tables[table].search(vector, vector_column_name=column)
        return query.distance_type("cosine").nprobes(self._probes[table])

    def _ranked(self, query: Any, table: str, filters: Filters) -> _Ranked:
        """Returns pages by their first place; of several regions or chunks of one page the best counts."""
        where = filters.sql(table)
        query = query.where(where, prefilter=True) if where else query
        score = "_distance" if hasattr(query, "nprobes") else "_score"
        rows = query.select([score]).with_row_id(True).limit(CANDIDATES).to_arrow()
        found: _Ranked = {}
        rank = 0
        values = rows[score].to_pylist()
        keys, numbers = self._keys[table].of(rows["_rowid"]), rows["_rowid"].to_pylist()
        for key, number, value in zip(keys, numbers, values, strict=True):
            new = [id for id in _pages_of(table, key, filters) if id not in found]
            rank += bool(new)  # all pages of one chunk share its rank: it does not say which one is meant
            likeness = 1 - value if score == "_distance" else value  # cosine distance -> similarity
            found |= {id: _Match(id, rank, likeness, table, number) for id in new}
        return found

    def _hits(
        self,
        best: Sequence[str],
        scores: Mapping[str, float],
        rankings: Mapping[str, _Ranked],
        tokens: set[str] | None,
    ) -> list[Hit]:
        answers = [_answer(id, rankings) for id in best]
        rows = self._fetch(answers)
        hits = []
        for id, answer in zip(best, answers, strict=True):
            row = rows[answer.table, answer.row]
            pages = dict(zip(row.get("page_ids", [id]), row.get("pages", [row["page"]]), strict=True))
            hit = Hit(
                page_id=id,
                document=row["document"],
                page=pages[id],
                score=round(scores[id], 6),
                snippet="" if tokens is None else self._snippet(row["text"], tokens),
                sources={name: _place(ranked[id]) for name, ranked in rankings.items() if id in ranked},
                section=row.get("section", ""),
                pages=tuple(row.get("pages", ())),
                **_part(row),
            )
            hits.append(hit)
        return hits

    def _snippet(self, text: str, tokens: set[str]) -> str:
        return snippet(text, self._words.places(text, tokens), tokens)

    def _fetch(self, answers: Sequence[_Match]) -> dict[tuple[str, int], dict[str, Any]]:
        """Returns the rows of the answers, of each table in one go."""
        wanted: dict[str, list[int]] = defaultdict(list)
        for one in answers:
            wanted[one.table].append(one.row)

        def take(table: str) -> list[dict[str, Any]]:
            query = self._tables[table].take_row_ids(wanted[table]).select(SHOWN[table]).with_row_id()
            rows: list[dict[str, Any]] = query.to_list()
            return rows

        taken = zip(wanted, self._pool.map(take, wanted), strict=True)
        return {(table, row["_rowid"]): row for table, rows in taken for row in rows}


def probes(num_rows: int) -> int:
    """Returns how many partitions of a table's vectors to look into."""
    partitions = num_partitions(num_rows)
    return min(partitions, max(MIN_PROBES, COMPARED * partitions // max(1, num_rows)))


def checked_question(question: str) -> None:
    if not question.strip():
        raise UsageError("The question is empty.")


def checked_weights(weights: Mapping[str, float]) -> Mapping[str, float]:
    for name, value in weights.items():
        if name not in SOURCES:
            raise UsageError(f"There is no source {name!r}.", f"Choose from: {', '.join(SOURCES)}.")
        if not (math.isfinite(value) and value >= 0):
            raise UsageError(f"The weight of {name} is {value:g}.", "Weights are numbers from 0 up.")
    return weights


def compares_vectors(weights: Mapping[str, float]) -> bool:
    """Returns whether a question needs a vector with these weights."""
    return any(weights.get(name, 1.0) > 0 for name, (_, column) in SOURCES.items() if column != "words")


class _Keys:
    """The pages of a table's rows, held in memory from the first question on.

    Some 50 bytes a row; taken from the disk for every ranking they were a quarter of a question's time.
    """

    def __init__(self, table: Any, columns: list[str]) -> None:
        self._table, self._columns = table, columns
        self._lock = threading.Lock()
        self._held: tuple[NDArray[Any], Any] | None = None  # row numbers, sorted, and keys

    def of(self, numbers: Any) -> list[dict[str, Any]]:
        """Returns the keys of rows by the table's own numbers of them, in the order given."""
        import numpy as np

        with self._lock:
            self._held = known, rows = self._held or self._load()
        keys: list[dict[str, Any]] = rows.take(np.searchsorted(known, numbers.to_numpy())).to_pylist()
        return keys

    def _load(self) -> tuple[NDArray[Any], Any]:
        import numpy as np

        rows = self._table.search().select(self._columns).with_row_id(True).limit(None).to_arrow()
        numbers = rows["_rowid"].to_numpy()
        order = np.argsort(numbers)
        return numbers[order], rows.drop_columns(["_rowid"]).take(order).combine_chunks()


def _pages_of(table: str, row: dict[str, Any], filters: Filters) -> Iterator[str]:
    if table != CHUNKS:
        yield row["id" if table == PAGES else "page_id"]
        return
    pages = zip(row["page_ids"], row["pages"], strict=True)
    yield from (id for id, page in pages if filters.has_page(page))


def _answer(page: str, rankings: Mapping[str, _Ranked]) -> _Match:
    """Returns what answers best of a page: found by words, else by a vector, else the whole page."""
    names = (*ANSWERS, *rankings)
    return next(rankings[name][page] for name in names if page in rankings.get(name, {}))


def _part(row: dict[str, Any]) -> dict[str, Any]:
    names = {"region": "index", "label": "label", "crop": "crop"}
    box = row.get("box")
    return {**{name: row.get(column) for name, column in names.items()}, "box": tuple(box) if box else None}


def _place(one: _Match) -> tuple[int, float]:
    return one.rank, round(one.value, 4)
