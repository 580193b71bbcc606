"""The run of a service: one thread reads what is promised, in turns, and commits when all is read.

When the run breaks (a full disk, no model server), `error` says why and the thread tries again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from penstock.choices import OfficeUse
from penstock.driver import Run
from penstock.errors import PenstockError
from penstock.executors.local import CANCELLED
from penstock.item import Item
from penstock.passes.service import item_class, service_run
from penstock.plan import Plan
from penstock.serve.reading.catalogue import Catalogue, Place
from penstock.serve.reading.counting import NotCounted, UploadCounter
from penstock.serve.reading.fair_queue import FairQueue
from penstock.serve.reading.progress import ReadingProgress
from penstock.serve.reading.reading_probe import ProbeGivenUp, ReadingProbe, is_probe
from penstock.serve.reading.upload_batcher import UploadBatcher
from penstock.serve.reading.upload_folder import UPLOADS
from penstock.serve.reading.upload_pages import Sent, document_of, listed
from penstock.stages.load import Load
from penstock.store.manifest import DOWNLOADS

log = logging.getLogger(__name__)

AGAIN_S = 30.0  # after a run broke: a disk is emptied, a model server is started, by people
COMMIT_S = 1.0  # between two commits of a service with nothing to read: a shard costs more than a page
END_S = 30.0  # for the pages in flight when the service ends; the rest is read after the next start


class ReadingRun:
    """Reads with the plan until `end`. `begin` is called when OUT is ours; True: for the first time."""

    def __init__(
        self,
        plan: Plan,
        out: Path,
        begin: Callable[[bool], UploadBatcher],
        progress: ReadingProgress,
        catalogue: Catalogue,
        probe: ReadingProbe,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan = plan
        self._out = out
        self._begin = begin
        self._progress = progress
        self._catalogue = catalogue
        self._probe = probe
        self._clock = clock
        self.error: PenstockError | None = None
        self.run: Run[Sent] | None = None  # the one at work
        self._committed = float("-inf")  # when
        self._ending = threading.Event()
        self._begun = threading.Event()
        self._refusal: PenstockError | None = None  # OUT is locked, or has another plan
        self._thread = threading.Thread(target=self._work, name="serve", daemon=True)

    def start(self) -> None:
        """Returns when the run has begun. Raises PenstockError if it cannot."""
        self._thread.start()
        self._begun.wait()
        if self._refusal is not None:
            raise self._refusal

    def end(self) -> None:
        self._ending.set()
        self._progress.end()
        if self._thread.is_alive():
            self._thread.join(END_S)

    def _work(self) -> None:
        while not self._read() and not self._ending.wait(AGAIN_S):
            log.warning("starting the run again")

    def _read(self) -> bool:
        """Reads all documents, sent and to come. Returns False if the run broke and may be retried."""
        run = self.run = service_run(self._plan, self._out, UPLOADS, is_probe, self._is_cancelled)
        try:
            with closing(run.items(self._listing(run))) as pages:
                for item in pages:
                    self._put(item, run)
                    if self._ending.is_set():
                        break
        except ProbeGivenUp:
            return True
        except PenstockError as exc:
            self.error = exc
        except BaseException as exc:  # the next request reports it; else it would go unseen
            log.exception("a bug in Penstock")
            self.error = PenstockError(f"{type(exc).__name__}: {exc}")
        else:
            return True
        if not self._begun.is_set():
            self._refusal = self.error
            self._begun.set()
            return True
        log.error("the run broke: %s", self.error)
        self._progress.end()  # the broken run's listing still waits there
        return False

    def _put(self, item: Sent, run: Run[Sent]) -> None:
        if item.failure == CANCELLED or self._probe.put(item):
            return
        self._progress.finish_page(item.document, lambda: self._catalogue.put(item))
        if self._progress.is_idle:
            self._settle(run)

    def _settle(self, run: Run[Sent]) -> None:
        """Commits what is read if nothing is left to read: at once after a pause, else COMMIT_S later."""
        if self._progress.take_uncommitted(self._clock() - self._committed >= COMMIT_S):
            run.commit()
            self._committed = self._clock()
            self._progress.note_commit()

    def _listing(self, run: Run[Sent]) -> Iterator[Sent]:
        batcher = self._begin(not self._begun.is_set())
        self.error = None
        self._probe.start_over()
        self._begun.set()  # OUT is ours and its plan fits
        turns: FairQueue[Sent] = FairQueue()
        yield from self._probe.take()  # before anyone's
        several = self._progress.is_reading_several
        # one for all documents: its processes take longer to start than to count
        with UploadCounter(self._progress, batcher.put) as counter:
            # it looks up now and then: the last rows of a crowd wait for their commit
            while (sent := batcher.take(0.0 if turns else COMMIT_S, several)) is not None:
                self._settle(run)
                yield from self._probe.take()
                for document, pages in self._pages_of(sent, counter):
                    turns.add(pages, self._progress.owner(document))
                for item in turns.round():
                    if self._ending.is_set():
                        return
                    if not self._is_cancelled(item):
                        yield item
        if self._progress.is_idle:
            self._probe.give_up()  # models may be loading for it, and nothing else waits for them

    def _is_cancelled(self, item: Item) -> bool:
        return self._progress.is_cancelled(item.document)

    def _pages_of(self, paths: list[Path], counter: UploadCounter) -> Iterator[tuple[str, list[Sent]]]:
        """Yields each document and its pages; its name is then known with their number."""
        loads = [stage for stage in self._plan.stages if isinstance(stage, Load)]
        office: OfficeUse = loads[0].office if loads else "auto"
        kind, downloads = item_class(self._plan), self._out / DOWNLOADS
        try:
            found = list(listed(paths, kind, counter, office, downloads)) if paths else []
        except NotCounted as exc:
            yield from self._pages_of(
                [path for path in paths if document_of(path) not in exc.documents], counter
            )
            return
        for path, items in found:
            document = document_of(path)
            num_pages, places = len(items), self._catalogue.places(document)
            if self._progress.take_again(document):
                items = [replace(item, attempt=_attempts(item, places) + 1) for item in items]
                places = {part: place for part, place in places.items() if place.ok}
                items = [item for item in items if item.part not in places]
                self._catalogue.forget(document, {item.part for item in items})
            if self._progress.count(document, num_pages, sum(item.part not in places for item in items)):
                yield document, items


def _attempts(item: Sent, places: Mapping[int, Place]) -> int:
    return places[item.part].attempt if item.part in places else 0
