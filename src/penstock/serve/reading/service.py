"""The documents of a service: accepted, shown, cancelled and deleted. A ReadingRun reads them.

A document is on disk before the service accepts it, and its pages are rows of an ordinary ledger: kill the
service, start it again, and it continues with the documents it had accepted. Models stay loaded between
documents.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from penstock.driver import Run
from penstock.errors import PenstockError, UsageError
from penstock.plan import Plan
from penstock.serve.reading.catalogue import Catalogue
from penstock.serve.reading.delete_documents import delete_documents
from penstock.serve.reading.progress import ReadingProgress, Status
from penstock.serve.reading.reading_probe import ReadingProbe
from penstock.serve.reading.reading_run import ReadingRun
from penstock.serve.reading.upload_batcher import UploadBatcher
from penstock.serve.reading.upload_folder import UploadFolder
from penstock.serve.reading.upload_pages import Sent, document_of
from penstock.store.ledger import ITEMS_DIR

PURGES = 2  # after a deletion: pages that were at work then are committed until the second


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
        self.plan = plan
        self.catalogue = Catalogue(out, follows=plan is None)
        self._uploads = UploadFolder(out)
        self._lock = threading.Lock()  # for uploads, as it waits for the disk; taken before that of progress
        self._purges = PURGES
        self._progress = ReadingProgress(now)
        self._probe = ReadingProbe(plan if probes else None)
        self._reading: ReadingRun | None = None
        if plan is not None:
            parts = (self._begin, self._progress, self.catalogue, self._probe)
            self._reading = ReadingRun(plan, out, *parts, clock)

    def __enter__(self) -> Service:
        if self._reading is not None:
            self._reading.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._reading is not None:
            self._reading.end()

    @property
    def takes_documents(self) -> bool:
        return self.plan is not None

    @property
    def run(self) -> Run[Sent] | None:
        """Returns the run at work."""
        return self._reading.run if self._reading is not None else None

    @property
    def error(self) -> PenstockError | None:
        """Returns why the run broke; None while it goes on."""
        return self._reading.error if self._reading is not None else None

    @property
    def problem(self) -> PenstockError | None:
        """Returns why documents cannot be read now; None where they can."""
        return self.error or self._probe.problem

    @property
    def waiting(self) -> int:
        """Returns how many accepted pages are not read yet."""
        return self._progress.waiting

    @property
    def is_full(self) -> bool:
        return self._progress.is_full

    @property
    def settled(self) -> threading.Event:
        """Returns what is set while no page waits and the rows of all are on the disk."""
        return self._progress.settled

    # what is there

    def documents(self, start: int = 0, limit: int | None = None) -> list[Status]:
        """Returns documents sent to the service, latest first, then the run's others."""
        names = list(dict.fromkeys([*self._progress.sent(), *self.catalogue.documents()]))
        return [self._status(name) for name in names[start : None if limit is None else start + limit]]

    def status(self, name: str) -> Status | None:
        """Returns a document's progress, or None if there is no such document."""
        status = self._status(name)
        return status if self.was_sent(name) or status.pages else None

    def was_sent(self, document: str) -> bool:
        """Returns whether the service has the document's file, and can read it again."""
        return self._progress.was_sent(document)

    def _status(self, name: str) -> Status:
        return self._progress.status(name, self.catalogue.places(name), self._last_commit)

    @property
    def _last_commit(self) -> float | None:
        """Returns when rows were last committed: later than that no document of an earlier run ended."""
        rows = self.out / ITEMS_DIR
        return rows.stat().st_mtime if self.plan is None and rows.is_dir() else None

    # accepting

    def incoming(self) -> AbstractContextManager[Path]:
        """Gives a path below OUT for a file that is being received. Removes what is left there."""
        return self._uploads.incoming()

    def accept(self, incoming: Path, name: str, digest: str, owner: str = "") -> Status:
        """Accepts a file that has arrived. The same bytes under the same name are an owner's same document.

        If it was sent before, its failed pages are read again: a model server may have been down.
        """
        place = self._uploads.place(name, digest, owner)
        document = document_of(place)
        with self._lock:
            if self.was_sent(document):
                self._progress.promise_again(place, self.catalogue.places(document))
            else:
                self._uploads.keep(incoming, place)
                self.catalogue.show(document)
                self._progress.promise(place, owner)
        return self._status(document)

    def read_again(self, document: str) -> Status:
        """Reads the failed pages of a document again. Raises UsageError if it was not sent."""
        if not self.was_sent(document):
            raise UsageError(f"This service has no document {document!r}.", "Upload it first.")
        self._progress.promise_again(self._uploads.path / document, self.catalogue.places(document))
        return self._status(document)

    # taking back

    def cancel(self, document: str) -> None:
        """Begins with no more pages of a document; a stage at work on one finishes. Its file goes."""
        with self._lock:
            self._progress.cancel(document)
            self._uploads.remove(document)

    def delete(self, document: str) -> None:
        """Hides a document at once. Its rows go with the next `purge`, which a restart does not forget."""
        with self._lock:
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

    # what the run calls

    def _begin(self, is_first: bool) -> UploadBatcher:
        """Promises the uploads on the disk to a run that begins."""
        if is_first:
            self._finish_deletions()
        else:
            self.catalogue.start_over()  # pages that the broken run had not committed are read again
        with self._lock:
            if is_first:
                self._uploads.remove_half_received()
            return self._progress.start(self._uploads.files())

    def _finish_deletions(self) -> None:
        """Ends what was deleted before this start: no page of it can be at work any more."""
        for document in self._uploads.deleted():
            self.cancel(document)
        self.purge()
        self._uploads.forget_deletions()
