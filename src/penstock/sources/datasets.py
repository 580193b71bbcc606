"""Lists the rows of a dataset of pictures as items.

A row's item names its shard, its row and the column. Only the id column is read until a worker needs the
picture. `tables` does the parsing, in a process that can be killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.errors import ItemError
from penstock.item import Item
from penstock.processes.child import Child
from penstock.sources.folders import Dataset
from penstock.sources.formats import NoPictures
from penstock.sources.ids import hashed, safe_document, safe_id, safe_stem
from penstock.sources.names.seen import SeenNames
from penstock.sources.page_range import PageRange
from penstock.sources.probe import PROBE_DEADLINE_S, as_failure
from penstock.sources.probe_questions import Columns, FindColumns, ReadIds, TableQuestion, open_tables
from penstock.sources.shard_ref import ShardRef


class DatasetListing:
    """Lists datasets. Holds the process that parses them; close it, or use it in a `with`."""

    def __init__(
        self,
        pages: PageRange | None = None,
        image_column: str | None = None,
        id_column: str | None = None,
    ) -> None:
        self._child: Child[TableQuestion, Any] = Child(open_tables, name="the file probe", confined=True)
        self._pages = pages
        self._image_column = image_column
        self._id_column = id_column
        self._taken = SeenNames()  # ids
        self._names, self._listed = SeenNames(), SeenNames()  # of datasets, and their shards

    def __enter__(self) -> DatasetListing:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    def has_listed(self, dataset: Dataset) -> bool:
        return _shards(dataset) in self._listed

    def items(self, dataset: Dataset) -> Iterator[Item]:
        """Yields every row, one failed item for a shard that cannot be read, nothing without pictures."""
        dataset = self._named(dataset)
        first = 0
        for shard in dataset.shards:
            rows = 0
            try:
                question = FindColumns(str(shard), self._image_column, self._id_column)
                columns: Columns = self._child.call(question, PROBE_DEADLINE_S)
                for item in self._shard_items(dataset, shard, columns, first):
                    rows += 1
                    if self._pages is None or item.part + 1 in self._pages:
                        yield item
            except NoPictures as exc:
                if dataset.named:
                    yield _failed(dataset, shard, first, 0, exc)
            except ItemError as exc:
                yield _failed(dataset, shard, first, rows, exc)
            first += rows
            if self._pages is not None and first >= self._pages.last:
                return

    def _named(self, dataset: Dataset) -> Dataset:
        """Returns the dataset with a name that no other has in this listing."""
        name, number = dataset.name, 2
        while name in self._names:
            name, number = f"{dataset.name}-{number}", number + 1
        self._names.add(name)
        self._listed.add(_shards(dataset))
        return replace(dataset, name=name)

    def _shard_items(self, dataset: Dataset, shard: Path, columns: Columns, first: int) -> Iterator[Item]:
        media = "parquet" if columns.is_parquet else "arrow"
        prefix, document = _prefix(dataset, shard), _document(dataset)
        uri = ShardRef(shard, first, columns.image).uri
        start = 0
        while ids := self._ids(shard, columns.id, start):
            for row, own in enumerate(ids, start):
                part = first + row
                yield Item(
                    id=self._unique(own, prefix, row), uri=uri, document=document, part=part, media=media
                )
                if self._pages is not None and part + 1 >= self._pages.last:
                    return
            start += len(ids)

    def _ids(self, shard: Path, column: str | None, start: int) -> list[str | None]:
        ids: list[str | None] = self._child.call(ReadIds(str(shard), column, start), PROBE_DEADLINE_S)
        return ids

    def _unique(self, own: str | None, prefix: str, row: int) -> str:
        """Returns the row's own id, with its number if the id is taken; without an id, shard and number.

        Numbers count within the shard: a shard that is repaired later changes no ids but its own.
        """
        if own is None or not own.strip():
            return f"{prefix}/{row:08d}"
        row_id = safe_id(own)
        while row_id in self._taken:
            row_id = f"{row_id}-{row}"
        self._taken.add(row_id)
        return row_id


def _shards(dataset: Dataset) -> str:
    return "\0".join(map(str, dataset.shards))


def _prefix(dataset: Dataset, shard: Path) -> str:
    """Begins the ids of a shard's rows: the same for the same file, from whatever folder it is listed."""
    try:
        status = shard.stat()
    except OSError:
        return f"{safe_stem(_last(dataset))}-{hashed(dataset.name, shard.name, 'missing')}"
    fact = hashed(dataset.name, shard.name, status.st_size, status.st_mtime_ns)
    return f"{safe_stem(_last(dataset))}-{fact}"


def _last(dataset: Dataset) -> str:
    return dataset.name.rpartition("/")[2]


def _document(dataset: Dataset) -> str:
    return safe_document(dataset.name.split("/"))


def _failed(dataset: Dataset, shard: Path, first: int, row: int, exc: ItemError) -> Item:
    document = _document(dataset)
    where = f"{document}, {shard.name}"
    return Item(
        id=f"{_prefix(dataset, shard)}/{row:08d}",
        uri=ShardRef(shard, first, "").uri,
        document=document,
        part=first + row,
        failure=as_failure(where, exc),
    )
