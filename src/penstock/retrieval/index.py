"""The search index of a run: pages, regions and chunks in LanceDB, with vectors and words.

OUT/index holds nothing that cannot be made again from the shards. A page or a chunk is known by its id and
the digest of what was indexed of it, so building twice changes only what has changed. Opening reads a few
kilobytes. index_rows.py says what goes in, index_folder.py where it lies; searcher.py reads it.
"""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from penstock.errors import MissingModel, install_advice
from penstock.processes.malloc import share_heaps
from penstock.retrieval import index_folder, small_index
from penstock.retrieval.hits import CHUNKS, PAGES, REGIONS
from penstock.retrieval.index_folder import FOLDER
from penstock.retrieval.index_rows import ChunkRow, PageRow, RegionRow, Widths, rows_of
from penstock.retrieval.tokens import Tokeniser
from penstock.store.lock import holding
from penstock.store.out import Out

PAGES_AT_ONCE = 500  # about 4,000 regions: 10 MB of vectors and words
Row = TypeVar("Row", PageRow, ChunkRow)
SAMPLES = 64  # vectors a partition is found from: 256 took twice the CPU and 120 MB more for the same recall
ANN_FROM = 4_000  # rows: below, comparing with all of them is exact and takes milliseconds


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What building did."""

    pages: int
    chunks: int
    changed: int
    removed: int
    vectors: dict[str, int] = field(default_factory=dict)


def connect(folder: Path) -> Any:
    os.environ.setdefault("LANCEDB_LOG", "error")  # it prints a line for each round that finds vectors alike
    try:
        import lancedb
    except ImportError as exc:
        raise MissingModel("The index needs lancedb.", install_advice("search")) from exc
    return lancedb.connect(str(folder))


def build(out: Out, rebuild: bool = False, threads: int = 1, holds_lock: bool = False) -> IndexSummary:
    """Brings OUT/index up to date with the shards and vectors of OUT; all of it with `rebuild`.

    `holds_lock`: the caller has OUT's lock.
    """
    widths, rows = rows_of(out)
    with nullcontext() if holds_lock else holding(out.path):
        return build_rows(out / FOLDER, rows, widths, rebuild, threads)


def build_rows(
    folder: Path, rows: Iterable[PageRow], widths: Widths, rebuild: bool = False, threads: int = 1
) -> IndexSummary:
    """Does what `build` does from any rows; removes indexed rows that are not among them."""
    about = {"version": index_folder.VERSION, **asdict(widths)}
    last = index_folder.read_about(folder)
    if rebuild or (last and about.items() - last.items()):
        last = None
    home = index_folder.begin(folder, last)
    try:
        with index_folder.index_errors(folder):
            words = Tokeniser(threads, {} if last is None else small_index.read_forms(home))
            built, is_changed = _fill(home, rows, widths, words)
        if is_changed or last is None:
            index_folder.publish(home, about)
    finally:
        index_folder.sweep(folder)
    return built


def _fill(home: Path, rows: Iterable[PageRow], widths: Widths, words: Tokeniser) -> tuple[IndexSummary, bool]:
    """Makes the tables in `home` those of `rows`. Returns also whether anything had to change."""
    share_heaps()  # Kiwi's threads and the library's own each keep a heap otherwise
    base = connect(home)
    pages, chunks = _Kept(base, PAGES), _Kept(base, CHUNKS)
    for batch in _batches(iter(rows), PAGES_AT_ONCE):
        new_pages = pages.changed(batch)
        new_chunks = chunks.changed([chunk for page in batch for chunk in page.chunks])
        if new_pages or new_chunks:
            _insert(base, new_pages, new_chunks, widths, words)
    gone = pages.gone()
    _remove(base, gone)
    _delete(base, CHUNKS, "id", chunks.gone())
    is_changed = pages.touched or chunks.touched
    if is_changed:
        _index(base, widths)
        small_index.write(home, {name: base.open_table(name) for name in table_names(base)}, words.forms)
    sizes = {name: getattr(widths, name) for name in ("text", "image", "region")}
    built = IndexSummary(len(pages.seen), len(chunks.seen), pages.num_changed, len(gone), sizes)
    return built, is_changed


class _Kept:
    """The rows of a table by id and digest, and what of it was seen again. Changed rows are taken out."""

    def __init__(self, base: Any, name: str) -> None:
        self._base, self._name = base, name
        self._known = _digests(base, name)
        self.seen: set[str] = set()
        self.num_changed = 0

    def changed(self, rows: list[Row]) -> list[Row]:
        self.seen.update(row.id for row in rows)
        new = [row for row in rows if self._known.get(row.id) != row.digest]
        old = [row.id for row in new if row.id in self._known]
        _remove(self._base, old) if self._name == PAGES else _delete(self._base, self._name, "id", old)
        self.num_changed += len(new)
        return new

    def gone(self) -> list[str]:
        return [id for id in self._known if id not in self.seen]

    @property
    def touched(self) -> bool:
        return self.num_changed > 0 or bool(self.gone())


def _batches(rows: Iterator[PageRow], size: int) -> Iterator[list[PageRow]]:
    while batch := list(itertools.islice(rows, size)):
        yield batch


# tables


def _schemas(widths: Widths) -> dict[str, pa.Schema]:
    def vector(width: int) -> pa.DataType:
        return pa.list_(pa.float32(), width or 1)

    text, number = pa.string(), pa.int32()
    found = [("id", text), ("document", text), ("page", number), ("text", text), ("words", text)]
    place = [
        ("page_id", text),
        ("label", text),
        ("section", text),
        ("index", number),
        ("box", pa.list_(number, 4)),
        ("crop", text),
    ]
    vectors = [("text_vector", vector(widths.text)), ("image_vector", vector(widths.image))]
    pages = [("last_page", number), ("pages", pa.list_(number)), ("page_ids", pa.list_(text))]
    return {
        PAGES: pa.schema([*found, ("digest", text), *vectors]),
        REGIONS: pa.schema([*found, *place, ("vector", vector(widths.region))]),
        CHUNKS: pa.schema([*found, ("digest", text), *place, *pages]),
    }


def _insert(
    base: Any, pages: list[PageRow], chunks: list[ChunkRow], widths: Widths, words: Tokeniser
) -> None:
    """Regions, chunks and pages, each table in one go."""
    schemas = _schemas(widths)
    regions = [(page, region) for page in pages for region in page.regions]
    texts = [region.text for _, region in regions]
    asked = [f"{chunk.section}\n{chunk.text}\n{chunk.keywords}" for chunk in chunks]
    lines = _lines(words, [*texts, *asked])
    region_lines, chunk_lines = lines[: len(texts)], lines[len(texts) :]
    found = [_region(*pair, line) for pair, line in zip(regions, region_lines, strict=True)]
    vectors = {"vector": [region.vector for _, region in regions]}
    _add(base, REGIONS, _table(found, schemas[REGIONS], vectors))
    found = [_chunk(chunk, line) for chunk, line in zip(chunks, chunk_lines, strict=True)]
    _add(base, CHUNKS, _table(found, schemas[CHUNKS], {}))
    joined = _joined(pages, regions, region_lines, words)
    found = [_page(page, line) for page, line in zip(pages, joined, strict=True)]
    vectors = {name: [getattr(page, name) for page in pages] for name in ("text_vector", "image_vector")}
    _add(base, PAGES, _table(found, schemas[PAGES], vectors))


PLACED = ("text", "label", "section", "index", "box", "crop")


def _page(page: PageRow, line: str) -> dict[str, Any]:
    names = ("id", "document", "page", "text", "digest")
    return {**{name: getattr(page, name) for name in names}, "words": line}


def _region(page: PageRow, region: RegionRow, line: str) -> dict[str, Any]:
    return {
        **{name: getattr(region, name) for name in PLACED},
        "id": f"{page.id}#{region.index}",
        "document": page.document,
        "page": page.page,
        "page_id": page.id,
        "words": line,
    }


def _chunk(chunk: ChunkRow, line: str) -> dict[str, Any]:
    names = ("id", "document", "digest", "pages", "page_ids", *PLACED)
    return {
        **{name: getattr(chunk, name) for name in names},
        "page": chunk.pages[0],
        "page_id": chunk.page_ids[0],
        "last_page": chunk.pages[-1],
        "words": line,
    }


def _lines(words: Tokeniser, texts: list[str]) -> list[str]:
    """Returns the words of each text. Reads equal lines once: chunks repeat regions, and Kiwi is slow."""
    parts = [text.split("\n") for text in texts]
    unique = dict.fromkeys(line for lines in parts for line in lines if line)
    read = dict(zip(unique, map(words.line, words.of_many(unique)), strict=True))
    return [" ".join(read[line] for line in lines if line and read[line]) for lines in parts]


def _joined(
    pages: list[PageRow], regions: list[tuple[PageRow, RegionRow]], lines: list[str], words: Tokeniser
) -> list[str]:
    """Returns a page's words: those of its regions."""
    found: dict[str, list[str]] = {page.id: [] for page in pages}
    for (page, _), line in zip(regions, lines, strict=True):
        found[page.id].append(line)
    return [" ".join(found[page.id]) if page.regions else words.line(words.of(page.text)) for page in pages]


