"""The jobs of a service: made, shown, cancelled, deleted, and forgotten when their time is over."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from penstock.passes.parse import ParseOptions
from penstock.passes.photos import PhotoOptions
from penstock.serve.errors import NotADocument
from penstock.serve.jobs.job_runs import JobRuns, RunEnd
from penstock.serve.jobs.job_state import OVER, JobState, own_state, shared_state
from penstock.serve.jobs.photo_attachments import Attachments, check_attachments, keep_attachments
from penstock.serve.jobs.record import INPUTS, OWN_OUT, CallbackState, JobFiles, JobRecord, Kind
from penstock.serve.reading.service import Service
from penstock.serve.requests.received_file import ReceivedFile
from penstock.sources import formats
from penstock.sources.names.safe import safe_name
from penstock.store.atomic_files import make_folder, store_errors, sync_folder
from penstock.store.ownership import claim, claim_folder

log = logging.getLogger(__name__)
__all__ = ["JobState", "Jobs"]
MAX_JOBS = 100_000  # some 100 MB of memory
SWEEP_S = 60.0  # between two looks for jobs whose time is over
NOTHING: Attachments = MappingProxyType({})
NO_OPTIONS: Mapping[str, Any] = {}  # one for all jobs without


class Jobs:
    """Thread-safe. `keep_s` is how long a job is kept after its end; None: until someone deletes it."""

    def __init__(
        self,
        service: Service,
        base: ParseOptions | None = None,
        keep_s: float | None = None,
        clock: Callable[[], float] = time.time,
        measuring: PhotoOptions | None = None,
        at_once: int | None = None,
    ) -> None:
        self._service = service
        self._keep_s = keep_s
        self._clock = clock
        self.files = JobFiles(service.out)
        self._lock = threading.RLock()
        self._records: dict[str, JobRecord] = {}  # oldest first
        self._by_idempotency: dict[tuple[str, str], str] = {}
        self._reserved: set[tuple[str, str]] = set()
        self._owing: set[str] = set()  # jobs whose callback is not delivered yet
        # documents of the service's run, and the jobs that want them: nearly always one, so no set for each
        self._users: dict[str, tuple[str, ...]] = {}
        self.own_runs = JobRuns(base, measuring, self.files.folder, self._ended, at_once)
        self._opened = ExitStack()
        self._ending = threading.Event()
        self._sweeper = threading.Thread(target=self._sweep_until_the_end, name="job-sweeper", daemon=True)

    def __enter__(self) -> Jobs:
        for record in self.files.read_all():
            self._remember(record)
        if self._service.takes_documents:
            self.files.delete_strays(set(self._records))
            self.files.tidy(wholly=True)
            self._opened.enter_context(self.own_runs)
            for record in self._records.values():
                if record.has_own_run and record.state is None:
                    self.own_runs.put(record)
            self._sweeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._opened.close()
        if self._service.takes_documents:
            with self._lock:
                records = list(self._records.values())
            self._note_ends(records, self._clock())  # the next start would not know when
        self.files.close()

    # making

    @property
    def is_full(self) -> bool:
        return len(self._records) >= MAX_JOBS

    @contextmanager
    def reserved(self, owner: str, idempotency_key: str) -> Iterator[bool]:
        """Gives True to one request at a time with this idempotency key."""
        asked = (owner, idempotency_key)
        with self._lock:
            is_free = not idempotency_key or asked not in self._reserved
            if is_free:
                self._reserved.add(asked)
        try:
            yield is_free
        finally:
            if is_free:
                self._reserved.discard(asked)

    def repeated(self, owner: str, idempotency_key: str) -> JobRecord | None:
        """Returns the job that this owner made with this idempotency key."""
        with self._lock:
            id = self._by_idempotency.get((owner, idempotency_key)) if idempotency_key else None
            return self._records[id] if id is not None else None

    def create(
        self,
        kind: Kind,
        files: Sequence[ReceivedFile],
        options: Mapping[str, Any],
        owner: str = "",
        idempotency_key: str = "",
        digest: str = "",
        callback: str = "",
        attachments: Attachments = NOTHING,
        as_one: bool = False,
    ) -> JobRecord:
        """Takes the files: a power cut after it loses nothing.

        What holds documents (an archive, a mail) has a run of its own, unless a file is wanted `as_one`.
        Raises UsageError for wrong options, NotADocument for a file that cannot be one.
        """
        has_own_run = kind == "volumes" or bool(options)
        if has_own_run:
            self.own_runs.check(kind, options)
        has_own_run |= _hold_several(files, as_one)
        id = secrets.token_hex(12)
        for file in chain(files, *attachments.values()):
            with store_errors(file.path):
                file.put_on_disk()
        if attachments:
            check_attachments(files, attachments)
            keep_attachments(self.files.folder(id), attachments)
        take = self._keep if has_own_run else self._accept
        record = JobRecord(
            id=id,
            kind=kind,
            created=self._clock(),
            documents=take(id, files, owner),
            owner=owner,
            has_own_run=has_own_run,
            options=dict(options) if options else NO_OPTIONS,
            idempotency_key=idempotency_key,
            digest=digest,
            callback=callback,
            callback_state="waiting" if callback else "",
        )
        self.files.write(record)
        with self._lock:
            self._remember(record)
        if has_own_run:
            self.own_runs.put(record)
        return record

    def _accept(self, id: str, files: Sequence[ReceivedFile], owner: str) -> tuple[str, ...]:
        return tuple(self._service.accept(file.path, file.name, file.digest, owner).name for file in files)

    def _keep(self, id: str, files: Sequence[ReceivedFile], owner: str) -> tuple[str, ...]:
        names = []
        claim_folder(self.files.folder(id), self.files.folder(id) / OWN_OUT)
        for number, file in enumerate(files):
            target = self.files.folder(id) / INPUTS / f"{number:05d}" / safe_name(file.name)
            with store_errors(target):
                claim(self.files.folder(id), target)
                make_folder(target.parent)
                file.path.replace(target)
                sync_folder(target.parent)
            names.append(target.name)
        return tuple(names)

    # telling

    def get(self, id: str) -> JobState | None:
        with self._lock:
            record = self._records.get(id)
        return None if record is None else self._state(record)

    def all(self, owner: str | None, start: int, limit: int) -> list[JobState]:
        """Returns the jobs of an owner, latest first; with None those of all."""
        with self._lock:
            mine = [one for one in reversed(self._records.values()) if owner in (None, one.owner)]
        return [self._state(record) for record in mine[start : start + limit]]

    def owns(self, owner: str, document: str) -> bool:
        """Whether a job of this owner sent the document."""
        with self._lock:
            jobs = self._users.get(document, ())
            return any(self._records[id].owner == owner for id in jobs)

    def documents_of(self, owner: str) -> list[str]:
        """Returns the documents of the service's run that an owner's jobs sent."""
        with self._lock:
            return [
                name
                for name, jobs in self._users.items()
                if any(self._records[id].owner == owner for id in jobs)
            ]

    def count(self) -> dict[str, int]:
        """Returns how many jobs are in each state; those not over count as running."""
        with self._lock:
            states = [record.state or "running" for record in self._records.values()]
        return {state: states.count(state) for state in ("running", *OVER)}

    def out_of(self, record: JobRecord) -> Path:
        """Returns the folder of a job's own run."""
        return self.files.folder(record.id) / OWN_OUT

    def _state(self, record: JobRecord) -> JobState:
        """Returns how far a job is: its own run says so, or the documents of the service's run."""
        if not record.has_own_run:
            return shared_state(record, self._service)
        return own_state(record, None if record.state is not None else self.own_runs.counts(record.id))

    # ending

    def cancel(self, id: str) -> JobState | None:
        """Ends a job; pages at work are finished. Documents that another job wants are read on."""
        with self._lock:
            state = self.get(id)
            if state is None or state.is_over:
                return state
            self._store(state.record.ended("cancelled", self._clock(), counts=_counts(state)))
            if state.record.has_own_run:
                self.own_runs.cancel(id)
            for name in state.record.documents if not state.record.has_own_run else ():
                if all(self._is_over(other) for other in self._users[name]):
                    self._service.cancel(name)
        return self.get(id)

    def measure_again(self, id: str, options: Mapping[str, Any]) -> JobState | None:
        """Begins a job of photos anew that is over: photos whose boxes have changed are measured."""
        self.own_runs.check("volumes", options)
        with self._lock:
            state = self.get(id)
            if state is None or not state.is_over:
                return state
            record = replace(state.record, state=None, finished=None, error="", options=dict(options))
            self._store(record)
            self.own_runs.put_again(record)
        return self.get(id)

    def delete(self, id: str) -> bool:
        """Deletes a job and what it made. Documents that another job has stay."""
        self.cancel(id)
        with self._lock:
            record = self._records.pop(id, None)
            if record is None:
                return False
            self._by_idempotency.pop((record.owner, record.idempotency_key), None)
            self._owing.discard(id)
            self.files.delete(record)
            for name in record.documents if not record.has_own_run else ():
                users = tuple(one for one in self._users.pop(name, ()) if one != id)
                if users:
                    self._users[name] = users
                else:
                    self._service.delete(name)
        return True

    def sweep(self) -> None:
        """Notes which jobs are over, and deletes those whose time is over, too."""
        now = self._clock()
        with self._lock:
            records = list(self._records.values())
        self._note_ends(records, now)
        for record in records:
            if self._keep_s is not None and now - (record.finished or now) > self._keep_s:
                self.delete(record.id)
        self.files.tidy()

    def owed(self, now: float, longest_s: float) -> list[JobState]:
        """Returns jobs that are over and whose callback is to be tried now, oldest first.

        One that would wait for more than `longest_s` is due: the clock was set back since.
        """
        with self._lock:
            waiting = [self._records[id] for id in self._owing]
        ready = (one for one in waiting if not now < one.callback_due <= now + longest_s)
        due = sorted(ready, key=lambda one: one.created)
        self._note_ends(due, now)
        states = [state for record in due if (state := self.get(record.id)) is not None]
        return [state for state in states if state.record.state is not None]

    def note_callback(self, id: str, state: CallbackState, tries: int, due: float = 0.0) -> None:
        """Keeps what came of a try, for this process and the next."""
        with self._lock:
            record = self._records.get(id)
            if record is None:
                return
            self._store(replace(record, callback_state=state, callback_tries=tries, callback_due=due))
            if state != "waiting":
                self._owing.discard(id)

    def _note_ends(self, records: Iterable[JobRecord], now: float) -> None:
        """Notes which of these jobs of the service's run are over."""
        open_ones = (one for one in records if one.state is None and not one.has_own_run)
        over = [state for state in map(self._state, open_ones) if state.is_over]
        with self._lock:
            ended = [
                current.ended(state.state, state.finished or now, state.error, _counts(state))
                for state in over
                if (current := self._records.get(state.record.id)) is not None and current.state is None
            ]
            self._store(*ended)

    def _sweep_until_the_end(self) -> None:
        while not self._ending.wait(SWEEP_S):
            try:
                self.sweep()
                self._service.purge()
            except Exception:  # a full disk: the next look may go well
                log.exception("jobs were not looked through")

    def _is_over(self, id: str) -> bool:
        record = self._records[id]
        return record.state is not None or self._state(record).is_over

    def _ended(self, id: str, end: RunEnd) -> None:
        with self._lock:
            record = self._records.get(id)
            if record is not None and record.state is None:
                self._store(record.ended(end.state, self._clock(), end.error, end.counts))

    def _store(self, *records: JobRecord) -> None:
        self.files.write(*records)
        self._records.update((record.id, record) for record in records)

    def _remember(self, record: JobRecord) -> None:
        self._records[record.id] = record
        if record.idempotency_key:
            self._by_idempotency[record.owner, record.idempotency_key] = record.id
        if record.callback_state == "waiting":
            self._owing.add(record.id)
        for name in record.documents if not record.has_own_run else ():
            users = self._users.get(name, ())
            if record.id not in users:
                self._users[name] = (*users, record.id)


def _hold_several(files: Sequence[ReceivedFile], as_one: bool) -> bool:
    """Returns whether a file holds documents. Raises NotADocument for what is none, or not one."""
    kinds = {file.kind(): file.name for file in files}
    archives = kinds.keys() & formats.ARCHIVES
    if as_one and archives:
        name = kinds[archives.pop()]
        raise NotADocument(f"{name} is an archive, which is not one document.", "Send it to /v1/parse.")
    return bool(archives or (kinds.keys() & formats.MAILS and not as_one))


def _counts(state: JobState) -> Mapping[str, int]:
    return _shared_counts(state.pages or 0, state.done, state.failed)


@lru_cache(1024)
def _shared_counts(pages: int, done: int, failed: int) -> Mapping[str, int]:
    """Returns one and the same for equal counts: most jobs that are kept are of a page or two."""
    return {"pages": pages, "done": done, "failed": failed}
