"""Corrections that people typed: rows of their own below OUT, which later runs neither change nor delete.

Each correction is a shard, published by one rename. Nothing is overwritten: the latest one at a place counts,
and those before it are its history. `Out.pages` gives pages with their corrections.

    corrections = Corrections(Path("out"))
    corrections.add(Correction(document="a.pdf", part=0, region=3, before="O.5", after="0.5", ...))
    page = corrections.mended(page)
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from penstock.addresses.locator import Locator
from penstock.box import Box
from penstock.page import Page
from penstock.photo import Photo
from penstock.plugins import load
from penstock.region import content_name
from penstock.store.atomic_files import replacing
from penstock.store.contents import CORRECTIONS
from penstock.store.schema import BOX, storable
from penstock.store.shard_names import shards_in
from penstock.store.shards import read_shard, shard_errors, write_shard

# opened by its name: what makes Markdown and tables of a text is a document's business, not the store's
MENDER = "penstock.documents.pages.corrected:corrected"
SETTLED_NS = 2_000_000_000  # a folder that changed this recently may change again within its clock's tick
ROW = pa.schema(
    [
        ("document", pa.string()),
        ("part", pa.int64()),
        ("page_id", pa.string()),
        ("region", pa.int32()),
        ("line", pa.int32()),
        ("row", pa.int32()),
        ("column", pa.int32()),
        ("box", BOX),
        ("before", pa.string()),
        ("after", pa.string()),
        ("who", pa.string()),
        ("at", pa.int64()),
    ]
)
ItemT = TypeVar("ItemT", Page, Photo, Page | Photo)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What someone wrote in the place of what was read, at a region, or at a line or a cell of it.

    `box` is the region's, and `page_id` the page's: with them it finds its place when the page is read again.
    `at` is in nanoseconds since 1970.
    """

    document: str
    part: int
    page_id: str
    region: int
    line: int | None = None
    row: int | None = None
    column: int | None = None
    box: Box
    before: str
    after: str
    who: str
    at: int

    @property
    def cell(self) -> tuple[int, int] | None:
        return (self.row, self.column) if self.row is not None and self.column is not None else None

    @property
    def locator(self) -> Locator:
        return Locator(
            document=self.document, page=self.part + 1, region=self.region, line=self.line, cell=self.cell
        )


class Corrections:
    """The corrections of an OUT. Thread-safe; notices those that other processes add."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._folder = out / CORRECTIONS
        self._lock = threading.Lock()
        self._found: dict[tuple[str, int], list[Correction]] = {}
        self._stamp = -1

    def add(self, correction: Correction) -> None:
        """Publishes it. It is on the disk when this returns."""
        row = storable({**asdict(correction), "box": list(correction.box)})
        name = content_name(repr(sorted(row.items())).encode())
        with replacing(self._folder / f"{name}.parquet", self._out) as file:
            write_shard(pa.Table.from_pylist([row], schema=ROW), file)

    def of_page(self, document: str, part: int) -> Sequence[Correction]:
        """Returns those of a page, oldest first."""
        self._look()
        return self._found.get((document, part), ())

    def all(self) -> list[Correction]:
        """Returns every correction, oldest first."""
        self._look()
        return sorted((one for own in self._found.values() for one in own), key=lambda one: one.at)

    def mended(self, item: ItemT) -> ItemT:
        """Returns the page as people corrected it."""
        if not isinstance(item, Page) or item.failure is not None:
            return item
        own = self.of_page(item.document, item.part)
        mend: Callable[[Page, Sequence[Correction]], ItemT] = load(MENDER) if own else _as_it_is
        return mend(item, own)

    def _look(self) -> None:
        with self._lock:
            stamp = changed_ns(self._folder)
            if stamp == self._stamp:
                return
            found: defaultdict[tuple[str, int], list[Correction]] = defaultdict(list)
            for shard in shards_in(self._folder):
                for one in _read(shard):
                    found[one.document, one.part].append(one)
            for own in found.values():
                own.sort(key=lambda one: one.at)
            self._found = dict(found)
            self._stamp = stamp if time.time_ns() - stamp > SETTLED_NS else -1


def _as_it_is(page: Any, own: Sequence[Correction]) -> Any:
    return page


def changed_ns(folder: Path) -> int:
    """Returns when a file was last put into a folder, in nanoseconds since 1970; 0 where it is not there."""
    try:
        return folder.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _read(shard: Path) -> list[Correction]:
    table = read_shard(shard)
    with shard_errors(shard):
        return [Correction(**{**row, "box": tuple(row["box"])}) for row in table.to_pylist()]
