"""Reads the documents it is sent: one run over OUT/uploads whose listing ends with the service.

A document is on disk before the service accepts it, and its pages are rows of an ordinary ledger: kill the
service, start it again, and it continues with the documents it had accepted. Models stay loaded between
documents. When a run breaks (a full disk, no model server), requests get the reason and the service retries.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.driver import Run
from penstock.errors import PenstockError, UsageError
from penstock.executors.local import CANCELLED
from penstock.item import Item
from penstock.passes.service import item_class, service_run
from penstock.plan import Plan
from penstock.serve.reading.catalogue import Catalogue, Place
from penstock.serve.reading.delete_documents import delete_documents
from penstock.serve.reading.fair_queue import FairQueue
from penstock.serve.reading.reading_probe import ProbeGivenUp, ReadingProbe, is_probe
from penstock.serve.reading.upload_batcher import UploadBatcher
from penstock.serve.reading.upload_folder import UPLOADS, UploadFolder
from penstock.serve.reading.upload_pages import Sent, document_of, listed
from penstock.sources.probe import PageCounter
from penstock.store.ledger import ITEMS_DIR

log = logging.getLogger(__name__)

PURGES = 2  # after a deletion: pages that were at work then are committed until the second
MAX_WAITING = 5_000  # accepted pages that are not read yet: hours of work on a laptop
MAX_SHARE = 500  # of them that one document counts for: it must not keep others out
AGAIN_S = 30.0  # after a run broke: a disk is emptied, a model server is started, by people
COMMIT_S = 1.0  # between two commits of a service with nothing to read: a shard costs more than a page
END_S = 30.0  # for the pages in flight when the service ends; the rest is read after the next start


@dataclass(frozen=True, slots=True)
class Status:
    """A document's progress. `pages` is None until counted; `failed` counts pages with any failure.

    `finished` is when the last page was read, in seconds since 1970.
    """

    name: str
    pages: int | None
    done: int
    failed: int
    finished: float | None = None

    @property
    def ready(self) -> bool:
        return self.pages is not None and self.done + self.failed >= self.pages


class Service:
    """Serves the documents of OUT. Without a plan it shows them and accepts no new ones.

    One that probes is ready when a page of our own was read; another one while its run is not broken.
    """

    def __init__(
        self,
        out: Path,
        plan: Plan | None = None,
        clock: Callable[[], float] = time.monotonic,
        probes: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        if plan is None and not out.is_dir():
            raise UsageError(f"{out} does not exist.", "Name a recipe to take documents: --recipe documents.")
        self.out = out
        self.catalogue = Catalogue(out, follows=plan is None)
        self.error: PenstockError | None = None
        self._plan = plan
        self._probe = ReadingProbe(plan if probes else None)
        self._lock = threading.Lock()
        self._uploads = UploadFolder(out)
        self._files = threading.Lock()  # for uploads; taken before the other, which waits for no disk
        self._counts: dict[str, int | None] = {}  # pages of each document that was sent, None: not counted
        self._left: dict[str, int] = {}  # accepted pages not read yet; an uncounted document counts as one
        self._finished: dict[str, float] = {}  # when documents were read to their end, in seconds since 1970
        self._inbox = UploadBatcher()
        self._again: set[Path] = set()  # of the inbox: sent again, to read the pages that had failed
        self._cancelled: set[str] = set()
        self._owners: dict[str, str] = {}  # of documents sent since the start: those who send take turns
        self.run: Run[Sent] | None = None  # the one at work
        self._purges = PURGES
        self._clock, self._now = clock, now
        self._committed = float("-inf")  # when
        self._has_uncommitted = False
        self._ending = threading.Event()
        self._begun = threading.Event()
        self._refusal: PenstockError | None = None  # OUT is locked, or has another plan
        self.settled = threading.Event()  # no page waits, and the rows of all are on the disk
        self.settled.set()
        self._thread = threading.Thread(target=self._work, name="serve", daemon=True)

    def __enter__(self) -> Service:
        if self._plan is not None:
            self._thread.start()
            self._begun.wait()
            if self._refusal is not None:
                raise self._refusal
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._inbox.end()
        if self._thread.is_alive():
            self._thread.join(END_S)

    @property
    def plan(self) -> Plan | None:
        return self._plan

    @property
    def takes_documents(self) -> bool:
        return self._plan is not None

    @property
    def problem(self) -> PenstockError | None:
        """Why documents cannot be read now; None where they can."""
        return self.error or self._probe.problem

    @property
    def waiting(self) -> int:
        """Returns how many accepted pages are not read yet."""
        with self._lock:
            return sum(self._left.values())

    @property
    def is_full(self) -> bool:
        with self._lock:
            if sum(self._left.values()) <= MAX_WAITING:  # nearly always, and quickly seen
                return False
            return sum(min(left, MAX_SHARE) for left in self._left.values()) > MAX_WAITING

    # what is there

    def documents(self, start: int = 0, limit: int | None = None) -> list[Status]:
        """Returns documents sent to the service, latest first, then the run's others."""
        with self._lock:
            sent = list(reversed(self._counts))
        names = list(dict.fromkeys([*sent, *self.catalogue.documents()]))
        return [self._status(name) for name in names[start : None if limit is None else start + limit]]

    def status(self, name: str) -> Status | None:
        """Returns a document's progress, or None if there is no such document."""
        status = self._status(name)
        return status if name in self._counts or status.pages else None

    def _status(self, name: str) -> Status:
        places = self.catalogue.places(name)
        done = sum(place.ok for place in places.values())
        pages = self._counts.get(name, len(places))
        return Status(name, pages, done, len(places) - done, self._finished.get(name, self._last_commit))

    @property
    def _last_commit(self) -> float | None:
        """Returns when rows were last committed: later than that no document of an earlier run ended."""
        rows = self.out / ITEMS_DIR
        return rows.stat().st_mtime if self._plan is None and rows.is_dir() else None

    # taking

    def incoming(self) -> AbstractContextManager[Path]:
        """Gives a path below OUT for a file that is being received. Removes what is left there."""
        return self._uploads.incoming()

    def accept(self, incoming: Path, name: str, digest: str, owner: str = "") -> Status:
        """Accepts a file that has arrived. The same bytes under the same name are an owner's same document.

        If it was sent before, its failed pages are read again: a model server may have been down.
        """
        place = self._uploads.place(name, digest, owner)
        document = document_of(place)
        with self._files:
            is_new = document not in self._counts
            if is_new:
                self._uploads.keep(incoming, place)
            with self._lock:
                if is_new:
                    self._cancelled.discard(document)
                    if owner:
                        self._owners[document] = owner
                    self.catalogue.show(document)
                    self._promise(place)
                else:
                    self._read_failed_again(place)
        return self._status(document)

    def was_sent(self, document: str) -> bool:
        """Whether the service has the document's file, and can read it again."""
        return document in self._counts

    def read_again(self, document: str) -> Status:
        """Reads the failed pages of a document that was sent again. Raises UsageError for another one."""
        with self._lock:
            if not self.was_sent(document):
                raise UsageError(f"{document!r} was not sent to this service.", "Send it.")
            self._read_failed_again(self._uploads.path / document)
        return self._status(document)

    def _read_failed_again(self, path: Path) -> None:
        """Call it with the lock. Nothing happens before all pages are read, or where none failed."""
        if (status := self._status(document_of(path))).ready and status.failed:
            self._again.add(path)
            self._promise(path)

    def _promise(self, path: Path) -> None:
        log.info("took %s", document_of(path), extra={"document": document_of(path)})
        self.settled.clear()
        self._counts[document_of(path)] = None
        self._finished.pop(document_of(path), None)
        self._left[document_of(path)] = 1
        self._inbox.put(path)

    # taking back

    def cancel(self, document: str) -> None:
        """Begins with no more pages of a document; a stage at work on one finishes. Its file goes."""
        with self._files:
            with self._lock:
                self._cancelled.add(document)
                self._counts.pop(document, None)
                self._finished.pop(document, None)
                self._left.pop(document, None)
                self._owners.pop(document, None)
            self._uploads.remove(document)

    def delete(self, document: str) -> None:
        """Hides a document at once. Its rows go with the next `purge`, which a restart does not forget."""
        with self._files:
            self._uploads.note_deletion(document)
        self.cancel(document)
        self.catalogue.hide(document)
        self._purges = PURGES

    def purge(self) -> int:
        """Removes the rows of deleted documents from the disk. Returns how many."""
        deleted = self._uploads.deleted()
        if not deleted or not self._purges:
            return 0
        self._purges -= 1
        rows = delete_documents(self.out, deleted)
        self.catalogue.look_again()
        return rows

    def _bury(self) -> None:
        """Ends what was deleted before this start: no page of it can be at work any more."""
        for document in self._uploads.deleted():
            self.cancel(document)
        self.purge()
        self._uploads.forget_deletions()

    # reading

    def _work(self) -> None:
        while not self._read() and not self._ending.wait(AGAIN_S):
            log.warning("starting the run again")

    def _read(self) -> bool:
        """Runs over all documents, sent and to come. Returns False if the run broke and may be retried."""
        assert self._plan is not None
        run = self.run = service_run(self._plan, self.out, UPLOADS, is_probe, self._is_cancelled)
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
        except BaseException as exc:  # the next request reports it; else nobody would know
            log.exception("a bug in Penstock")
            self.error = PenstockError(f"{type(exc).__name__}: {exc}")
        else:
            return True
        if not self._begun.is_set():
            self._refusal = self.error
            self._begun.set()
            return True
        log.error("the run broke: %s", self.error)
        self._inbox.end()  # the broken run's listing still waits there
        return False

    def _put(self, item: Sent, run: Run[Sent]) -> None:
        if item.failure == CANCELLED or self._probe.put(item):
            return
        if self._left.get(item.document, 1) <= 1:  # before it counts as read: who sees that, sees when
            self._finished[item.document] = self._now()
        self.catalogue.put(item)
        with self._lock:
            self._left_over(item.document, self._left.get(item.document, 1) - 1)
            idle = not self._left
            self._has_uncommitted = True
        if idle:
            self._settle(run)

    def _settle(self, run: Run[Sent]) -> None:
        """Commits what is read if nothing is left to read: at once after a pause, else COMMIT_S later."""
        with self._lock:
            if not self._left and not self._has_uncommitted:
                self.settled.set()  # what was left to read is cancelled
            if self._left or not self._has_uncommitted or self._clock() - self._committed < COMMIT_S:
                return
            self._has_uncommitted = False
        run.commit()
        with self._lock:
            self._committed = self._clock()
            if not self._left and not self._has_uncommitted:
                self.settled.set()

    def _listing(self, run: Run[Sent]) -> Iterator[Sent]:
        if self._begun.is_set():
            self.catalogue.start_over()  # pages that the broken run had not committed are read again
        else:
            self._bury()
        with self._files, self._lock:
            # the documents of the last inbox are in the folder with the others
            inbox = self._inbox = UploadBatcher()
            if not self._begun.is_set():
                self._uploads.remove_half_received()
            earlier = self._uploads.files()
            self._counts.update((document_of(path), None) for path in earlier)
            self._left = dict.fromkeys(map(document_of, earlier), 1)
            for path in earlier:
                inbox.put(path)
        self.error = None
        self._probe.start_over()
        self._begun.set()  # OUT is ours and its plan fits
        turns: FairQueue[Sent] = FairQueue()
        yield from self._probe.take()  # before anyone's
        with PageCounter() as counter:  # one for all documents: it takes longer to start than to count
            # it looks up now and then: the last rows of a crowd wait for their commit
            while (sent := inbox.take(0.0 if turns else COMMIT_S, self._is_reading)) is not None:
                self._settle(run)
                yield from self._probe.take()
                for document, pages in self._pages_of(sent, counter):
                    turns.add(pages, self._owners.get(document, ""))
                for item in turns.round():
                    if self._ending.is_set():
                        return
                    if not self._is_cancelled(item):
                        yield item
        if not self._left:
            self._probe.give_up()  # models may be loading for it, and nobody else waits for them

    def _is_cancelled(self, item: Item) -> bool:
        return item.document in self._cancelled

    def _is_reading(self) -> bool:
        """Whether another document is read beside the one that came last."""
        return len(self._left) > 1

    def _pages_of(self, paths: list[Path], counter: PageCounter) -> Iterator[tuple[str, list[Sent]]]:
        """Yields each document and its pages; its name is then known with their number."""
        if not paths:
            return
        assert self._plan is not None
        for path, items in listed(paths, item_class(self._plan), counter):
            document = document_of(path)
            num_pages, places = len(items), self.catalogue.places(document)
            if path in self._again:
                self._again.discard(path)
                items = [replace(item, attempt=_attempts(item, places) + 1) for item in items]
                places = {part: place for part, place in places.items() if place.ok}
                items = [item for item in items if item.part not in places]
                self.catalogue.forget(document, {item.part for item in items})
            with self._lock:
                if document in self._cancelled:
                    continue
                left = sum(item.part not in places for item in items)
                if not left:
                    self._finished[document] = self._now()
                self._counts[document] = num_pages
                self._left_over(document, left)
            yield document, items

    def _left_over(self, document: str, count: int) -> None:
        """Notes how many pages of a document wait. Call it with the lock."""
        self._left[document] = count
        if count <= 0:
            del self._left[document]


def _attempts(item: Sent, places: Mapping[int, Place]) -> int:
    return places[item.part].attempt if item.part in places else 0
