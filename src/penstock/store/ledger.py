"""The ledger: rows in Parquet shards that are published and marked done by one rename.

A shard is named by a hash of its ids and attempts, so a repeated commit overwrites itself; before it stands
the rank that wrote it, so that each of 1,000 ranks reads back only its own. An id may stand in several shards
with different attempts; readers take the latest.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Generic

import pyarrow as pa

from penstock.page import Page
from penstock.photo import Photo, PhotoObject
from penstock.region import Asset, Region, content_name
from penstock.stage import ItemT
from penstock.store import schema
from penstock.store.atomic_files import replacing
from penstock.store.shard_names import shards_in
from penstock.store.shards import key_problem, read_shard, shard_errors, write_shard

log = logging.getLogger(__name__)
ITEMS_DIR, FAILURES_DIR = "items", "failures"

MAX_ROWS = 256  # a page's row is some 20 kB: shards of a few MB
MAX_AGE_S = 10.0  # what a crash may cost at most, besides the pages in flight
OPEN_SHARDS = 8  # pages finish nearly in source order, so a document lies in few neighbouring shards


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the latest row of an id is, and what its place in a document is."""

    id: str
    attempt: int
    document: str
    part: int
    shard: Path
    row: int
    failed: bool
    num_failed_regions: int = 0

    @property
    def incomplete(self) -> bool:
        return self.failed or self.num_failed_regions > 0


