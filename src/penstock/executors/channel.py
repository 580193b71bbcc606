"""Bounded, closable queue that hands out batches.

Closing wakes everyone: takers drain what is left, putters get `Closed`. `abort` also throws away
what is queued. Not a priority queue; not for use across processes (see processes/child.py).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


def _always() -> bool:
    return True


class Closed(Exception):
    """The channel takes nothing more, or has nothing left to give."""


class Channel(Generic[T]):
    """At most `capacity` things wait in it."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.moves = 0  # puts and takes so far: the no-progress guard watches it
        self.puts = 0
        self._things: deque[T] = deque()
        self._closed = False
        lock = threading.Lock()
        self._not_full = threading.Condition(lock)
        self._not_empty = threading.Condition(lock)

    def __len__(self) -> int:
        return len(self._things)

    def put(self, thing: T) -> None:
        """Waits while the channel is full. Raises Closed when it is or becomes closed."""
        with self._not_full:
            while len(self._things) >= self.capacity and not self._closed:
                self._not_full.wait()
            if self._closed:
                raise Closed
            self._things.append(thing)
            self.moves += 1
            self.puts += 1
            self._not_empty.notify()

    def take(
        self, max_items: int = 1, linger_s: float = 0.0, more_coming: Callable[[], bool] = _always
    ) -> list[T]:
        """Returns one to `max_items` things: waits for the first, then up to `linger_s` for more.

        It waits only while `more_coming` says that another is on its way. This is asked at the first
        thing and at each one that comes.
        """
        with self._not_empty:
            while not self._things:
                if self._closed:
                    raise Closed
                self._not_empty.wait()
            if linger_s > 0:
                self._await_more(max_items, time.monotonic() + linger_s, more_coming)
            taken = [self._things.popleft() for _ in range(min(max_items, len(self._things)))]
            self.moves += 1
            self._not_full.notify(len(taken))
            return taken

    def close(self) -> None:
        with self._not_full:
            self._closed = True
            self._not_full.notify_all()
            self._not_empty.notify_all()

    def abort(self) -> None:
        """Closes and forgets what is queued."""
        with self._not_full:
            self._things.clear()
        self.close()

    def _await_more(self, max_items: int, end: float, more_coming: Callable[[], bool]) -> None:
        wanted = min(max_items, self.capacity)
        while len(self._things) < wanted and not self._closed and more_coming():
            left = end - time.monotonic()
            if left <= 0 or not self._not_empty.wait(left):
                return
