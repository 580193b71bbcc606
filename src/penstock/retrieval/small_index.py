"""The index of a small run as two kinds of plain files, which answer before lancedb and Kiwi are loaded.

`penstock search` is a new process for each question: of its 8 s of CPU time 3.5 went into importing lancedb
and 3 into Kiwi's dictionary. Of a few hundred pages all rows fit into one JSON file and all vectors into .npy
files, and comparing a question with all of them takes milliseconds. BM25 is computed as lancedb does.

Korean words of a question are looked up among the forms that Kiwi saw in the run's own texts: a word that
never occurs there could not be found anyway. What this misses is an irregular form that occurs nowhere in
the run (log.md says how often).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import StoreError
from penstock.retrieval.fitting import K1, evidence_of
from penstock.retrieval.hits import CHUNKS, PAGES, REGIONS, SHOWN, SOURCES, Filters, Hit
from penstock.retrieval.ranking import CANDIDATES, Match, Ranked, Row, fused, hits_of, pages_of, ranked
from penstock.retrieval.tokens import Forms, Tokeniser, snippet, telling
from penstock.store.atomic_files import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = "small.json"
MAX_ROWS = 4_000  # of all tables, some 300 pages: 4 MB of JSON, 60 ms to read
B = 0.75  # of BM25, as lancedb has it
KEPT = {
    PAGES: ["id", *SHOWN[PAGES], "words"],
    REGIONS: ["page_id", *SHOWN[REGIONS], "words"],
    CHUNKS: [*SHOWN[CHUNKS], "last_page", "words"],
}
MAX_FORM = 12  # syllables
MAX_ENDING = 2  # syllables after a word of one: 물은, 관에서
_SYLLABLES = re.compile(r"[가-힣]+")


def write(home: Path, tables: Mapping[str, Any], forms: Forms | None) -> None:
    """Writes what lancedb's tables hold; where that is much, it takes away what was written before."""
    if forms is None or sum(table.count_rows() for table in tables.values()) > MAX_ROWS:
        (home / ROWS).unlink(missing_ok=True)
        return
    read = {name: table.to_arrow() for name, table in tables.items()}
    for table, column in SOURCES.values():
        if column != "words" and table in read:
            _write_vectors(home / _vectors_name(table, column), read[table][column])
    rows = {name: table.select(KEPT[name]).to_pylist() for name, table in read.items()}
    known = {form: sorted(tokens) for form, tokens in forms.items()}
    with replacing(home / ROWS, home.parent.parent) as file:
        file.write(json.dumps({"rows": rows, "forms": known}, ensure_ascii=False).encode())


def read_forms(home: Path) -> Forms | None:
    """Returns the forms an index knows already, to build on; None where it was made without."""
    try:
        found = json.loads((home / ROWS).read_bytes())["forms"]
    except (OSError, ValueError, KeyError):
        return None
    return {form: set(tokens) for form, tokens in found.items()}


def _vectors_name(table: str, column: str) -> str:
    return f"small-{table}-{column}.npy"


def _write_vectors(path: Path, column: Any) -> None:
    """A row without a vector is zero; all others have length 1."""
    import numpy as np

    width = column.type.list_size
    rows = np.zeros((len(column), width), np.float32)
    present = np.array([value.is_valid for value in column], bool)
    if present.any():
        rows[present] = np.stack(column.drop_null().to_numpy(zero_copy_only=False))
    with replacing(path, path.parent.parent.parent) as file:
        np.save(file, rows)


