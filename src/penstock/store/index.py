"""The search index of a run: pages and regions in LanceDB, with vectors and words, made from the shards.

OUT/index holds nothing that cannot be made again. A page is known by its id and the digest of what was
indexed of it, so building it twice changes only what has changed. Opening reads a few kilobytes.
Asking it is in search.py.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.documents.words import Words
from penstock.errors import MissingModel, UsageError
from penstock.item import FURNITURE_LABELS, Item
from penstock.store import enrichments, vectors
from penstock.store.embedded import page_entries, plain_text, to_embed
from penstock.store.export import page_text
from penstock.store.files import replacing
from penstock.store.lock import holding
from penstock.store.shards import Ledger

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER, ABOUT = "index", "index.json"
PAGES, REGIONS = "pages", "regions"
VERSION = 1  # of what is kept; another one is built anew
PAGES_AT_ONCE = 500  # about 4,000 regions: 10 MB of vectors and words
ANN_FROM = 4_000  # rows: below, comparing with all of them is exact and takes milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionRow:
    """One region as it is found. `box` is on the 0..1000 grid of its page."""

    index: int
    label: str
    box: tuple[int, int, int, int]
    text: str
    crop: str | None = None
    vector: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """One page as it is found, with its regions."""

    id: str
    document: str
    page: int  # from 1
    text: str
    digest: str
    text_vector: NDArray[Any] | None = None
    image_vector: NDArray[Any] | None = None
    regions: tuple[RegionRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Widths:
    """How many numbers each kind of vector has; 0 for none."""

    text: int = 0
    image: int = 0
    region: int = 0


@dataclass(frozen=True, slots=True)
class Built:
    """What building did."""

    pages: int
    changed: int
    removed: int
    vectors: dict[str, int] = field(default_factory=dict)


def connect(folder: Path) -> Any:
    try:
        import lancedb
    except ImportError as exc:
        raise MissingModel("The index needs lancedb.", "Run: pip install 'penstock[search]'") from exc
    return lancedb.connect(str(folder))


def build(out: Path, rebuild: bool = False, threads: int = 1) -> Built:
    """Brings OUT/index up to date with the shards and vectors of OUT; all of it with `rebuild`."""
    widths, rows = rows_of(out)
    with holding(out):
        return build_rows(out / FOLDER, rows, widths, rebuild, threads)


def build_rows(
    folder: Path, rows: Iterable[PageRow], widths: Widths, rebuild: bool = False, threads: int = 1
) -> Built:
    """The same from any rows: those not among them are taken out."""
    about = {"version": VERSION, "text": widths.text, "image": widths.image, "region": widths.region}
    if rebuild or _about(folder) != about:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    base = connect(folder)
    known = _known(base)
    words = Words(threads)
    seen: set[str] = set()
    changed = 0
    for batch in _batches(_changed(rows, known, seen), PAGES_AT_ONCE):
        (folder / ABOUT).unlink(missing_ok=True)  # stopped halfway, it is built anew: never a region twice
        _remove(base, [page.id for page in batch if page.id in known])
        _insert(base, batch, widths, words)
        changed += len(batch)
    gone = [id for id in known if id not in seen]
    _remove(base, gone)
    if changed or gone:
        _index(base, widths)
    with replacing(folder / ABOUT, folder) as file:
        file.write(json.dumps(about).encode())
    with contextlib.suppress(OSError):
        (folder / "tmp").rmdir()
    return Built(
        len(seen), changed, len(gone), {name: getattr(widths, name) for name in ("text", "image", "region")}
    )


def rows_of(out: Path) -> tuple[Widths, Iterator[PageRow]]:
    """The pages of OUT with their vectors, which are checked against ocr_results.jsonl first."""
    tables = {name: vectors.read(out, name) for name in (vectors.TEXTS, vectors.IMAGES, vectors.REGIONS)}
    width = {name: table.array.shape[1] if table else 0 for name, table in tables.items()}
    widths = Widths(width[vectors.TEXTS], width[vectors.IMAGES], width[vectors.REGIONS])
    return widths, _page_rows(out, {name: _Rows(table) for name, table in tables.items() if table})


class _Rows:
    """Vectors by id."""

    def __init__(self, table: vectors.Table) -> None:
        self._array = table.array
        self._place = {id: row for row, id in enumerate(table.ids) if table.valid[row]}

    def get(self, id: str) -> NDArray[Any] | None:
        place = self._place.get(id)
        return None if place is None else self._array[place]


def _page_rows(out: Path, tables: dict[str, _Rows]) -> Iterator[PageRow]:
    ledger, nothing = Ledger(out), _Rows(vectors.Table("", _no_array(), [], [], []))
    texts, images, regions = (
        tables.get(n, nothing) for n in (vectors.TEXTS, vectors.IMAGES, vectors.REGIONS)
    )
    made_by = vectors.about(out).get("fingerprint", "")
    said_of = enrichments.words_of(out)
    for entry in page_entries(out):
        if entry.failed:
            continue
        page = ledger.item(entry)
        said = said_of(page)  # summaries and keywords of pass 2, where it was run
        extra = "\n".join(said.values())
        yield PageRow(
            id=page.id,
            document=page.document,
            page=page.part + 1,
            text=f"{page_text(page)}\n{extra}" if extra else page_text(page),
            digest=f"{to_embed(page).digest}/{made_by}/{zlib.crc32(extra.encode('utf-8', 'replace')):08x}",
            text_vector=texts.get(page.id),
            image_vector=images.get(page.id),
            regions=tuple(_region_rows(page, regions, said)),
        )


def _region_rows(page: Item, found: _Rows, said: dict[int, str]) -> Iterator[RegionRow]:
    for region in page.regions:
        text = "\n".join(part for part in (plain_text(region.content or ""), said.get(region.index)) if part)
        if region.label in FURNITURE_LABELS or not (text.strip() or region.crop_path):
            continue
        left, top, right, bottom = region.bbox_2d(page.width, page.height)
        yield RegionRow(
            index=region.index,
            label=region.label,
            box=(left, top, right, bottom),
            text=text,
            crop=region.crop_path,
            vector=found.get(f"{page.id}#{region.index}"),
        )


def _no_array() -> NDArray[Any]:
    import numpy as np

    return np.zeros((0, 0), np.float32)


def _changed(rows: Iterable[PageRow], known: dict[str, str], seen: set[str]) -> Iterator[PageRow]:
    for row in rows:
        seen.add(row.id)
        if known.get(row.id) != row.digest:
            yield row


def _batches(rows: Iterator[PageRow], size: int) -> Iterator[list[PageRow]]:
    while batch := list(itertools.islice(rows, size)):
        yield batch


# tables


def _schemas(widths: Widths) -> dict[str, pa.Schema]:
    def vector(width: int) -> pa.DataType:
        return pa.list_(pa.float32(), width or 1)

    place = [("id", pa.string()), ("document", pa.string()), ("page", pa.int32())]
    found = [("text", pa.string()), ("words", pa.string())]
    page = [
        ("digest", pa.string()),
        ("text_vector", vector(widths.text)),
        ("image_vector", vector(widths.image)),
    ]
    region = [
        ("page_id", pa.string()),
        ("index", pa.int32()),
        ("label", pa.string()),
        ("box", pa.list_(pa.int32(), 4)),
        ("crop", pa.string()),
        ("vector", vector(widths.region)),
    ]
    return {PAGES: pa.schema([*place, *found, *page]), REGIONS: pa.schema([*place, *found, *region])}


def _insert(base: Any, pages: list[PageRow], widths: Widths, words: Words) -> None:
    """Regions first: a page's row is what says that it is done."""
    schemas = _schemas(widths)
    existing = table_names(base)
    regions = [(page, region) for page in pages for region in page.regions]
    lines = [words.line(found) for found in words.of_many(region.text for _, region in regions)]
    region_rows = [
        {
            "id": f"{page.id}#{region.index}",
            "document": page.document,
            "page": page.page,
            "text": region.text,
            "words": line,
            "page_id": page.id,
            "index": region.index,
            "label": region.label,
            "box": list(region.box),
            "crop": region.crop,
        }
        for (page, region), line in zip(regions, lines, strict=True)
    ]
    made = _table(region_rows, schemas[REGIONS], {"vector": [region.vector for _, region in regions]})
    _add(base, existing, REGIONS, made)
    joined = _joined(pages, regions, lines, words)
    page_rows = [
        {
            "id": page.id,
            "document": page.document,
            "page": page.page,
            "text": page.text,
            "words": line,
            "digest": page.digest,
        }
        for page, line in zip(pages, joined, strict=True)
    ]
    columns = {name: [getattr(page, name) for page in pages] for name in ("text_vector", "image_vector")}
    made = _table(page_rows, schemas[PAGES], columns)
    _add(base, existing, PAGES, made)


