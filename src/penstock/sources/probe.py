"""Counts the pages of foreign files in a process that can be killed.

One child counts the pages of a whole listing; it starts with the first question. Questions about many
files travel together: a round trip costs as much as opening a small file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from penstock.errors import BadInput, DeadlinePassed, Failure, ItemError, UsageError, WorkerDied
from penstock.processes.child import Child
from penstock.sources import formats
from penstock.sources.files import Candidate
from penstock.sources.probe_questions import CountParts, FileProbe, PartCount

STAGE = "list"  # where failures of a listing say they happened
MAX_AT_ONCE = 64  # files a question; 10,000 TIFFs are then 160 round trips
PROBE_DEADLINE_S = 60.0  # rebuilding the table of a damaged PDF reads all of it, maybe 1 GB from a slow disk
COUNTED = formats.MULTI_FRAME | formats.STRUCTURES | {"pdf"}


Counts = dict[Path, PartCount | Failure]


class FileCounter(Protocol):
    """Counts the pages of files."""

    def counts(self, files: Sequence[Candidate]) -> Counts: ...

    def close(self) -> None: ...


class PageCounter:
    """Finds out from the child how many parts files have. Any thread may use it.

    Holds the child; close it, or use it in a `with`. With a deadline, files that take longer together, or
    end the child, raise DeadlinePassed or WorkerDied; else each is asked about alone, and fails alone.
    `in_slices` leaves each that takes long, and tells it as a failure of the kind DeadlinePassed.
    """

    def __init__(
        self, password: str | None = None, deadline_s: float | None = None, in_slices: bool = False
    ) -> None:
        self._deadline_s = deadline_s
        self._in_slices = in_slices
        self._child: Child[CountParts, Sequence[PartCount | ItemError]] = Child(
            FileProbe(password).open, name="the file probe", confined=True
        )
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> PageCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._is_closed = True
        self._child.interrupt()  # a question that waits for its answer holds the lock
        with self._lock:
            self._child.close()

    def counts(self, files: Sequence[Candidate]) -> Counts:
        """Returns counts by path, for the files that may have several parts."""
        asked = [file for file in files if file.kind in COUNTED]
        if not asked:
            return {}
        with self._lock:
            if self._is_closed:  # the child would start again, and stay
                raise UsageError("The listing is closed.")
            return dict(self._ask(asked))

    def _ask(
        self, files: Sequence[Candidate], died_before: bool = False
    ) -> Iterator[tuple[Path, PartCount | Failure]]:
        named = tuple((str(file.found.path), file.kind) for file in files if file.kind)
        question = CountParts(named, self._in_slices)
        try:
            answers = self._child.call(question, self._deadline_s or PROBE_DEADLINE_S)
        except (WorkerDied, DeadlinePassed) as exc:
            if self._is_closed:
                raise UsageError("The listing is closed.") from exc
            if self._deadline_s is not None:
                raise
            # one of many caused it: one by one, it fails alone. One gets another chance, as with any worker:
            # the process may have died before, for want of memory
            if len(files) > 1 or (isinstance(exc, WorkerDied) and not died_before):
                for file in files:
                    yield from self._ask([file], died_before=len(files) == 1)
                return
            answers = [exc]
        for file, answer in zip(files, answers, strict=True):
            document = file.found.document
            yield file.found.path, answer if isinstance(answer, PartCount) else as_failure(document, answer)


def as_failure(where: str, exc: ItemError) -> Failure:
    return Failure(stage=STAGE, kind=_kind(exc), message=f"{where}: {exc.message}", advice=exc.advice)


def _kind(exc: ItemError) -> str:
    return "BadInput" if isinstance(exc, BadInput) else type(exc).__name__
