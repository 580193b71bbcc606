"""How far a job is: counted from its pages, or from its own run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from penstock.errors import Failure
from penstock.serve.jobs.record import JobRecord, State
from penstock.serve.reading.catalogue import Catalogue
from penstock.serve.reading.progress import Status
from penstock.serve.reading.service import Service

OVER: tuple[State, ...] = ("done", "failed", "cancelled")
MAX_REASONS = 3  # different ones that a failed job names


@dataclass(frozen=True, slots=True)
class JobState:
    """A job's state at one moment. `finished` is set for every job that is over."""

    record: JobRecord
    state: State
    documents: tuple[Status, ...]
    pages: int | None  # None: not all are counted
    done: int
    failed: int
    finished: float | None  # seconds since 1970
    error: str

    @property
    def is_over(self) -> bool:
        return self.state in OVER


def own_state(record: JobRecord, now: Mapping[str, int] | None) -> JobState:
    """Returns the state of a job with a run of its own. `now` are its counts while it runs."""
    counts = now or record.counts
    state = record.state or ("queued" if now is None else "running")
    pages = counts.get("pages") if record.state is not None else None
    done, failed = counts.get("done", 0), counts.get("failed", 0)
    return JobState(record, state, (), pages, done, failed, record.finished, record.error)


def shared_state(record: JobRecord, service: Service) -> JobState:
    """Returns the state of a job that the service's run reads."""
    found = [service.status(name) or Status(name, None, 0, 0) for name in record.documents]
    done, failed = sum(one.done for one in found), sum(one.failed for one in found)
    counts = [one.pages for one in found if one.pages is not None]
    state: State = record.state or ("running" if done + failed else "queued")
    finished, error = record.finished, record.error
    if record.state is None and all(one.ready for one in found):
        state = "done" if done or not failed else "failed"
        finished = max((one.finished or record.created for one in found), default=record.created)
    if state == "failed" and not error:
        error = failed_sentence(failures_of(service.catalogue, record.documents))
    pages = sum(counts) if len(counts) == len(found) else None
    return JobState(record, state, tuple(found), pages, done, failed, finished, error)


def failures_of(catalogue: Catalogue, documents: tuple[str, ...]) -> Iterator[str]:
    """Yields why pages of these documents failed, in their order."""
    for document in documents:
        for part, place in catalogue.places(document).items():
            item = None if place.ok else catalogue.page(document, part)
            if item is not None:
                failures = [item.failure] if item.failure else [one for _, one in item.failed_parts()]
                yield from map(sentence, failures[:1])


def sentence(failure: Failure) -> str:
    return f"{failure.message} {failure.advice}".strip()


def failed_sentence(reasons: Iterator[str]) -> str:
    """Returns what is said of a job of which no page was read."""
    different = list(dict.fromkeys(islice(reasons, 100)))[:MAX_REASONS]
    return " ".join(["No page was read without a failure.", *different])
