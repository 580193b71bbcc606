"""Hybrid search in a run's index: several rankings of pages, fused by their ranks.

Each source ranks on its own (hits.py names them); ranking.py puts the rankings together. Vectors of a text
embedder are never compared with those of another. A small run is also answered by small_index.py.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.retrieval.embedded_by import embedded_by, source_weights
from penstock.retrieval.fitting import evidence_of
from penstock.retrieval.hits import (
    CHUNKS,
    NO_FILTERS,
    PAGES,
    REGIONS,
    SHOWN,
    SOURCES,
    Filters,
    Hit,
    checked_question,
    checked_weights,
)
from penstock.retrieval.index import connect, num_partitions, quoted, table_names
from penstock.retrieval.index_folder import FOLDER, index_errors, open_index
from penstock.retrieval.ranking import CANDIDATES, Match, Ranked, fused, hits_of, pages_of, ranked
from penstock.retrieval.tokens import Tokeniser, snippet, telling
from penstock.store.out import Out

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_PAGE = 2**31 - 1  # what a column of page numbers can hold
# vectors a question is compared with at least. With 20 partitions whatever their size, of the 10 nearest
# among 4,000 vectors 66 % were found, among 20,000 92 %, among 100,000 99 %; so it is all, 98 % and 99 %
COMPARED = 10_000
MIN_PROBES = 20
# of each table what tells the pages of a row
KEYS = {
    PAGES: ["id"],
    REGIONS: ["page_id"],
    CHUNKS: ["pages", "page_ids"],
}


def _sql(filters: Filters, table: str) -> str:
    parts = []
    if filters.documents:
        parts.append(f"document IN ({', '.join(map(quoted, filters.documents))})")
    if filters.pages:
        parts.append(f"({' OR '.join(_in_span(table, *span) for span in filters.pages.spans)})")
    if filters.labels:
        parts.append(f"label IN ({', '.join(map(quoted, filters.labels))})")
    if filters.sections:
        parts.append(f"({' OR '.join(map(_in_section, filters.sections))})")
    return " AND ".join(parts)


def _in_span(table: str, first: int, last: int) -> str:
    end = "last_page" if table == CHUNKS else "page"
    return f"({end} >= {min(first, MAX_PAGE)} AND page <= {min(last, MAX_PAGE)})"


def _in_section(name: str) -> str:
    return f"contains(lower(section), {quoted(name.lower())})"


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
        self._num_rows = {name: table.count_rows() for name, table in self._tables.items()}
        self._probes = {name: probes(count) for name, count in self._num_rows.items()}
        self._keys = {name: _Keys(table, KEYS[name]) for name, table in self._tables.items()}
        # the rankings of a question are made side by side, by the library's own threads: ours only wait
        self._pool = ThreadPoolExecutor(len(SOURCES), thread_name_prefix="search")
        made = embedded_by(out.path)
        self._weights = source_weights(made)
        self._embedder = made.get("engine", "")
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
            words = telling(tokens)
            rankings = self._rankings(
                words, vector, filters, {n for n, weight in chosen.items() if weight > 0}
            )
            if not evidence_of(rankings, len(words), self._num_rows).fits(self._embedder):
                return []
            marked = partial(self._snippet, wanted=set(words)) if snippets else lambda text: ""
            return hits_of(fused(rankings, chosen, top), rankings, self._fetch, marked)

    def documents(self) -> list[str]:
        """Returns the names of all documents in the index."""
        if PAGES not in self._tables:
            return []
        rows = self._tables[PAGES].search().select(["document"]).limit(None).to_arrow()
        return sorted(rows["document"].unique().to_pylist())

    def _rankings(
        self, tokens: list[str], vector: NDArray[Any] | None, filters: Filters, wanted: set[str]
    ) -> dict[str, Ranked]:
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

    def _ranked(self, query: Any, table: str, filters: Filters) -> Ranked:
        where = _sql(filters, table)
        query = query.where(where, prefilter=True) if where else query
        score = "_distance" if hasattr(query, "nprobes") else "_score"
        rows = query.select([score]).with_row_id(True).limit(CANDIDATES).to_arrow()
        keys, numbers = self._keys[table].of(rows["_rowid"]), rows["_rowid"].to_pylist()
        # cosine distance -> similarity
        values = (1 - value if score == "_distance" else value for value in rows[score].to_pylist())
        pages = (pages_of(table, key, filters) for key in keys)
        return ranked(table, zip(numbers, values, pages, strict=True))

    def _snippet(self, text: str, wanted: set[str]) -> str:
        return snippet(text, self._words.places(text, wanted), wanted)

    def _fetch(self, answers: Sequence[Match]) -> dict[tuple[str, int], dict[str, Any]]:
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