def _table(rows: list[dict[str, Any]], schema: pa.Schema, columns: dict[str, list[Any]]) -> pa.Table:
    """Rows with vectors put in as arrays: as Python numbers they would cost a minute for 100,000."""
    plain = pa.schema([f for f in schema if f.name not in columns])
    table = pa.Table.from_pylist(rows, schema=plain)
    for name, values in columns.items():
        table = table.append_column(schema.field(name), _vector_column(values, schema.field(name).type))
    return table.select(schema.names)


def _vector_column(values: list[Any], kind: pa.DataType) -> pa.Array:
    import numpy as np

    flat = np.zeros((len(values), kind.list_size), np.float32)
    for row, value in enumerate(values):
        if value is not None:
            flat[row] = value
            flat[row] /= np.linalg.norm(flat[row]) or 1.0
    absent = pa.array([value is None for value in values], pa.bool_())
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), kind.list_size, mask=absent)


def _add(base: Any, name: str, rows: pa.Table) -> None:
    if name in table_names(base):
        base.open_table(name).add(rows, on_bad_vectors="null")  # a row without a vector is not bad
    else:
        base.create_table(name, rows, on_bad_vectors="null")


def _remove(base: Any, page_ids: list[str]) -> None:
    _delete(base, REGIONS, "page_id", page_ids)
    _delete(base, PAGES, "id", page_ids)