def _joined(
    pages: list[PageRow], regions: list[tuple[PageRow, RegionRow]], lines: list[str], words: Words
) -> list[str]:
    """A page's words are those of its regions: Kiwi, the slow part, reads every text once."""
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
    absent = pa.array([value is None for value in values])
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), kind.list_size, mask=absent)


def _add(base: Any, existing: set[str], name: str, rows: pa.Table) -> None:
    if name in existing:
        base.open_table(name).add(rows, on_bad_vectors="null")  # a row without a vector is not bad
    else:
        base.create_table(name, rows, on_bad_vectors="null")


def _remove(base: Any, page_ids: list[str]) -> None:
    if page_ids:
        _delete(base.open_table(REGIONS), "page_id", page_ids)
        _delete(base.open_table(PAGES), "id", page_ids)


def _delete(table: Any, column: str, values: list[str]) -> None:
    for start in range(0, len(values), 500):
        table.delete(f"{column} IN ({', '.join(map(quoted, values[start : start + 500]))})")


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def table_names(base: Any) -> set[str]:
    found = base.list_tables()
    return set(getattr(found, "tables", found))


def _known(base: Any) -> dict[str, str]:
    if PAGES not in table_names(base):
        return {}
    rows = base.open_table(PAGES).search().select(["id", "digest"]).limit(None).to_arrow()
    return dict(zip(rows["id"].to_pylist(), rows["digest"].to_pylist(), strict=True))


