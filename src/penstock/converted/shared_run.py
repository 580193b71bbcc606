"""One run that several documents are read through. Its listing is a queue, so it stays open between them.

A thread that waits for a page pulls the run's results, one thread at a time, and hands each page to its
document. So no thread is added, and a run that nothing waits for pauses when its queues are full.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import cast

from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.executors.base import Stream
from penstock.executors.local import Local
from penstock.item import Item
from penstock.page import Page
from penstock.passes.in_order import OnProgress, PageStream, ParseProgress, max_ahead
from penstock.plan import Plan
from penstock.trace.profile import Profile
from penstock.trace.spans import Trace


def closed_error() -> UsageError:
    return UsageError("The Reader is closed.", "Read what you need before, or open another one.")


def read_once(
    executor: str, on_progress: OnProgress | None, plan: Plan, listing: Iterator[Page]
) -> PageStream:
    """Yields the listed pages in their order, through a run of their own."""
    with closing(SharedRun(plan, executor)) as run:
        yield from run.pages(listing, on_progress)


class PageQueue:
    """Pages that wait for a run. Documents take turns: a long one does not keep the others waiting."""

    def __init__(self) -> None:
        self.out = 0  # pages that were put and have not come back
        self._waiting: dict[str, deque[Page]] = {}  # by document, in the order of their turns
        self._documents: set[str] = set()
        self._owners: dict[int, str] = {}  # documents of the pages that are out, by number
        self._numbers = itertools.count(1)
        self._ended = False
        self._error: Exception | None = None
        self._changed = threading.Condition()  # of an RLock: the garbage collector may call `leave` anywhere

    def join(self) -> str:
        """Returns a new document's key."""
        with self._changed:
            key = str(next(self._numbers))
            self._documents.add(key)
            return key

    def leave(self, key: str) -> None:
        """Takes back the pages of a document. Those in the run are cancelled."""
        with self._changed:
            self._documents.discard(key)
            taken_back = self._waiting.pop(key, ())
            self.out -= len(taken_back)
            for page in taken_back:
                del self._owners[page.attempt]

    def put(self, key: str, page: Page) -> int:
        """Returns the number of the page in the run: two documents may be of one file.

        It travels as the page's `attempt`, which no stage reads; the id names the file's version.
        """
        with self._changed:
            number = next(self._numbers)
            self._owners[number] = key
            self._waiting.setdefault(key, deque()).append(replace(page, attempt=number))
            self.out += 1
            self._changed.notify_all()
            return number

    def came_back(self, item: Item) -> bool:
        """Counts a page that the run gave back. Returns whether its document still waits for it."""
        with self._changed:
            self.out -= 1
            return self._owners.pop(item.attempt, "") in self._documents

    def is_cancelled(self, item: Item) -> bool:
        return self._owners.get(item.attempt, "") not in self._documents

    def end(self, error: Exception | None) -> None:
        """Ends the listing. With an error the run is ended at once, else when its pages are read."""
        with self._changed:
            self._ended, self._error = True, self._error or error
            self._changed.notify_all()

    def pages(self) -> Generator[Page, None, None]:
        """Yields pages until the end. This is the run's listing."""
        while (page := self._next()) is not None:
            yield page

    def _next(self) -> Page | None:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._waiting)
            if self._error is not None:
                raise self._error
            if not self._waiting:
                return None
            key = next(iter(self._waiting))
            pages = self._waiting.pop(key)
            page = pages.popleft()
            if pages:
                self._waiting[key] = pages  # behind the others
            return page


class SharedRun:
    """A run of a plan for any number of documents and threads. Its workers open with its first page.

    `error` says why it is over. Then each of its documents raises it.
    """

    def __init__(self, plan: Plan, executor: str = "local") -> None:
        self.error: Exception | None = None
        self._plan = plan
        self._queue = queue = PageQueue()
        self._executor = (
            Local(Trace(), is_cancelled=queue.is_cancelled)
            if executor == Local.name
            else make_executor(executor, Trace())
        )
        # pages of a document that are listed and not given back
        self._max_ahead = max_ahead(plan, self._executor)
        self._stream = _results(self._executor.stream(plan, queue.pages()), queue)
        self._arrived: dict[int, Page] = {}
        self._is_pulled = self._has_begun = False
        self._changed = threading.Condition()

    def pages(self, listing: Iterator[Page], on_progress: OnProgress | None = None) -> PageStream:
        """Yields a document's pages in their order. Closing it takes back those that are not read yet."""
        progress, is_listed = ParseProgress(), False
        ahead: deque[int] = deque()  # numbers in the run
        key = self._queue.join()
        try:
            while True:
                while not is_listed and len(ahead) < self._max_ahead:
                    self._check()
                    listed = next(listing, None)
                    is_listed = listed is None
                    if listed is not None:
                        ahead.append(self._queue.put(key, listed))
                if not ahead:
                    return
                page = replace(self._take(ahead[0]), attempt=1)
                ahead.popleft()
                progress = progress.after(page, progress.done + 1 + len(ahead) if is_listed else None)
                if on_progress is not None:
                    on_progress(progress)
                yield page
        finally:
            with self._changed:
                self._queue.leave(key)
                for number in ahead:
                    self._arrived.pop(number, None)

    def profile(self) -> Profile:
        """Returns where the time of its stages went by now."""
        return self._executor.trace.profile(self._executor.infos(self._plan))

    def close(self) -> None:
        """Ends every thread and process of the run. Documents that are not read to their end say so."""
        with self._changed:
            error = self.error = self.error or closed_error()
            self._queue.end(error if self._queue.out else None)
            if self._queue.out:
                self._executor.end(error)
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is_pulled)
        if self._has_begun and not self._queue.out:
            next(self._stream, None)  # nothing is on its way: the workers close in peace
        self._stream.close()

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    def _take(self, number: int) -> Page:
        """Waits for a page. If no other thread pulls the run's results, this one does."""
        while (page := self._arrived_page(number)) is None:
            self._pull()
        return page

    def _arrived_page(self, number: int) -> Page | None:
        """Returns the page once it is there, or None when it is this thread's turn to pull."""
        with self._changed:
            self._changed.wait_for(lambda: number in self._arrived or self.error or not self._is_pulled)
            if number in self._arrived:
                return self._arrived.pop(number)
            self._check()
            self._is_pulled = self._has_begun = True
            return None

    def _pull(self) -> None:
        """Takes the run's next page. An error ends the run for all documents."""
        page, error = None, None
        try:
            page = next(self._stream)
        except Exception as exc:
            error = exc
        except BaseException:  # Ctrl-C is for this thread only
            error = UsageError("The reading was interrupted.", "Convert the document again.")
            raise
        finally:
            with self._changed:
                self._is_pulled = False
                self.error = self.error or error
                if page is not None and self._queue.came_back(page):
                    self._arrived[page.attempt] = page
                self._changed.notify_all()


def _results(stream: Stream, queue: PageQueue) -> PageStream:
    """Yields what the run gives back. Closing it, or forgetting it, ends the run.

    It knows the queue and not the SharedRun: a run that is forgotten without `close` is then collected.
    """
    with closing(stream):
        try:
            for item in stream:
                yield cast(Page, item)  # an executor gives back what it was given
        finally:  # first, for the run's end waits for its feed
            queue.end(UsageError("The reading has ended."))
