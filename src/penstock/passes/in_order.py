"""Puts the pages of a run back into the order of their listing, those of earlier runs among them.

An executor gives pages back as they are finished. `PageOrder` notes the listing while the run is fed, and
a page that is finished before its turn waits. Only so many pages are on their way or wait: then the feed
pauses, so that one slow page at the front costs time and no memory.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from penstock.executors.base import Executor
from penstock.page import Page
from penstock.plan import Plan
from penstock.store.ledger import Entry

Order = Literal["source", "completion"]
PageStream = Generator[Page, None, None]

MIN_AHEAD = 64  # pages; some MB without their pictures
MACHINES = 16  # of a cluster, each with the pages of a whole plan in flight


@dataclass(frozen=True, slots=True)
class ParseProgress:
    """How far a run is, in pages. `total` is None until all inputs are listed.

    `done` counts every page that was given back: `failed` ones, and those `resumed` from an earlier run.
    """

    done: int = 0
    total: int | None = None
    failed: int = 0
    resumed: int = 0

    def after(self, page: Page, total: int | None) -> ParseProgress:
        return ParseProgress(
            done=self.done + 1,
            total=total,
            failed=self.failed + (page.failure is not None),
            resumed=self.resumed + page.resumed,
        )


OnProgress = Callable[[ParseProgress], object]


def max_ahead(plan: Plan, executor: Executor) -> int:
    """Returns how many pages may be listed and not given back: twice what the plan has in flight.

    With less, pages that take a little longer than others would leave workers idle.
    """
    in_flight = sum(2 * stage.batch.max_items * stage.workers * stage.overlap for stage in plan)
    return max(MIN_AHEAD, 2 * in_flight) * (1 if executor.on_this_machine else MACHINES)


class PageOrder:
    """The order of one run's pages.

    turns = PageOrder("source", max_ahead=64)
    for page in turns.delivered(executor.stream(plan, turns.noted(listing))):
        ...

    `noted` and `skip` run on the thread that feeds the run, `delivered` on the caller's. `stored` reads a
    page that an earlier run left.
    """

    def __init__(self, order: Order, max_ahead: int, stored: Callable[[Entry], Page] | None = None) -> None:
        self._by_source = order == "source"
        self._max_ahead = max_ahead
        self._stored = stored
        self._turns: deque[str | Entry] = deque()  # ids of pages that are on their way, or where they lie
        self._early: dict[str, deque[Page]] = {}  # finished before their turn, by id
        self._ahead = 0
        self._listed = 0
        self._all_listed = False
        self._ended = False
        self._changed = threading.Condition()

    @property
    def total(self) -> int | None:
        """The number of pages, once all are listed."""
        return self._listed if self._all_listed else None

    def noted(self, listing: Iterable[Page]) -> Iterator[Page]:
        """Yields the listing as it is. Waits while too many of its pages are not given back."""
        for page in listing:
            with self._changed:
                self._listed += 1
                if self._by_source:
                    self._turns.append(page.id)
                    self._ahead += 1
            yield page
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._ahead < self._max_ahead)
                if self._ended:
                    return
        self._all_listed = True

    def skip(self, entry: Entry) -> None:
        """Takes the page that was noted last as done: it is read from the store when its turn comes."""
        with self._changed:
            if self._by_source:
                self._turns.pop()
                self._ahead -= 1
            self._turns.append(entry)

    def delivered(self, stream: PageStream, on_progress: OnProgress | None = None) -> PageStream:
        """Yields every page of the run once, and tells how far it is. Closing it ends the run."""
        progress = ParseProgress()
        # left from right to left: the feed must not wait when the stream ends, which waits for the feed
        with closing(stream), self._ending():
            for page in self._in_turn(stream):
                progress = progress.after(page, self.total)
                if on_progress is not None:
                    on_progress(progress)
                yield page

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _in_turn(self, stream: PageStream) -> Iterator[Page]:
        for page in stream:
            if self._by_source:
                self._early.setdefault(page.id, deque()).append(page)
            yield from self._ready()
            if not self._by_source:
                yield page
        yield from self._ready()

    def _ready(self) -> Iterator[Page]:
        while (turn := self._next_turn()) is not None:
            yield turn if isinstance(turn, Page) else self._resumed(turn)

    def _next_turn(self) -> Page | Entry | None:
        """Returns what comes next, or None while that is not there."""
        with self._changed:
            turn = self._turns[0] if self._turns else None
            found = self._take_early(turn) if isinstance(turn, str) else turn
            if found is not None:
                self._turns.popleft()
            return found

    def _take_early(self, id: str) -> Page | None:
        waiting = self._early.get(id)
        if waiting is None:
            return None
        page = waiting.popleft()
        if not waiting:
            del self._early[id]
        self._ahead -= 1
        self._changed.notify_all()
        return page

    def _resumed(self, entry: Entry) -> Page:
        assert self._stored is not None, "only a run with an OUT skips pages"
        return replace(self._stored(entry), resumed=True)