class ShardWriter(Generic[ItemT]):
    """Buffers finished items and commits them. Only the driver that holds OUT's lock has one; where OUT is on
    a store, each machine of its run.

    Thread-safe: a service commits from the thread that has nothing to feed.
    """

    def __init__(
        self,
        out: Path,
        rows: schema.Rows[ItemT],
        clock: Callable[[], float] = time.monotonic,
        on_commit: Callable[[list[Path]], object] = lambda _: None,
        rank: str = "",
        on_row: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._out = out
        self._prefix = f"{rank}-" if rank else ""
        self._on_commit = on_commit  # gets the files that rows name, and last the shard
        self._on_row = on_row  # gets the id of each item that is committed
        self._files: list[Path] = []
        self._clock = clock
        self._rows = rows
        self._items: list[ItemT] = []
        self._failures: list[ItemT] = []
        self._oldest = 0.0
        self._lock = threading.RLock()

    def add(self, item: ItemT) -> ItemT:
        """Buffers one finished item, and commits when the buffer is full or old.

        Returns it as it will be read back: crops, masks and clouds are files now.
        """
        item = self._with_files(item) if item.failure is None else item
        with self._lock:
            if not self._items and not self._failures:
                self._oldest = self._clock()
            (self._items if item.failure is None else self._failures).append(item)
            if self.is_due:
                self.commit()
        return item

    def commit(self) -> None:
        """Publishes what is buffered. Crops are on disk before the rows that name them."""
        with self._lock:
            if self._items:
                self._publish(ITEMS_DIR, self._rows.items, self._items)
            if self._failures:
                self._publish(FAILURES_DIR, self._rows.failures, self._failures)
            committed = [*self._items, *self._failures]
            self._items, self._failures = [], []
        for item in committed:
            self._on_row(item.id)

    @property
    def num_buffered(self) -> int:
        return len(self._items) + len(self._failures)

    @property
    def is_due(self) -> bool:
        full = self.num_buffered >= MAX_ROWS
        return full or (self.num_buffered > 0 and self._clock() - self._oldest >= MAX_AGE_S)

    def _publish(self, folder: str, rows_schema: pa.Schema, items: list[ItemT]) -> None:
        rows = [schema.storable(self._rows.to_row(item)) for item in items]
        table = pa.Table.from_pylist(rows, schema=rows_schema)
        keys = sorted(f"{item.id}\0{item.attempt}" for item in items)
        name = self._prefix + content_name("\n".join(keys).encode())
        with replacing(self._out / folder / f"{name}.parquet", self._out) as file:
            write_shard(table, file)
        self._on_commit([*self._files, self._out / folder / f"{name}.parquet"])
        self._files = []
        shard = f"{folder}/{name}.parquet"
        log.info("committed %d rows: %s", len(rows), shard, extra={"shard": shard, "rows": len(rows)})

    def _with_files(self, item: ItemT) -> ItemT:
        """Returns the item with its assets written: on disk before the row that names them."""
        if isinstance(item, Page):
            regions = tuple(self._with_crop_file(region) for region in item.regions)
            return replace(item, regions=regions, raw_answer=self._stored(item.raw_answer))
        if isinstance(item, Photo):
            return replace(item, objects=tuple(self._with_object_files(thing) for thing in item.objects))
        return item

    def _with_crop_file(self, region: Region) -> Region:
        return replace(region, crop=self._stored(region.crop)) if region.crop is not None else region

    def _stored(self, asset: Asset | None) -> Asset | None:
        if asset is None:
            return None
        self._keep(asset.data, asset.path)
        return asset.stored()

    def _with_object_files(self, thing: PhotoObject) -> PhotoObject:
        self._keep(thing.mask, thing.mask_path)
        self._keep(thing.cloud, thing.cloud_path)
        self._keep(thing.mesh, thing.mesh_path)
        return replace(thing, mask=None, cloud=None, mesh=None)

    def _keep(self, data: bytes | None, path: str | None) -> None:
        if data is None or path is None:
            return
        target = self._out / path
        self._files.append(target)
        if not target.exists():  # named by content: the same logo on 1,000 pages is one file
            with replacing(target, self._out) as file:
                file.write(data)


class Ledger(Generic[ItemT]):
    """Reads a folder of shards, for a `rank` without those of the others. Cheap to make; reads only keys
    until rows are asked for."""

    def __init__(
        self,
        out: Path,
        rows: schema.Rows[ItemT],
        mended: Callable[[ItemT], ItemT] = lambda item: item,
        rank: str = "",
    ) -> None:
        self._out = out
        self._rows = rows
        self._rank = rank
        self._mended = mended
        self._table = lru_cache(maxsize=OPEN_SHARDS)(read_shard)

    def entries(self) -> dict[str, Entry]:
        """Returns the latest entry of every id that is done, whether it went well or failed."""
        latest: dict[str, Entry] = {}
        for entry in self._all_entries():
            known = latest.get(entry.id)
            if known is None or entry.attempt >= known.attempt:
                latest[entry.id] = entry
        return latest

    def item(self, entry: Entry) -> ItemT:
        table = self._table(entry.shard)
        with shard_errors(entry.shard):
            item = self._rows.from_row(table.slice(entry.row, 1).to_pylist()[0])
        return self._mended(item)

    def _all_entries(self) -> Iterator[Entry]:
        # failures first: where an id failed and succeeded in the same attempt, the success counts
        for folder, failed in ((FAILURES_DIR, True), (ITEMS_DIR, False)):
            for shard in shards_in(self._out / folder, self._rank):
                yield from _entries(shard, failed)


def has_rows(out: Path) -> bool:
    """Returns whether any page was read or failed there, without opening a shard."""
    return any(shards_in(out / folder) for folder in (ITEMS_DIR, FAILURES_DIR))


def _entries(shard: Path, failed: bool) -> Iterator[Entry]:
    names = ["id", "attempt", "document", "part"] + ([] if failed else ["num_failed_regions"])
    table = read_shard(shard, names)
    with shard_errors(shard):
        if problem := key_problem(table):
            raise ValueError(problem)
        columns = table.to_pydict()
        broken = columns.get("num_failed_regions", [0] * len(columns["id"]))
        keys = zip(
            columns["id"], columns["attempt"], columns["document"], columns["part"], broken, strict=True
        )
    for row, (id, attempt, document, part, num_failed) in enumerate(keys):
        yield Entry(id, attempt, document, part, shard, row, failed, num_failed)
