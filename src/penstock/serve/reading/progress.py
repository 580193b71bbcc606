"""How far each sent document is: promised, counted, read, cancelled. Knows neither files nor the run.

Thread-safe. Waits for no disk, except where a page is shown while the catalogue looks at its folder.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.serve.reading.catalogue import Place
from penstock.serve.reading.upload_batcher import UploadBatcher
from penstock.serve.reading.upload_pages import document_of

log = logging.getLogger(__name__)

MAX_WAITING = 5_000  # accepted pages that are not read yet: hours of work on a laptop
MAX_SHARE = 500  # of them that one document counts for: it must not keep others out


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


class ReadingProgress:
    """The documents that were sent. Hands those that are promised to the run, by an UploadBatcher."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._counts: dict[str, int | None] = {}  # pages of each document that was sent, None: not counted
        self._left: dict[str, int] = {}  # accepted pages not read yet; an uncounted document counts as one
        self._finished: dict[str, float] = {}  # when documents were read to their end, in seconds since 1970
        self._again: set[str] = set()  # sent again, to read the pages that had failed
        self._cancelled: set[str] = set()
        self._owners: dict[str, str] = {}  # of documents sent since the start: those who send take turns
        self._batcher = UploadBatcher()
        self._has_uncommitted = False
        self._commits = 0  # at work: two threads may commit at once
        self.settled = threading.Event()  # no page waits, and the rows of all are on the disk
        self.settled.set()

    # for those who send

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

    def sent(self) -> list[str]:
        """Returns the documents that were sent, latest first."""
        with self._lock:
            return list(reversed(self._counts))

    def was_sent(self, document: str) -> bool:
        return document in self._counts

    def status(self, name: str, places: Mapping[int, Place], otherwise: float | None = None) -> Status:
        """Returns how far a document is whose pages at these places are done. `otherwise` it ended then."""
        with self._lock:
            return self._status(name, places, otherwise)

    def promise(self, path: Path, owner: str = "") -> None:
        """Notes that a document will be read; it is on the disk."""
        document = document_of(path)
        with self._lock:
            self._cancelled.discard(document)
            if owner:
                self._owners[document] = owner
            self._promise(path)

    def promise_again(self, path: Path, places: Mapping[int, Place]) -> None:
        """Promises the failed pages once more. Does nothing before all are read, or where none failed."""
        document = document_of(path)
        with self._lock:
            status = self._status(document, places, None)
            if document in self._counts and status.ready and status.failed:
                self._again.add(document)
                self._promise(path)

    def cancel(self, document: str) -> None:
        """Forgets a document; no page of it is begun any more."""
        with self._lock:
            self._cancelled.add(document)
            for known in (self._counts, self._finished, self._left, self._owners):
                known.pop(document, None)

    # for the run

    def start(self, paths: Sequence[Path]) -> UploadBatcher:
        """Promises what is on the disk to a run that begins. Returns where it finds that and what follows."""
        with self._lock:
            self._batcher = UploadBatcher()  # the documents of the last one are among these
            self._counts.update((document_of(path), None) for path in paths)
            self._left = dict.fromkeys(map(document_of, paths), 1)
            self._has_uncommitted, self._commits = False, 0  # a run that broke reads such pages again
            for path in paths:
                self._batcher.put(path)
            return self._batcher

    def end(self) -> None:
        """Wakes the run for its end."""
        self._batcher.end()

    def is_cancelled(self, document: str) -> bool:
        return document in self._cancelled

    def is_waiting(self, document: str) -> bool:
        """Returns whether pages of a document are not read yet."""
        return document in self._left

    def owner(self, document: str) -> str:
        return self._owners.get(document, "")

    def take_again(self, document: str) -> bool:
        """Returns whether only a document's failed pages are to be read; says so once."""
        with self._lock:
            is_again = document in self._again
            self._again.discard(document)
            return is_again

    @property
    def is_idle(self) -> bool:
        return not self._left

    def is_reading_several(self) -> bool:
        """Returns whether another document is read besides the one that came last."""
        return len(self._left) > 1

    def count(self, document: str, pages: int, left: int) -> bool:
        """Notes a document's pages, and how many of them are to be read. Returns False if it is cancelled."""
        with self._lock:
            if document in self._cancelled:
                return False
            if not left:
                self._finished[document] = self._now()
            self._counts[document] = pages
            self._set_left(document, left)
            return True

    def finish_page(self, document: str, show: Callable[[], None]) -> None:
        """Notes that a page is read, and shows it. What shows the last one shows when that was.

        Under one lock: a page that is shown waits no more, and its row is to be committed.
        """
        with self._lock:
            if self._left.get(document, 1) <= 1:
                self._finished[document] = self._now()
            show()
            self._set_left(document, self._left.get(document, 1) - 1)
            self._has_uncommitted = True

    def take_uncommitted(self, is_time: bool) -> bool:
        """Returns whether rows are to be committed now: nothing is left to read, and it `is_time`."""
        with self._lock:
            self._settle()  # what was left to read may be cancelled
            if self._left or not self._has_uncommitted or not is_time:
                return False
            self._has_uncommitted = False
            self._commits += 1
            return True

    def note_commit(self) -> None:
        with self._lock:
            self._commits -= 1
            self._settle()

    def _settle(self) -> None:
        if not (self._left or self._has_uncommitted or self._commits):
            self.settled.set()

    def _status(self, name: str, places: Mapping[int, Place], otherwise: float | None) -> Status:
        done = sum(place.ok for place in places.values())
        pages = self._counts.get(name, len(places))
        return Status(name, pages, done, len(places) - done, self._finished.get(name, otherwise))

    def _promise(self, path: Path) -> None:
        document = document_of(path)
        log.info("took %s", document, extra={"document": document})
        self.settled.clear()
        self._counts[document] = None
        self._finished.pop(document, None)
        self._left[document] = 1
        self._batcher.put(path)

    def _set_left(self, document: str, count: int) -> None:
        self._left[document] = count
        if count <= 0:
            del self._left[document]
