"""Objects on a machine of a cluster that did not list them: brought before a page is read, and deleted again.

The driver fetched them to count their pages; other machines do not see its disk. A file is kept while a page
of it is at work; when there are too many, the one that was used longest ago goes first.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import BadInput, StoreError
from penstock.item import Item
from penstock.object_stores import ObjectName, object_errors, opened
from penstock.processes.scratch import scratch_folder
from penstock.sources.probe import as_failure
from penstock.sources.remote.objects import ADVICE, StoredObject, kept_name

if TYPE_CHECKING:
    from obstore.store import ObjectStore

MAX_KEPT_BYTES = 32 << 30
CHANGED = "has changed in the store since it was listed."


@dataclass(frozen=True, slots=True)
class BringObjects:
    """Opens what brings objects to a machine; pickles."""

    max_bytes: int = MAX_KEPT_BYTES

    def open(self) -> BroughtFiles:
        return BroughtFiles(scratch_folder("objects"), self.max_bytes)


@dataclass
class BroughtFiles:
    """The objects on this machine. Thread-safe: pages of one file wait for it together."""

    folder: Path
    max_bytes: int = MAX_KEPT_BYTES
    _stores: dict[str, ObjectStore] = field(default_factory=dict, init=False)
    _sizes: OrderedDict[Path, int] = field(default_factory=OrderedDict, init=False)  # used last comes last
    _at_work: Counter[Path] = field(default_factory=Counter, init=False)
    _uris: dict[str, str] = field(default_factory=dict, init=False)  # as they were listed, by item
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _of_file: defaultdict[Path, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock), init=False
    )

    def bring(self, item: Item) -> Item:
        """Returns the item with a file of this machine, or with the reason why there is none."""
        if item.stored is None or Path(item.uri).is_file():
            return item
        path = self.folder / kept_name(item.stored)
        with self._lock:
            self._at_work[path] += 1
            self._uris[item.id] = item.uri
            alone = self._of_file[path]
        with alone:
            try:
                self._fetch(item.stored, path)
            except StoreError as exc:
                unreachable = BadInput(f"cannot be fetched: {exc}")
                return replace(item, uri=str(path), failure=as_failure(item.document, unreachable))
            except BadInput as exc:
                return replace(item, uri=str(path), failure=as_failure(item.document, exc))
        return replace(item, uri=str(path))

    def give_back(self, item: Item) -> Item:
        """Returns the item as it was listed. Its file may go when no other page of it is at work."""
        uri = self._uris.pop(item.id, None)
        if uri is None:
            return item
        with self._lock:
            self._at_work[Path(item.uri)] -= 1
            self._make_room()
        return replace(item, uri=uri)

    def _fetch(self, stored: ObjectName, path: Path) -> None:
        import obstore

        with object_errors(f"{stored.address}/{stored.key}", ADVICE):
            try:
                store = self._store(stored.address)
                facts = obstore.head(store, stored.key)
            except FileNotFoundError as exc:
                raise BadInput("is no longer in the store.") from exc
        if (facts["e_tag"] or "") != stored.tag:
            raise BadInput(CHANGED, "Run the same command again.")
        size = facts["size"]
        StoredObject(
            store, stored.address, stored.key, size, facts["last_modified"], path, stored.tag
        ).fetch()
        with self._lock:
            self._sizes[path] = size
            self._sizes.move_to_end(path)
            self._make_room()

    def _store(self, address: str) -> ObjectStore:
        with self._lock:
            if address not in self._stores:
                self._stores[address] = opened(address)
            return self._stores[address]

    def _make_room(self) -> None:
        for path in list(self._sizes):
            if sum(self._sizes.values()) <= self.max_bytes:
                return
            if not self._at_work[path]:
                del self._sizes[path], self._at_work[path]
                path.unlink(missing_ok=True)
