"""Runs of jobs with options of their own: a few at once, each in its own folder, resumed after a restart."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from penstock.driver import Tally
from penstock.errors import PenstockError
from penstock.options.running import RUN
from penstock.passes.parse import ParseOptions, parse_options, parse_work
from penstock.passes.photos import PhotoOptions, photos_work
from penstock.passes.prepared_run import PreparedRun
from penstock.processes.resources import visible_gpus
from penstock.serve.jobs.job_queue import JobQueue
from penstock.serve.jobs.job_state import failed_sentence, failures_of
from penstock.serve.jobs.photo_options import photo_options
from penstock.serve.jobs.record import INPUTS, OWN_OUT, JobRecord, State
from penstock.serve.reading.catalogue import Catalogue
from penstock.sources.page_range import PageRange

log = logging.getLogger(__name__)
MAX_QUEUED = 200  # jobs; each has its files on disk
AT_ONCE = 2  # each loads models of its own; a short job need not wait for a long one
AT_ONCE_ON_GPU = 1  # a card's memory is shared with the service's own run already
END_S = 30.0  # for the page at work when the service ends
OF_A_RUN = tuple(option.name for option in RUN if option.remote)  # of a job's: those of no recipe


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    state: State
    error: str
    counts: Mapping[str, int]


class JobRuns:
    """Works jobs off, `at_once` of them side by side, each on a thread.

    `reading` is how the service itself reads, `measuring` what it measures with.
    """

    def __init__(
        self,
        reading: ParseOptions | None,
        measuring: PhotoOptions | None,
        folder: Callable[[str], Path],
        on_end: Callable[[str, RunEnd], None],
        at_once: int | None = None,
    ) -> None:
        self._reading = reading or ParseOptions(inputs=())
        self._measuring = measuring or PhotoOptions(photos=())
        self._folder = folder
        self._on_end = on_end
        self._queue = JobQueue()
        self._cancelled: set[str] = set()
        self._ending = threading.Event()
        self._tallies: dict[str, Tally] = {}  # of jobs at work
        self._threads = [
            threading.Thread(target=self._work, name=f"own-runs-{number}", daemon=True)
            for number in range(at_once or (AT_ONCE_ON_GPU if visible_gpus() else AT_ONCE))
        ]

    def __enter__(self) -> JobRuns:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._queue.end()
        end = time.monotonic() + END_S
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    @property
    def is_full(self) -> bool:
        return len(self._queue) >= MAX_QUEUED

    @property
    def num_queued(self) -> int:
        return len(self._queue)

    def check(self, kind: str, options: Mapping[str, Any]) -> None:
        """Raises UsageError for options that the recipe does not take, before a job is promised."""
        if kind == "volumes":
            photo_options(self._measuring, options).plan()
        else:
            chosen = self._parse_options((), options)
            chosen.plan()
            if chosen.pages is not None:
                PageRange.parse(chosen.pages)

    def put(self, record: JobRecord) -> None:
        self._queue.put(record)

    def put_again(self, record: JobRecord) -> None:
        """Works off once more what is over; it may have been cancelled then."""
        self._cancelled.discard(record.id)
        self._queue.put(record)

    def cancel(self, id: str) -> None:
        self._cancelled.add(id)

    def counts(self, id: str) -> dict[str, int] | None:
        """Returns how far a job is; None if it has not begun."""
        tally = self._tallies.get(id)
        return _counts(tally) if tally is not None else None

    def _work(self) -> None:
        while not self._ending.is_set():
            with self._queue.next() as record:
                if record is None or record.id in self._cancelled:
                    continue
                end = self._run(record)
                self._tallies.pop(record.id, None)
                if end is not None:
                    self._on_end(record.id, end)

    def _run(self, record: JobRecord) -> RunEnd | None:
        """Runs one job to its end. None: the service ends, and the next start goes on with it."""
        tally = Tally()
        try:
            work = self._job(record)
            tally = work.run.tally
            self._tallies[record.id] = tally
            with closing(cast(Any, iter(work))) as items:
                for _ in cast(Iterator[object], items):
                    if self._ending.is_set():
                        return None
                    if record.id in self._cancelled:
                        return RunEnd("cancelled", "", _counts(tally))
        except PenstockError as exc:
            return RunEnd("failed", f"{exc.message} {exc.advice}".strip(), _counts(tally))
        except Exception as exc:  # whoever asks is told; the thread has to go on
            log.exception("a bug in Penstock")
            return RunEnd("failed", f"{type(exc).__name__}: {exc}", _counts(tally))
        counts = _counts(tally)
        if counts["done"] or not counts["failed"]:
            return RunEnd("done", "", counts)
        return RunEnd("failed", self._reasons(record), counts)

    def _reasons(self, record: JobRecord) -> str:
        rows = Catalogue(self._folder(record.id) / OWN_OUT, follows=False)
        return failed_sentence(failures_of(rows, tuple(rows.documents())))

    def _job(self, record: JobRecord) -> PreparedRun[Any]:
        folder = self._folder(record.id)
        files = tuple(str(path) for path in sorted((folder / INPUTS).glob("*/*")))
        if record.kind == "volumes":
            chosen = photo_options(self._measuring, record.options, files, folder)
            return photos_work(chosen, folder / OWN_OUT)
        return parse_work(self._parse_options(files, record.options), folder / OWN_OUT)

    def _parse_options(self, files: tuple[str, ...], options: Mapping[str, Any]) -> ParseOptions:
        base = self._reading
        own = parse_options(files, options)
        settings = {**base.settings, **own.settings}
        of_run = {name: getattr(own, name) for name in OF_A_RUN if name in options}
        return replace(base, inputs=files, settings=settings, **of_run)


def _counts(tally: Tally) -> dict[str, int]:
    """Returns the pages of a job: those of before a restart count, too."""
    failed = tally.failed + tally.failed_before
    done = tally.done + tally.skipped - tally.failed_before
    return {"pages": tally.listed, "done": done, "failed": failed}