def _index(base: Any, widths: Widths) -> None:
    """Words of both tables, and vectors of tables that are large."""
    from lancedb.index import FTS, BTree, IvfFlat

    names = table_names(base)
    plan = [
        (PAGES, [("text_vector", widths.text), ("image_vector", widths.image)]),
        (REGIONS, [("vector", widths.region)]),
    ]
    for name, columns in plan:
        if name not in names:
            continue
        table = base.open_table(name)
        text = FTS(
            base_tokenizer="whitespace", stem=False, remove_stop_words=False, ascii_folding=False,
            lower_case=False, max_token_length=None,
        )  # fmt: skip
        table.create_index("words", config=text, replace=True)
        for key in ("id",) if name == PAGES else ("id", "page_id"):
            table.create_index(key, config=BTree(), replace=True)
        # 100,000 of 512 numbers: 19 s of CPU, 95 % of the true 50 nearest; HNSW took minutes
        near = IvfFlat(distance_type="cosine", num_partitions=max(1, round(table.count_rows() ** 0.5)))
        for column, width in columns:
            if width and table.count_rows() >= ANN_FROM:
                table.create_index(column, config=near, replace=True)
        table.optimize()


def _about(folder: Path) -> dict[str, Any] | None:
    path = folder / ABOUT
    found: dict[str, Any] | None = json.loads(path.read_text("utf-8")) if path.is_file() else None
    return found


def check_there(out: Path) -> dict[str, Any]:
    """What the index of OUT holds. Raises UsageError when there is none, or only part of one."""
    about = _about(out / FOLDER)
    if about is None:
        raise UsageError(f"{out} has no finished index.", "Run: penstock index OUT")
    return about
