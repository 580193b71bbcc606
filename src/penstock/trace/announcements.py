"""Lets a worker tell the watch of its run about something it opened.

Global, because a worker is opened without any handle of the run it belongs to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

News = TypeVar("News")


class Announcements(Generic[News]):
    """Sends an event to all listeners; without one it is dropped. Thread-safe."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[News], None]] = []
        self._lock = threading.Lock()

    def tell(self, news: News) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(news)

    @contextmanager
    def heard_by(self, listener: Callable[[News], None]) -> Iterator[None]:
        """Calls `listener` for each event while the `with` lasts."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)
