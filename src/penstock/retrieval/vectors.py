"""Vectors as .npy files whose rows match ocr_results.jsonl, with an id for every row.

OUT/embeddings is written from the rows of the embedding pass: `name.npy`, memory-mapped when read, and
`name.ids.jsonl`. Nothing is paired by position alone: writing refuses when ids or digests disagree,
reading refuses when rows, ids or results do. A row without a vector is zero and says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from penstock.documents.pages.embedded_page import EmbeddedPage
from penstock.errors import StoreError, UsageError
from penstock.exports.export import export
from penstock.exports.page_files import RESULTS
from penstock.retrieval.embedded_by import ABOUT, FOLDER
from penstock.retrieval.to_embed import PAGES_HOME, QUERIES_HOME, VECTORS, page_entries, to_embed
from penstock.stages.embed import EmbeddedRegions
from penstock.store.atomic_files import replacing
from penstock.store.ledger import Entry, Ledger
from penstock.store.out import Out
from penstock.store.ownership import remove

if TYPE_CHECKING:
    from numpy.typing import NDArray

Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[Precision, ...] = ("float32", "float16", "int8")

IMAGES, TEXTS, REGIONS, QUERIES = "corpus_images", "corpus_ocr_text", "regions", "queries"


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One row of a .npy: whose it is, and its vector, or None where there was nothing to embed."""

    id: str
    vector: bytes | None = field(repr=False)
    facts: dict[str, Any]


def write_pages(
    out: Out,
    precision: Precision = "float32",
    about: dict[str, Any] | None = None,
    regions: EmbeddedRegions = "visual",
) -> list[Path]:
    """Writes the corpus files from the ledger. Raises UsageError on any page that does not match."""
    if not (out / RESULTS).is_file():
        export(out.path, ["jsonl"])
    ledger = Ledger(out / PAGES_HOME, VECTORS)
    entries = _matched(out, ledger, regions)
    written: list[Path] = []
    for name, rows_of in ROWS_OF.items():
        rows = (row for entry in entries for row in rows_of(ledger.item(entry)))
        count, width = _measure(row.vector for entry in entries for row in rows_of(ledger.item(entry)))
        if width or name == TEXTS:
            written += _write(out, name, rows, (count, width), precision)
        else:
            _remove(out, name)
    with replacing(out / FOLDER / ABOUT, out) as file:
        file.write(
            json.dumps({**(about or {}), "precision": precision}, ensure_ascii=False, indent=2).encode()
        )
    return written


def write_queries(out: Out, ids: list[str], precision: Precision = "float32") -> list[Path]:
    """Writes queries.npy in the order of `ids`."""
    ledger = Ledger(out / QUERIES_HOME, VECTORS)
    entries = ledger.entries()
    missing = [id for id in ids if id not in entries]
    if missing:
        raise UsageError(
            f"{len(missing)} queries have no vector, first {missing[0]}.", "Run the command again."
        )
    rows = [row for id in ids for row in _text_rows(ledger.item(entries[id]))]
    return _write(out, QUERIES, rows, _measure(row.vector for row in rows), precision)


def _text_rows(item: EmbeddedPage) -> list[VectorRow]:
    return [VectorRow(item.id, item.text_vector, {})]


def _image_rows(item: EmbeddedPage) -> list[VectorRow]:
    return [VectorRow(item.id, item.image_vector, {})]


def _region_rows(item: EmbeddedPage) -> list[VectorRow]:
    return [
        VectorRow(
            f"{item.id}#{part.index}",
            part.vector,
            {"page_id": item.id, "index": part.index, "label": part.label, "seen": part.seen},
        )
        for part in item.parts
    ]


ROWS_OF: dict[str, Callable[[EmbeddedPage], list[VectorRow]]] = {
    TEXTS: _text_rows,
    IMAGES: _image_rows,
    REGIONS: _region_rows,
}


def _matched(out: Out, embedded: Ledger[EmbeddedPage], regions: EmbeddedRegions) -> list[Entry]:
    """Returns the pass's entries in the order of ocr_results.jsonl, each checked against its page."""
    entries, found, pages = embedded.entries(), [], out.pages
    expected = page_entries(out)
    _check_order(out, [entry.id for entry in expected])
    for entry in expected:
        own = entries.get(entry.id)
        if own is None:
            raise UsageError(f"{entry.id} is not embedded yet.", "Run: penstock embed OUT")
        if entry.failed or own.failed:
            found.append(own)
            continue
        if to_embed(pages.item(entry), regions).digest != embedded.item(own).digest:
            raise UsageError(
                f"{entry.id} was read again since it was embedded: its vector is of another text.",
                "Run: penstock embed OUT",
            )
        found.append(own)
    return found


