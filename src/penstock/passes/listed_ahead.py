"""Lists ahead of a run, so that the number of its pages is known while the first of them are read.

A run takes an item when a stage has room for it. Left to that, the listing of a folder ends when the run
nearly does, and cannot say how long it will take. Listed items are light; a bounded number of them waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from threading import Thread
from typing import TypeVar

from penstock.executors.channel import Channel, Closed
from penstock.stage import ItemT

T = TypeVar("T")
MAX_AHEAD = 10_000  # items, 6 MB
CLOSE_S = 5.0  # a count of pages that is asked for now may take longer: then the thread ends after it


@contextmanager
def listed_ahead(
    listing: Iterable[ItemT], on_found: Callable[[], None], on_end: Callable[[], None]
) -> Iterator[Generator[ItemT, None, None]]:
    """Gives the listing's items in their order. `on_found` is called as each is found, `on_end` after all.

    What the listing raises is raised in its place. The listing begins when the first item is asked for: a run
    has then cleaned OUT, and a listing may write there. The `with` ends the thread and closes the listing.
    """
    waiting: Channel[ItemT | BaseException] = Channel(MAX_AHEAD)
    thread = Thread(target=_read, args=(listing, waiting, on_found, on_end), name="list-ahead", daemon=True)
    try:
        with closing(_items(thread, waiting)) as items:
            yield items
    finally:
        waiting.abort()
        if thread.ident is None:
            _close(listing)
        else:
            thread.join(CLOSE_S)


def _read(
    listing: Iterable[ItemT],
    waiting: Channel[ItemT | BaseException],
    on_found: Callable[[], None],
    on_end: Callable[[], None],
) -> None:
    """Runs on the thread. An error is the last thing that waits."""
    try:
        for item in listing:
            on_found()
            if not _is_taken(item, waiting):
                return
        on_end()
    except BaseException as exc:
        _is_taken(exc, waiting)
    finally:
        waiting.close()
        _close(listing)


def _items(thread: Thread, waiting: Channel[ItemT | BaseException]) -> Generator[ItemT, None, None]:
    thread.start()
    while True:
        try:
            [one] = waiting.take()
        except Closed:
            return
        if isinstance(one, BaseException):
            raise one
        yield one


def _is_taken(one: T, waiting: Channel[T]) -> bool:
    """Returns whether it was put into the channel. A Closed that the listing raises is put there, too."""
    try:
        waiting.put(one)
    except Closed:
        return False
    return True


def _close(listing: Iterable[ItemT]) -> None:
    if isinstance(listing, Generator):
        listing.close()