class SmallIndex:
    """All rows of an index in memory. `SmallIndex.at(home)` is None where the index has no such files."""

    def __init__(self, home: Path, content: Mapping[str, Any]) -> None:
        self._home = home
        self._rows: dict[str, list[dict[str, Any]]] = content["rows"]
        self._forms: dict[str, list[str]] = content["forms"]
        self._others = Tokeniser()

    @classmethod
    def at(cls, home: Path) -> SmallIndex | None:
        try:
            return cls(home, json.loads((home / ROWS).read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as exc:
            raise StoreError(f"{home / ROWS} is damaged.", "Run: penstock index OUT --rebuild") from exc

    def tokens(self, question: str) -> list[str]:
        """Returns the words to search by, each once."""
        words = [word.token for word in self._others.without_korean(question)]
        for match in _SYLLABLES.finditer(question):
            words += korean_tokens(match.group(), self._forms)
        return list(dict.fromkeys(words))

    def documents(self) -> list[str]:
        return sorted({row["document"] for row in self._rows.get(PAGES, [])})

    def search(
        self,
        tokens: Sequence[str],
        vector: NDArray[Any] | None,
        top: int,
        filters: Filters,
        weights: Mapping[str, float],
        embedder: str = "",
    ) -> list[Hit]:
        """Returns what `Searcher.search` returns. `vector` is None where vectors may not be compared."""
        tokens = telling(tokens)
        rankings = self.rankings(tokens, vector, filters, weights)
        if not evidence_of(rankings, len(tokens), self.num_rows).fits(embedder):
            return []
        marked = partial(self._snippet, wanted=set(tokens))
        return hits_of(fused(rankings, weights, top), rankings, self._fetch, marked)

    @property
    def num_rows(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self._rows.items()}

    def rankings(
        self,
        tokens: Sequence[str],
        vector: NDArray[Any] | None,
        filters: Filters,
        weights: Mapping[str, float],
    ) -> dict[str, Ranked]:
        """Returns the pages that each source finds."""
        rankings = {}
        for name, (table, column) in SOURCES.items():
            if not weights[name] or table not in self._rows or (table == PAGES and filters.of_parts):
                continue
            if column == "words" and tokens:
                rankings[name] = self._ranked(table, self._word_tables[table].scores(tokens), filters)
            elif column != "words" and vector is not None:
                scores = self._likeness(table, column, vector)
                rankings[name] = self._ranked(table, scores, filters)
        return rankings

    @cached_property
    def _word_tables(self) -> dict[str, _WordTable]:
        return {name: _WordTable([row["words"].split() for row in rows]) for name, rows in self._rows.items()}

    def _likeness(self, table: str, column: str, vector: NDArray[Any]) -> dict[int, float]:
        """Returns the cosine with each row that has a vector of the question's kind."""
        import numpy as np

        try:
            rows = np.load(self._home / _vectors_name(table, column), mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            return {}
        if rows.shape[1] != len(vector):
            return {}
        with_vector = np.flatnonzero(rows.any(axis=1))
        cosines = rows[with_vector] @ (vector / np.linalg.norm(vector)).astype(np.float32)
        return dict(zip(with_vector.tolist(), cosines.tolist(), strict=True))

    def _ranked(self, table: str, scores: Mapping[int, float], filters: Filters) -> Ranked:
        rows = self._rows[table]
        passing = [number for number in scores if _passes(rows[number], filters)]
        best = sorted(passing, key=lambda number: (-scores[number], number))[:CANDIDATES]
        return ranked(table, ((row, scores[row], pages_of(table, rows[row], filters)) for row in best))

    def _fetch(self, answers: Sequence[Match]) -> Mapping[tuple[str, int], Row]:
        return {(one.table, one.row): self._rows[one.table][one.row] for one in answers}

    def _snippet(self, text: str, wanted: set[str]) -> str:
        return snippet(text, self._others.places(text, wanted), wanted)


class _WordTable:
    """The words of a table's rows, to score rows by BM25."""

    def __init__(self, rows: list[list[str]]) -> None:
        self._counts = [Counter(words) for words in rows]
        self._lengths = [len(words) for words in rows]
        self._num_rows = max(1, sum(map(bool, rows)))  # a row without words, as of a picture, is not counted
        self._mean = sum(self._lengths) / self._num_rows or 1.0

    def scores(self, tokens: Iterable[str]) -> dict[int, float]:
        """Returns the score of every row that has one of the tokens."""
        found: dict[int, float] = {}
        for token in tokens:
            holding = [row for row, counts in enumerate(self._counts) if token in counts]
            rarity = math.log(1 + (self._num_rows - len(holding) + 0.5) / (len(holding) + 0.5))
            for row in holding:
                found[row] = found.get(row, 0.0) + rarity * self._weight(row, token)
        return found

    def _weight(self, row: int, token: str) -> float:
        times = self._counts[row][token]
        return (K1 + 1) * times / (times + K1 * (1 - B + B * self._lengths[row] / self._mean))


def _passes(row: Mapping[str, Any], filters: Filters) -> bool:
    """Whether a row is in the chosen documents, pages, labels and sections."""
    if filters.documents and row["document"] not in filters.documents:
        return False
    if filters.labels and row.get("label") not in filters.labels:
        return False
    section = row.get("section", "").lower()
    if filters.sections and not any(name.lower() in section for name in filters.sections):
        return False
    last = row.get("last_page", row["page"])
    spans = filters.pages.spans if filters.pages else [(row["page"], last)]
    return any(first <= last and row["page"] <= end for first, end in spans)


def korean_tokens(syllables: str, forms: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns the words of a stretch without spaces, by the longest forms that are known, from the left.

    What is left of three syllables or more gives its pairs, as unknown nouns do in the index.
    """
    found: list[str] = []
    place = unknown = 0  # `unknown`: where the syllables began that no form explains
    while place < len(syllables):
        form = _longest(syllables, place, forms)
        if form:
            found += [*forms[form], *_pairs(syllables[unknown:place])]
            unknown = place + len(form)
        place += len(form) or 1
    return [*found, *_pairs(syllables[unknown:])]


def _longest(syllables: str, place: int, forms: Mapping[str, Iterable[str]]) -> str:
    for end in range(min(len(syllables), place + MAX_FORM), place, -1):
        form = syllables[place:end]
        if form in forms and (len(form) > 1 or (place == 0 and len(syllables) <= 1 + MAX_ENDING)):
            return form
    return ""


def _pairs(syllables: str) -> list[str]:
    return [f"~{syllables[n : n + 2]}" for n in range(len(syllables) - 1)] if len(syllables) > 2 else []
