"""What the routes share: the service, its jobs, and who may see what."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fastapi import Request

from penstock.page import Page
from penstock.serve.answers.bounded_calls import BoundedCalls
from penstock.serve.answers.pictures import DrawnPages
from penstock.serve.answers.searching import ServedSearch
from penstock.serve.answers.worker_threads import WorkerThreads
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.key_middleware import OWNER
from penstock.serve.guard.keys import EVERYONE, KeyOwner
from penstock.serve.guard.upload_deadlines import Arrivals
from penstock.serve.jobs.callbacks import CallbackSettings
from penstock.serve.jobs.jobs import Jobs, JobState
from penstock.serve.jobs.record import JobRecord, Kind
from penstock.serve.jobs.results import JobResults
from penstock.serve.reading.progress import MAX_WAITING
from penstock.serve.reading.service import Service
from penstock.serve.requests.body import BodyReader
from penstock.serve.requests.kept_files import KeptFiles
from penstock.sizes import MB

LATER = "Send it again later."
LOOK_S = 0.2  # at most between two looks at what someone waits for
MIN_LOOK_S = 0.01
MAX_LOOKS_A_S = 1_000  # of all who wait; beyond 200 of them LOOK_S holds


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a route may use."""

    service: Service
    jobs: Jobs
    results: JobResults
    bodies: BodyReader
    arrivals: Arrivals
    pictures: DrawnPages
    search: ServedSearch
    exporting: BoundedCalls
    takers: WorkerThreads  # that make jobs of what has arrived
    kept_files: KeptFiles  # uploaded before they are named
    callbacks: CallbackSettings
    is_open: bool  # to other machines, without a key

    def check_ready(self) -> None:
        """Raises HttpRefusal with the reason when no document can be read now."""
        if (problem := self.service.problem) is not None:
            raise HttpRefusal(503, problem.message, problem.advice)

    def check_takes(self, kind: Kind = "parse") -> None:
        """Raises HttpRefusal when no document can be taken now."""
        service = self.service
        if not service.takes_documents:
            raise HttpRefusal(
                405, "This service shows a run and takes no documents.", "Start it with --recipe."
            )
        if service.error is not None and kind == "parse":
            raise HttpRefusal(503, service.error.message, service.error.advice)
        if service.is_full:
            raise HttpRefusal(429, f"{MAX_WAITING} pages are waiting already.", LATER)
        if self.jobs.is_full or self.jobs.own_runs.is_full:
            raise HttpRefusal(429, "Too many jobs are waiting already.", LATER)

    def job(self, request: Request, id: str) -> JobState:
        """Returns a job that the caller may see. Raises HttpRefusal: one of another key is not there."""
        state = self.jobs.get(id)
        if state is None or not self.may_see(request, state.record):
            raise HttpRefusal(404, f"There is no job {id!r}.")
        return state

    def may_see(self, request: Request, record: JobRecord) -> bool:
        owner = owner_of(request)
        return owner.may("admin") or record.owner == owner.name

    def sees_document(self, request: Request, name: str) -> bool:
        owner = owner_of(request)
        return owner.may("admin") or self.jobs.owns(owner.name, name)


def owner_of(request: Request) -> KeyOwner:
    """Returns whose key the request came with."""
    found: KeyOwner = request.scope.get(OWNER, EVERYONE)
    return found


def max_bytes_of(request: Request) -> int | None:
    """Returns what a key's owner may send at once, where that has a bound of its own."""
    max_mb = owner_of(request).max_mb
    return max_mb * MB if max_mb else None


def pages_of(service: Service, names: Iterable[str], most: int) -> Iterator[Page]:
    """Yields the first pages of documents, so many at most in all."""
    for name in names:
        for part in list(service.catalogue.places(name))[:most]:
            page = service.catalogue.page(name, part)
            most -= 1
            if isinstance(page, Page):
                yield page


class _Pauses:
    """Waits before the next look at what someone waits for, so that no answer is later by a twentieth.

    The more wait at once, the longer: all of them together look some thousand times a second.
    """

    def __init__(self) -> None:
        self._waiting = 0

    async def __call__(self, began: float) -> None:
        """`began`: when the caller began to wait, by `time.monotonic()`."""
        self._waiting += 1
        try:
            wished = max(MIN_LOOK_S, self._waiting / MAX_LOOKS_A_S, (time.monotonic() - began) / 20)
            await asyncio.sleep(min(LOOK_S, wished))
        finally:
            self._waiting -= 1


pause = _Pauses()
