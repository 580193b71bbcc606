"""Runs of jobs with options of their own: one at a time, each in its own folder, resumed after a restart."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from penstock.driver import Tally
from penstock.errors import PenstockError
from penstock.passes.parse import ParseOptions, parse_work
from penstock.passes.photos import PhotoOptions, photos_work
from penstock.passes.settings import recipe_options
from penstock.passes.work import Work
from penstock.serve.jobs.record import INPUTS, OWN_OUT, JobRecord, State
from penstock.sources.page_range import PageRange

log = logging.getLogger(__name__)
MAX_QUEUED = 200  # jobs; each has its files on disk
END_S = 30.0  # for the page at work when the service ends
OF_A_RUN = ("pages", "max_pages")  # of a job's options: those that are not the recipe's
OF_PHOTOS = ("boxes", "known", "same_room")


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    state: State
    error: str
    counts: Mapping[str, int]


class OwnRuns:
    """Works jobs off, oldest first, on one thread. `base` is how the service itself reads."""

    def __init__(
        self, base: ParseOptions | None, folder: Callable[[str], Path], on_end: Callable[[str, RunEnd], None]
    ) -> None:
        self._base = base
        self._folder = folder
        self._on_end = on_end
        self._queue: queue.SimpleQueue[JobRecord | None] = queue.SimpleQueue()
        self._cancelled: set[str] = set()
        self._ending = threading.Event()
        self._current: tuple[str, Tally] | None = None
        self._thread = threading.Thread(target=self._work, name="own-runs", daemon=True)

    def __enter__(self) -> OwnRuns:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._queue.put(None)
        self._thread.join(END_S)

    @property
    def is_full(self) -> bool:
        return self._queue.qsize() >= MAX_QUEUED

    @property
    def num_queued(self) -> int:
        return self._queue.qsize()

    def check(self, kind: str, options: Mapping[str, Any]) -> None:
        """Raises UsageError for options that the recipe does not take, before a job is promised."""
        if kind == "volumes":
            _photo_options((), options).plan()
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
        current = self._current
        return _counts(current[1]) if current is not None and current[0] == id else None

    def _work(self) -> None:
        while (record := self._queue.get()) is not None and not self._ending.is_set():
            if record.id in self._cancelled:
                continue
            end = self._run(record)
            self._current = None
            if end is not None:
                self._on_end(record.id, end)

    def _run(self, record: JobRecord) -> RunEnd | None:
        """Runs one job to its end. None: the service ends, and the next start goes on with it."""
        tally = Tally()
        try:
            work = self._job(record)
            tally = work.run.tally
            self._current = record.id, tally
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
        return RunEnd("done" if counts["done"] or not counts["failed"] else "failed", "", counts)

    def _job(self, record: JobRecord) -> Work[Any]:
        folder = self._folder(record.id)
        files = tuple(str(path) for path in sorted((folder / INPUTS).glob("*/*")))
        if record.kind == "volumes":
            return photos_work(_photo_options(files, record.options), folder / OWN_OUT)
        return parse_work(self._parse_options(files, record.options), folder / OWN_OUT)

    def _parse_options(self, files: tuple[str, ...], options: Mapping[str, Any]) -> ParseOptions:
        base = self._base or ParseOptions(inputs=())
        own = {name: value for name, value in options.items() if name not in OF_A_RUN}
        of_run = {name: options[name] for name in OF_A_RUN if name in options}
        settings = {**base.settings, **recipe_options(cast(Any, own))}
        return replace(base, inputs=files, settings=settings, **of_run)


def _photo_options(files: tuple[str, ...], options: Mapping[str, Any]) -> PhotoOptions:
    settings = {name: value for name, value in options.items() if name not in OF_PHOTOS}
    if "labels" in settings:
        settings["labels"] = tuple(settings["labels"])
    return PhotoOptions(
        photos=files,
        boxes=tuple(options.get("boxes", ())),
        known=tuple(options.get("known", ())),
        same_room=bool(options.get("same_room", False)),
        settings=settings,
    )


def _counts(tally: Tally) -> dict[str, int]:
    """Returns the pages of a job: those of before a restart count, too."""
    failed = tally.failed + tally.failed_before
    done = tally.done + tally.skipped - tally.failed_before
    return {"pages": tally.listed, "done": done, "failed": failed}
