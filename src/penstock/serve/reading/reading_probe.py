"""A page of our own that the service's run reads: only then is the service ready.

It passes the stages like a page that was sent, but is neither counted nor written. One is on its way at a
time. After a failure, of the page or of someone's, another follows.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import penstock
from penstock.errors import Failure, PenstockError
from penstock.page import Page
from penstock.passes.service import item_class
from penstock.plan import Plan
from penstock.serve.reading.upload_pages import Sent

log = logging.getLogger(__name__)
PICTURE = Path(penstock.__file__).parent / "sample" / "probe.png"  # drawn by tools/make_probe.py
PROBE = ".probe/00000"  # no page that was sent has this id: their folders are hexadecimal
PAUSE_S = 30.0  # before another one: a model server is started by people
PATIENCE_S = 600.0  # for models to load; servers that a recipe starts take minutes to compile
NOTHING = Failure(stage="layout", kind="EngineError", message="Nothing was found on it.")


def is_probe(item: Sent) -> bool:
    return item.id == PROBE


class ProbeGivenUp(PenstockError):
    """The service ends before the page of our own was read."""


class ReadingProbe:
    """Any thread may ask; one lists, one is given what was read. It never waits.

    Without a plan nothing is probed, and there is no problem.
    """

    def __init__(self, plan: Plan | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._plan = plan
        self._clock = clock
        self.start_over()

    def start_over(self) -> None:
        """A run begins: whether it can read is not known."""
        self._due = self._began = self._clock()
        self._is_on_its_way = False
        self._has_passed = self._plan is None
        self._failure: Failure | None = None

    def take(self) -> Iterator[Sent]:
        """Yields the page to read when it is time for one."""
        if self._plan is not None and not self._is_on_its_way and self._clock() >= self._due:
            self._is_on_its_way, self._due = True, math.inf
            yield item_class(self._plan)(id=PROBE, uri=str(PICTURE), document=PROBE, media="image")

    def put(self, item: Sent) -> bool:
        """Looks at what was read. Returns whether it was the page of our own."""
        failure = self._failure_of(item) if is_probe(item) else item.failure
        if failure is not None:  # if it is someone's, a page of ours will tell whether it was only that
            self._due = min(self._due, self._clock() + PAUSE_S)
        if is_probe(item):
            self._failure, self._has_passed, self._is_on_its_way = failure, failure is None, False
        return is_probe(item)

    def give_up(self) -> None:
        """Raises ProbeGivenUp if the page is on its way."""
        if self._is_on_its_way:
            raise ProbeGivenUp("The service ends.")

    def _failure_of(self, item: Sent) -> Failure | None:
        found = item.failure or next((failure for _, failure in item.failed_parts()), None)
        if found is None and isinstance(item, Page) and self._finds_regions and not item.regions:
            found = NOTHING
        if found is not None:
            log.warning("a page of our own could not be read: %s %s", found.message, found.advice)
        return found

    @property
    def _finds_regions(self) -> bool:
        return any("regions" in stage.writes for stage in self._plan or ())

    @property
    def problem(self) -> PenstockError | None:
        """Why the service is not ready; None if it is."""
        if self._has_passed:
            return None
        if (failure := self._failure) is not None:
            told = f"A page of our own could not be read: {failure.message}"
            return PenstockError(told, failure.advice or f"It is tried again every {PAUSE_S:.0f} s.")
        if (waited := self._clock() - self._began) > PATIENCE_S:
            return PenstockError(f"A page of our own is not read after {waited:.0f} s.", "See the log.")
        return PenstockError("The service is starting: no page of our own is read yet.", "Ask again soon.")
