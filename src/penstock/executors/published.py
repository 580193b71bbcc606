"""Passes on what a machine finished when its rows are published; at once where the driver writes them.

An item that is finished and not yet published is lost with its machine, so the driver must not count it.
"""

from __future__ import annotations

import threading

from penstock.executors.base import ItemWriter
from penstock.item import Item


class Published:
    """Holds finished items until `writer` has published them. Thread-safe."""

    def __init__(self, writer: ItemWriter | None) -> None:
        self._writer = writer
        self._waiting: list[Item] = []
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def add(self, item: Item) -> list[Item]:
        """Returns the items that are published now."""
        if self._writer is None:
            return [item]
        with self._lock:
            self._waiting.append(self._writer.add(item))
            return self._taken()

    def commit(self, due_only: bool = False) -> list[Item]:
        """Publishes what waits, or only what has waited long enough. Returns it."""
        if self._writer is None:
            return []
        with self._lock:
            if self._waiting and (self._writer.is_due or not due_only):
                self._writer.commit()
            return self._taken()

    def _taken(self) -> list[Item]:
        if self._writer is None or self._writer.num_buffered:
            return []
        taken, self._waiting = self._waiting, []
        return taken
