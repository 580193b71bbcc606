"""Finds the documents of an OUT by name, including those that a run is still writing."""

from __future__ import annotations

import sys
import threading
import time
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from pathlib import Path

from penstock.page import Page
from penstock.photo import Photo
from penstock.store.corrections import Corrections
from penstock.store.ledger import FAILURES_DIR, ITEMS_DIR, MAX_ROWS, Entry, Ledger
from penstock.store.schema import PAGES_OR_PHOTOS
from penstock.store.source_order import in_source_order, order_files, read_order

LOOK_S = 2.0  # between two looks at the folder
SPARING = 20.0  # looks may take a twentieth of the time: 100,000 pages take a second or two
RECENT = 4 * MAX_ROWS  # pages the writer may not have committed yet, and as many again


@dataclass(frozen=True, slots=True)
class Place:
    """Which item is a page of a document, and whether all of the page was read."""

    id: str
    attempt: int
    ok: bool


class Catalogue:
    """Finds pages by document and number. Thread-safe; opens no shard before a page is requested.

    With `follows` it watches a run that another process writes; otherwise the caller `put`s new pages.
    """

    def __init__(self, out: Path, follows: bool) -> None:
        self._out = out
        self._follows = follows
        self._lock = threading.Lock()
        self._corrections = Corrections(out)
        self._ledger = Ledger(out, PAGES_OR_PHOTOS, self._corrections.mended)
        self._entries: dict[str, Entry] = {}
        self._places: dict[str, dict[int, Place]] = {}
        self._order: list[str] = []
        self._hidden: set[str] = set()
        self._recent: OrderedDict[str, Page | Photo] = OrderedDict()
        self._stamp: tuple[int, ...] = ()
        self._next_look = float("-inf")
        with self._lock:
            self._look()

    def put(self, item: Page | Photo) -> None:
        """Adds a page that was just finished; its row may not be committed yet."""
        with self._lock:
            if item.document in self._hidden:
                return
            self._recent[item.id] = item
            while len(self._recent) > RECENT:
                self._recent.popitem(last=False)
            # other threads and processes have handed the page on: its name is a copy each time
            self._places.setdefault(sys.intern(item.document), {})[item.part] = _place(item)

    def start_over(self) -> None:
        """Forgets pages that are not on the disk."""
        with self._lock:
            self._recent.clear()
            self._stamp = ()
            self._look()

    def forget(self, document: str, parts: set[int]) -> None:
        """Counts these pages as not read: they will be read again."""
        with self._lock:
            for part in parts:
                self._places[document].pop(part, None)

    def hide(self, document: str) -> None:
        """Shows a document no more, whatever the disk holds of it."""
        with self._lock:
            self._hidden.add(document)
            for id in [item.id for item in self._recent.values() if item.document == document]:
                del self._recent[id]
            self._places.pop(document, None)

    def show(self, document: str) -> None:
        """Shows a hidden document again."""
        with self._lock:
            self._hidden.discard(document)

    def look_again(self) -> None:
        """Reads the keys again: shards were written anew."""
        with self._lock:
            self._stamp = ()
            self._look()

    def page(self, document: str, part: int) -> Page | Photo | None:
        with self._lock:
            self._keep_up()
            place = self._places.get(document, {}).get(part)
            if place is None:
                return None
            if place.id not in self._recent and place.id not in self._entries:
                self._look()
            if place.id in self._recent:
                return self._corrections.mended(self._recent[place.id])
            entry = self._entries.get(place.id)
            return self._row(entry) if entry is not None else None

    def places(self, document: str) -> dict[int, Place]:
        """Returns the pages that are done, by number."""
        with self._lock:
            self._keep_up()
            return dict(sorted(self._places.get(document, {}).items()))

    def documents(self) -> list[str]:
        """Returns names in source order; documents without a recorded order come last."""
        with self._lock:
            self._keep_up()
            return list(dict.fromkeys([*self._order, *self._places]))

    def _row(self, entry: Entry) -> Page | Photo | None:
        try:
            return self._ledger.item(entry)
        except FileNotFoundError:  # the run was started over since the last look
            self._next_look = float("-inf")
            return None

    def _keep_up(self) -> None:
        if self._follows and time.monotonic() >= self._next_look:
            self._look()

    def _look(self) -> None:
        """Reads the keys again if the shard folders have changed."""
        began = time.monotonic()
        paths = [self._out / ITEMS_DIR, self._out / FAILURES_DIR, *order_files(self._out)]
        stamp = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)
        if stamp != self._stamp:
            self._read()
            self._stamp = stamp
        now = time.monotonic()
        self._next_look = now + max(LOOK_S, SPARING * (now - began))

    def _read(self) -> None:
        # a ledger remembers rows, and a run that is started over has new ones
        self._ledger = Ledger(self._out, PAGES_OR_PHOTOS, self._corrections.mended)
        try:
            self._entries = self._ledger.entries()
        except FileNotFoundError:  # started over in this moment; the next look will find the new run
            self._entries = {}
        order = read_order(self._out)
        places: dict[str, dict[int, Place]] = defaultdict(dict)
        for entry in in_source_order(self._entries.values(), order):
            if entry.document in self._hidden:
                continue
            places[entry.document][entry.part] = Place(entry.id, entry.attempt, not entry.incomplete)
        for item in self._recent.values():
            places[item.document][item.part] = _place(item)
        self._places, self._order = dict(places), [name for name in order if name in places]


def _place(item: Page | Photo) -> Place:
    ok = item.failure is None and next(item.failed_parts(), None) is None
    return Place(item.id, item.attempt, ok)
