"""Deletes documents from a ledger: their rows, and the files that no other row names.

A shard that holds such rows is written again without them, under the name of what is left. Call it only in
the process that holds OUT's lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from penstock.region import content_name
from penstock.store.atomic_files import replacing, store_errors
from penstock.store.check import NAMED_IN_LISTS
from penstock.store.contents import CORRECTIONS
from penstock.store.ledger import FAILURES_DIR, ITEMS_DIR
from penstock.store.ownership import remove
from penstock.store.shard_names import shards_in
from penstock.store.shards import read_shard, write_shard


def delete_documents(out: Path, documents: Set[str]) -> int:
    """Returns how many rows were deleted."""
    gone: set[str] = set()
    rows = 0
    for shard in _shards(out):
        column = read_shard(shard, ["document"])["document"]
        of_them = pc.is_in(column, value_set=pa.array(sorted(documents), pa.string()))
        if not pc.any(of_them).as_py():
            continue
        table = read_shard(shard)
        gone |= _named(table.filter(of_them))
        rows += pc.sum(of_them).as_py()
        _rewrite(out, shard, table.filter(pc.invert(of_them)))
    for shard in shards_in(out / CORRECTIONS):
        if not documents.isdisjoint(read_shard(shard, ["document"])["document"].to_pylist()):
            remove(out, shard)
    for path in gone - _all_named(out) if gone else ():
        with store_errors(out / path):
            remove(out, out / path)
    return rows


def _rewrite(out: Path, shard: Path, left: pa.Table) -> None:
    """Puts what is left in the shard's place: first the new file, then the end of the old one."""
    if left.num_rows:
        pairs = zip(left["id"].to_pylist(), left["attempt"].to_pylist(), strict=True)
        name = content_name("\n".join(sorted(f"{id}\0{attempt}" for id, attempt in pairs)).encode())
        with replacing(shard.with_name(f"{name}.parquet"), out) as file:
            write_shard(left, file)
    with store_errors(shard):
        remove(out, shard)


def _all_named(out: Path) -> set[str]:
    columns = [column for column, _ in NAMED_IN_LISTS]
    return {path for shard in _shards(out) for path in _named(read_shard(shard, columns))}


def _named(table: pa.Table) -> set[str]:
    """Returns the files below OUT that rows name."""
    found: set[str] = set()
    for column, field in NAMED_IN_LISTS:
        if column in table.column_names:
            for rows in table[column].to_pylist():
                found |= {row[field] for row in rows or () if row.get(field)}
    return found


def _shards(out: Path) -> Iterator[Path]:
    for folder in (ITEMS_DIR, FAILURES_DIR):
        yield from shards_in(out / folder)