def _delete(base: Any, name: str, column: str, values: list[str]) -> None:
    for start in range(0, len(values), 500):
        some = ", ".join(map(quoted, values[start : start + 500]))
        base.open_table(name).delete(f"{column} IN ({some})")


def quoted(text: str) -> str:
    """Returns a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def table_names(base: Any) -> set[str]:
    found = base.list_tables()
    return set(getattr(found, "tables", found))


def _digests(base: Any, name: str) -> dict[str, str]:
    if name not in table_names(base):
        return {}
    rows = base.open_table(name).search().select(["id", "digest"]).limit(None).to_arrow()
    return dict(zip(rows["id"].to_pylist(), rows["digest"].to_pylist(), strict=True))


def _tidy(table: Any) -> None:
    """Leaves one file where there were many, and no earlier version: no reader opens a folder being built."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of readers who might be there
        table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)


def num_partitions(num_rows: int) -> int:
    """Of a table's vectors: as many as each then has rows."""
    return max(1, round(math.sqrt(num_rows)))


def _index(base: Any, widths: Widths) -> None:
    """Words of all tables, and vectors of tables that are large."""
    from lancedb.index import FTS, BTree, IvfFlat

    names = table_names(base)
    plan = [
        (PAGES, ("id",), [("text_vector", widths.text), ("image_vector", widths.image)]),
        (REGIONS, ("page_id",), [("vector", widths.region)]),
        (CHUNKS, ("id",), []),
    ]
    words = FTS(
        base_tokenizer="whitespace", stem=False, remove_stop_words=False, ascii_folding=False,
        lower_case=False, max_token_length=None,
    )  # fmt: skip
    for name, keys, columns in plan:
        if name not in names:
            continue
        table = base.open_table(name)
        for index in table.list_indices():  # made anew below; kept until then it would be brought up to date
            table.drop_index(index.name)
        # before the vectors' index, never after: optimize() merges its partitions, of 316 it left 7, and
        # a question was compared with all 100,000 rows (29 ms of CPU, not 8)
        _tidy(table)
        table.create_index("words", config=words, replace=True)
        for key in keys:
            table.create_index(key, config=BTree(), replace=True)
        for column, width in columns:
            # many rows of a table may have no vector: only regions with a crop have one by a model that sees
            vectors = table.count_rows(f"{column} IS NOT NULL") if width else 0
            if vectors >= ANN_FROM:
                partitions = num_partitions(vectors)
                near = IvfFlat(distance_type="cosine", num_partitions=partitions, sample_rate=SAMPLES)
                table.create_index(column, config=near, replace=True)
