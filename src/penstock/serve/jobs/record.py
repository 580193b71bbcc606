"""A job as it stands on disk: written whole before the client is told of it."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from penstock.store.atomic_files import replace_whole, store_errors

log = logging.getLogger(__name__)
JOBS = "jobs"  # below OUT
INPUTS, OWN_OUT, VIEW = "inputs", "out", "view"  # below a job's folder

Kind = Literal["parse", "volumes"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
CallbackState = Literal["", "waiting", "told", "given up"]
SECRETS = ("password",)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """What is kept of a job. `state` is set when it is over; until then it is told from its pages.

    A job without options of its own is read by the service's run, and `documents` are its names there.
    Another has a run of its own, and `documents` are the names of its files.
    """

    id: str
    kind: Kind
    created: float  # seconds since 1970
    documents: tuple[str, ...]
    owner: str = ""  # the key that sent it
    has_own_run: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # a password may be among them
    idempotency_key: str = ""
    digest: str = ""  # of what was asked: the same idempotency key may not come with something else
    state: State | None = None
    finished: float | None = None
    error: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)  # pages, done, failed: of its own run
    callback: str = ""  # the address that is told of its end
    callback_state: CallbackState = ""
    callback_tries: int = 0
    callback_due: float = 0.0  # when it is tried next

    def ended(
        self, state: State, now: float, error: str = "", counts: Mapping[str, int] | None = None
    ) -> JobRecord:
        """Returns the record of a job that is over. Secrets are not kept longer than they are of use."""
        options = {name: value for name, value in self.options.items() if name not in SECRETS}
        return replace(
            self, state=state, finished=now, error=error, options=options, counts=counts or self.counts
        )


FIELDS = tuple(one.name for one in fields(JobRecord))


class JobFiles:
    """The records of OUT, one file each, and a folder for what belongs to a job."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._folder = out / JOBS

    def folder(self, id: str) -> Path:
        return self._folder / id

    def write(self, record: JobRecord) -> None:
        row = {name: getattr(record, name) for name in FIELDS}
        path, data = self._path(record.id), json.dumps(row).encode()
        replace_whole(path, self._out, data, mode=0o600)

    def read_all(self) -> Iterator[JobRecord]:
        """Yields the records, oldest first. Leaves out what is no record, and says so in the log."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                row = json.loads(path.read_bytes())
                found.append(JobRecord(**{**row, "documents": tuple(row["documents"])}))
            except (ValueError, TypeError, KeyError, OSError, RecursionError) as exc:
                log.warning("%s is no job: %s", path, exc)
        yield from sorted(found, key=lambda record: record.created)

    def delete(self, id: str) -> None:
        with store_errors(self._path(id)):
            self._path(id).unlink(missing_ok=True)
            shutil.rmtree(self.folder(id), ignore_errors=True)

    def delete_strays(self, known: set[str]) -> None:
        """Removes folders of jobs that were never promised, or whose deletion was cut short."""
        for folder in self._folder.glob("*/"):
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"
