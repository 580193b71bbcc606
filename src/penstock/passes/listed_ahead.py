"""Lists ahead of a run, so that the number of its pages is known while the first of them are read.

A run takes an item when a stage has room for it. Left to that, the listing of a folder ends when the run
nearly does, and cannot say how long it will take. Listed items are light; a bounded number of them waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Generic

from penstock.stage import ItemT

MAX_AHEAD = 10_000  # items, 6 MB
WAKE_S = 0.2  # how soon a thread that waits sees that the other has ended
CLOSE_S = 5.0  # a count of pages that is asked for now may take longer: then the thread ends after it


@contextmanager
def listed_ahead(
    listing: Iterable[ItemT], on_found: Callable[[], None], on_end: Callable[[], None]
) -> Iterator[Generator[ItemT, None, None]]:
    """Gives the listing's items in their order. `on_found` is called as each is found, `on_end` after all.

    What the listing raises is raised in its place. The listing begins when the first item is asked for: a run
    has then cleaned OUT, and a listing may write there. The `with` ends the thread and closes the listing.
    """
    ahead = _Ahead(listing, on_found, on_end)
    try:
        with closing(ahead.items()) as items:
            yield items
    finally:
        ahead.end()


class _Ahead(Generic[ItemT]):
    def __init__(
        self, listing: Iterable[ItemT], on_found: Callable[[], None], on_end: Callable[[], None]
    ) -> None:
        self._stopped = Event()
        self._thread = Thread(target=self._read, name="list-ahead", daemon=True)
        self._listing, self._on_found, self._on_end = listing, on_found, on_end
        self._waiting: Queue[ItemT | BaseException | None] = Queue(MAX_AHEAD)

    def _read(self) -> None:
        """Runs on the thread. None ends the queue; an error is the last thing in it."""
        try:
            for item in self._listing:
                self._on_found()
                if not self._put(item):
                    break
            else:
                self._on_end()
            self._put(None)
        except BaseException as exc:
            self._put(exc)
        finally:
            self._close()

    def end(self) -> None:
        self._stopped.set()
        if self._thread.ident is None:
            self._close()
        else:
            self._thread.join(CLOSE_S)

    def _close(self) -> None:
        if isinstance(self._listing, Generator):
            self._listing.close()

    def items(self) -> Generator[ItemT, None, None]:
        self._thread.start()
        while not self._stopped.is_set():
            try:
                one = self._waiting.get(timeout=WAKE_S)
            except Empty:
                continue
            if one is None:
                return
            if isinstance(one, BaseException):
                raise one
            yield one

    def _put(self, one: ItemT | BaseException | None) -> bool:
        while not self._stopped.is_set():
            try:
                self._waiting.put(one, timeout=WAKE_S)
            except Full:
                continue
            return True
        return False