def _check_order(out: Out, ids: list[str]) -> None:
    results = result_ids(out)
    if results == ids:
        return
    pairs = enumerate(zip(results, ids, strict=False))
    first = next((n for n, (a, b) in pairs if a != b), min(len(results), len(ids)))
    raise UsageError(
        f"{out / RESULTS} does not match the run: {len(results)} rows against {len(ids)} pages,"
        f" different from row {first} on.",
        "Run: penstock export OUT --to jsonl",
    )


def result_ids(out: Out) -> list[str]:
    """Returns the page ids of ocr_results.jsonl, in its order."""
    with (out / RESULTS).open(encoding="utf-8") as lines:
        return [json.loads(line)["page_id"] for line in lines]


def _measure(vectors: Iterable[bytes | None]) -> tuple[int, int]:
    """Returns how many rows and how many numbers in each. Raises when they differ."""
    count, width = 0, 0
    for vector in vectors:
        count += 1
        if vector is not None:
            if width and len(vector) // 4 != width:
                raise UsageError(
                    f"One run holds vectors of {width} and of {len(vector) // 4} numbers.",
                    "Run: penstock embed OUT --fresh",
                )
            width = len(vector) // 4
    return count, width


def _write(
    out: Out, name: str, rows: Iterable[VectorRow], shape: tuple[int, int], precision: Precision
) -> list[Path]:
    """Writes row by row: 40,781 pages of 2,048 numbers are never in memory at once."""
    array, ids = out / FOLDER / f"{name}.npy", out / FOLDER / f"{name}.ids.jsonl"
    kind = np.dtype(precision)
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    nothing = np.zeros(shape[1], kind).tobytes()
    with ExitStack() as stack:
        lines, numbers = (stack.enter_context(replacing(path, out)) for path in (ids, array))
        np.lib.format.write_array_header_1_0(numbers, header)
        for number, row in enumerate(rows):
            line = {"row": number, "id": row.id, "valid": row.vector is not None, **row.facts}
            lines.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            numbers.write(nothing if row.vector is None else _as(row.vector, precision))
    return [array, ids]


def _as(row: bytes, precision: Precision) -> bytes:
    """int8 rows are scaled to their own largest number: a direction needs no common scale."""
    vector: NDArray[Any] = np.frombuffer(row, "<f4")
    if precision == "int8":
        vector = np.rint(vector * (127 / np.abs(vector).max()))
    return vector.astype(precision).tobytes()


def _remove(out: Out, name: str) -> None:
    for suffix in (".npy", ".ids.jsonl"):
        remove(out, out / FOLDER / f"{name}{suffix}")


@dataclass(frozen=True, slots=True)
class VectorTable:
    """One .npy with its ids. `array` is mapped from the disk; `valid` tells rows that hold a vector."""

    name: str
    array: NDArray[Any]
    ids: list[str]
    valid: list[bool]
    facts: list[dict[str, Any]]

    def unit(self) -> NDArray[np.float32]:
        """Returns all rows as float32 of length 1; rows without a vector stay zero."""
        rows = np.asarray(self.array, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        made: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return made

    def chunks(self, size: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Unit rows, `size` at a time with the number of the first."""
        for start in range(0, len(self.ids), size):
            part = VectorTable(self.name, self.array[start : start + size], [], [], [])
            yield start, part.unit()


def read(out: Out, name: str) -> VectorTable | None:
    """Returns the vectors of that name, or None where there are none. Raises StoreError on any mismatch."""
    array, ids = out / FOLDER / f"{name}.npy", out / FOLDER / f"{name}.ids.jsonl"
    if not array.is_file():
        return None
    if not ids.is_file():
        raise StoreError(f"{array} has lost its ids ({ids.name}).", "Run: penstock embed OUT")
    rows = [json.loads(line) for line in ids.read_text("utf-8").split("\n") if line]
    values = np.load(array, mmap_mode="r")
    if len(rows) != len(values):
        raise StoreError(f"{array} has {len(values)} rows and {len(rows)} ids.", "Run: penstock embed OUT")
    table = VectorTable(name, values, [row["id"] for row in rows], [row["valid"] for row in rows], rows)
    if name in (IMAGES, TEXTS) and table.ids != result_ids(out):
        raise StoreError(f"The rows of {array} are not those of {RESULTS}.", "Run: penstock embed OUT")
    return table
