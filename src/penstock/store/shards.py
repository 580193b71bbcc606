"""Writes and reads shards with a checksum for every page of theirs, and says which one is damaged.

FORMAT is the number of run.json and of every shard's columns. It changes when an older Penstock, or this one
with an older OUT, would read something else than was written; then the OUT is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.types import is_integer, is_string

from penstock.errors import StoreError, first_line
from penstock.store.ownership import SHARD_MARK

FORMAT = 1
KEYS = {"id": is_string, "attempt": is_integer, "document": is_string, "part": is_integer}
MAX_REASON_CHARS = 200  # of Arrow's own words


def format_problem(path: Path, number: object) -> str:
    """Returns the sentence for a file of another format than ours; nothing for one of ours."""
    if str(number) == str(FORMAT):
        return ""
    named = f"of format {number}" if number else "of no known format"
    return f"{path} is {named}; this Penstock reads format {FORMAT}."


def write_shard(table: pa.Table, file: IO[bytes]) -> None:
    marked = table.replace_schema_metadata({**(table.schema.metadata or {}), SHARD_MARK: str(FORMAT)})
    pq.write_table(marked, file, compression="zstd", write_page_checksum=True)


def read_shard(shard: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Returns the shard, or those of `columns` that it has. Raises StoreError if they are damaged."""
    with shard_errors(shard), pq.ParquetFile(shard, page_checksum_verification=True) as file:
        number = (file.schema_arrow.metadata or {}).get(SHARD_MARK, b"").decode("ascii", "replace")
        if problem := format_problem(shard, number):
            raise StoreError(
                problem, "Read the inputs again into another OUT, or run: penstock check OUT --repair."
            )
        known = set(file.schema_arrow.names)
        return file.read(None if columns is None else [name for name in columns if name in known])


def key_problem(table: pa.Table) -> str:
    """Returns what is wrong with the columns that every shard has; nothing if all is well."""
    for name, is_kind in KEYS.items():
        if name not in table.column_names:
            return f"it has no column {name!r}"
        column = table[name]
        if not is_kind(column.type) or column.null_count:
            return f"its column {name!r} holds other values than a shard's"
    return ""


@contextlib.contextmanager
def shard_errors(shard: Path) -> Iterator[None]:
    """Turns what a damaged shard raises into a sentence with the way out. One that is gone is no damage."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as exc:
        reason = first_line(exc)[:MAX_REASON_CHARS]
        raise StoreError(
            f"{shard} is damaged, or of another version ({reason}).",
            "Run: penstock check OUT --repair, then the same command again.",
        ) from exc
