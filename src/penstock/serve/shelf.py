"""The documents of an OUT by name, kept up with what a run is still writing there."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from pathlib import Path

from penstock.item import Item
from penstock.store.documents import read_order
from penstock.store.shards import FAILURES_DIR, ITEMS_DIR, MAX_ROWS, Entry, Ledger

LOOK_S = 2.0  # between two looks at the folder
SPARING = 20.0  # looks may take a twentieth of the time: 100,000 pages take a second or two
RECENT = 4 * MAX_ROWS  # pages the writer may not have committed yet, and as many again


class Shelf:
    """Finds pages by document and number. Thread-safe; opens no shard until a page is asked for.

    `follows` a run that another process writes; else what is new is `put` here.
    """

    def __init__(self, out: Path, follows: bool) -> None:
        self._out = out
        self._follows = follows
        self._lock = threading.Lock()
        self._ledger = Ledger(out)
        self._entries: dict[str, Entry] = {}
        self._parts: dict[str, dict[int, tuple[str, bool]]] = defaultdict(dict)  # id, and whether it is well
        self._recent: OrderedDict[str, Item] = OrderedDict()
        self._stamp: tuple[int, ...] = ()
        self._next_look = float("-inf")
        with self._lock:
            self._look()

    def put(self, item: Item) -> None:
        """A page that was just finished; its row may still be in the writer's hands."""
        with self._lock:
            self._parts[item.document][item.part] = item.id, item.failure is None
            self._recent[item.id] = item
            while len(self._recent) > RECENT:
                self._recent.popitem(last=False)

    def page(self, document: str, part: int) -> Item | None:
        with self._lock:
            self._keep_up()
            item_id, _ = self._parts.get(document, {}).get(part, ("", False))
            if item_id in self._recent or not item_id:
                return self._recent.get(item_id)
            if item_id not in self._entries:
                self._look()
            return self._ledger.item(self._entries[item_id])

    def parts(self, document: str) -> dict[int, bool]:
        """The pages that are done, by number, and whether each went well."""
        with self._lock:
            self._keep_up()
            return {part: well for part, (_, well) in sorted(self._parts.get(document, {}).items())}

    def documents(self) -> list[str]:
        """In source order; those of which no run told the order at the end."""
        with self._lock:
            self._keep_up()
            order = [name for name in read_order(self._out) if name in self._parts]
            return list(dict.fromkeys([*order, *self._parts]))

    def _keep_up(self) -> None:
        if self._follows and time.monotonic() >= self._next_look:
            self._look()

    def _look(self) -> None:
        """Reads the keys again if the folders of shards have changed."""
        began = time.monotonic()
        folders = [self._out / name for name in (ITEMS_DIR, FAILURES_DIR)]
        stamp = tuple(folder.stat().st_mtime_ns if folder.is_dir() else 0 for folder in folders)
        if stamp != self._stamp:
            self._entries, self._stamp = self._ledger.entries(), stamp
            for entry in self._entries.values():
                self._parts[entry.document][entry.part] = entry.id, not entry.failed
        now = time.monotonic()
        self._next_look = now + max(LOOK_S, SPARING * (now - began))
