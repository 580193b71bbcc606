"""Counts the pages of uploads; a file that takes long to count holds up none that does not.

The listing has all that came together counted, each for a moment. What has no answer then is counted aside,
for seconds each, in turns of those who sent it. What still has none is counted with patience, and the next of
these only when its document is read: what is slow to count is slow to read. An answer brings its upload back
to the listing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import DeadlinePassed, Failure, PenstockError, UsageError, WorkerDied
from penstock.serve.reading.fair_queue import FairQueue
from penstock.serve.reading.progress import ReadingProgress
from penstock.serve.reading.upload_pages import document_of
from penstock.sources.files import Candidate
from penstock.sources.probe import COUNTED, PROBE_DEADLINE_S, STAGE, Counts, FileCounter, PageCounter
from penstock.sources.probe_questions import PartCount

log = logging.getLogger(__name__)

QUICK_S = 15.0  # for all that came together, counted in slices; reached where native code hangs
ASIDE_S = 3.0  # for one file
READ_S = 60.0  # then the next slow file is counted, though the one before is not read
LOOK_S = 0.2  # between two looks whether it is


def _opened(deadline_s: float, in_slices: bool) -> FileCounter:
    return PageCounter(None, deadline_s, in_slices)


class NotCounted(Exception):
    """These documents come back when they are counted; the others of the same question can be asked for."""

    def __init__(self, documents: frozenset[str]) -> None:
        super().__init__(documents)
        self.documents = documents


@dataclass(frozen=True, slots=True)
class _SlowFile:
    """A file that is counted aside, and the upload that it is of."""

    file: Candidate
    upload: Path

    @property
    def document(self) -> str:
        return document_of(self.upload)


class UploadCounter:
    """Counts for one listing. `again` takes an upload that is to be listed once more.

    Holds threads and processes; close it, or use it in a `with`. `opened` makes a counter by its deadline.
    """

    def __init__(
        self,
        progress: ReadingProgress,
        again: Callable[[Path], None],
        opened: Callable[[float, bool], FileCounter] = _opened,
    ) -> None:
        self._progress = progress
        self._again = again
        self._known: Counts = {}
        self._ending = threading.Event()
        self._quick = opened(QUICK_S, True)
        self._slow = _Lane("slow files", opened(PROBE_DEADLINE_S, False), self._count_slow)
        self._aside = _Lane("files aside", opened(ASIDE_S, False), self._count_aside)

    def __enter__(self) -> UploadCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._ending.set()
        for one in (self._aside, self._slow, self._quick):
            one.close()

    def counts(self, files: Sequence[Candidate]) -> Counts:
        """Returns counts by path. Raises NotCounted for files that take long."""
        asked = [file for file in files if file.kind in COUNTED]
        new = [file for file in asked if file.found.path not in self._known]
        try:
            found = self._quick.counts(new)
        except (DeadlinePassed, WorkerDied):
            found = {}
        self._known |= {path: count for path, count in found.items() if not _takes_long(count)}
        late = [file for file in new if file.found.path not in self._known]
        if late:
            raise NotCounted(frozenset(map(self._set_aside, late)))
        return {file.found.path: self._known.pop(file.found.path) for file in asked}

    def _set_aside(self, file: Candidate) -> str:
        """Returns the document that is counted aside."""
        waiting = _SlowFile(file, Path(file.found.source or file.found.path))
        self._aside.put(waiting, self._progress.owner(waiting.document))
        return waiting.document

    def _count_aside(self, counter: FileCounter, waiting: _SlowFile) -> None:
        try:
            self._answer(waiting, counter.counts([waiting.file]))
        except (DeadlinePassed, WorkerDied):
            self._slow.put(waiting, self._progress.owner(waiting.document))

    def _count_slow(self, counter: FileCounter, waiting: _SlowFile) -> None:
        if self._progress.is_cancelled(waiting.document):
            return
        try:
            found = counter.counts([waiting.file])
        except (DeadlinePassed, WorkerDied) as exc:
            failure = Failure(
                stage=STAGE, kind=type(exc).__name__, advice=exc.advice,
                message=f"{waiting.file.found.document}: {exc.message}",
            )  # fmt: skip
            found = {waiting.file.found.path: failure}
        self._answer(waiting, found)
        end = time.monotonic() + READ_S
        while self._progress.is_waiting(waiting.document) and time.monotonic() < end:
            if self._ending.wait(LOOK_S):
                return

    def _answer(self, waiting: _SlowFile, found: Counts) -> None:
        self._known |= found
        self._again(waiting.upload)


def _takes_long(count: PartCount | Failure) -> bool:
    return isinstance(count, Failure) and count.kind == DeadlinePassed.__name__


class _Lane:
    """A thread that counts one file after another, in turns of their senders, until `close`."""

    def __init__(
        self, name: str, counter: FileCounter, count: Callable[[FileCounter, _SlowFile], None]
    ) -> None:
        self._counter = counter
        self._count = count
        self._turns: FairQueue[_SlowFile] = FairQueue(documents_a_round=1)
        self._round = self._turns.round()
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, waiting: _SlowFile, owner: str) -> None:
        with self._changed:
            self._turns.add([waiting], owner)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._counter.close()
        self._thread.join()

    def _work(self) -> None:
        while (waiting := self._take()) is not None:
            try:
                self._count(self._counter, waiting)
            except UsageError:  # closed
                return
            except PenstockError as exc:  # the process cannot be started; its file is asked about again
                log.error("%s: %s", waiting.document, exc)
                self.put(waiting, "")

    def _take(self) -> _SlowFile | None:
        with self._changed:
            while not self._is_closed:
                if (waiting := next(self._round, None)) is not None:
                    return waiting
                if self._turns:
                    self._round = self._turns.round()
                else:
                    self._changed.wait()
            return None
