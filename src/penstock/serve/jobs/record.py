"""A job as it stands on disk: written whole before the client gets its id."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from penstock.redaction import SafeRepr
from penstock.serve.jobs.journal import JobJournal
from penstock.store.atomic_files import replacing, store_errors
from penstock.store.contents import FOLDERS
from penstock.store.ownership import claim_folder, refuse_links, remove, remove_tree

log = logging.getLogger(__name__)
JOBS = "jobs"  # below OUT
JOB_ID = re.compile(r"[0-9a-f]{24}")
INPUTS, OWN_OUT, VIEW = "inputs", "out", "view"  # below a job's folder
LINKED = ("run.json", "crops", "uploads", "enrich", "raw", "masks", "clouds", "meshes")  # a view's, to OUT's

Kind = Literal["parse", "volumes"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
CallbackState = Literal["", "waiting", "delivered", "failed"]
SECRETS = ("password",)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord(SafeRepr):
    """What is kept of a job. `state` is set when it is over; until then it follows from its pages.

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
    callback: str = ""  # the address that gets a POST at its end
    callback_state: CallbackState = ""
    callback_tries: int = 0
    callback_due: float = 0.0  # when it is tried next

    def ended(
        self, state: State, now: float, error: str = "", counts: Mapping[str, int] | None = None
    ) -> JobRecord:
        """Returns the record of a job that is over. Secrets are not kept longer than they are of use."""
        options = self.options
        if any(name in options for name in SECRETS):
            options = {name: value for name, value in options.items() if name not in SECRETS}
        return replace(
            self, state=state, finished=now, error=error, options=options, counts=counts or self.counts
        )


FIELDS = tuple(one.name for one in fields(JobRecord))


class JobFiles:
    """The records of OUT, and a folder for what belongs to a job.

    A job with a run of its own has a file: its options may hold a secret, which must go at its end. Others
    share a journal.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._folder = out / JOBS
        refuse_links(out, self._folder)
        self._journal = JobJournal(self._folder, out)

    def folder(self, id: str) -> Path:
        return self._folder / id

    def write(self, *records: JobRecord) -> None:
        shared = []
        for record in records:
            row = {name: getattr(record, name) for name in FIELDS}
            if not record.has_own_run:
                shared.append(row)
                continue
            with replacing(self._path(record.id), self._out, mode=0o600) as file:
                file.write(json.dumps(row).encode())
        if shared:
            self._journal.add(shared)

    def read_all(self) -> Iterator[JobRecord]:
        """Yields the records, oldest first. Leaves out what is no record, and says so in the log."""
        found: dict[str, JobRecord] = {}
        for path in self._folder.glob("*.json"):
            try:
                found[path.stem] = _record(json.loads(path.read_bytes()))
            except (ValueError, TypeError, KeyError, OSError, RecursionError) as exc:
                log.warning("%s is no job: %s", path, exc)
        for row in self._journal.rows():
            try:
                found[row["id"]] = _record(row)
            except (TypeError, KeyError) as exc:
                log.warning("%s in the journal is no job: %s", row["id"], exc)
        yield from sorted(found.values(), key=lambda record: record.created)

    def view(self, id: str) -> Path:
        """Returns a folder for the results of a job without a run of its own, with links to OUT's files."""
        folder = self.folder(id)
        view = folder / VIEW
        with store_errors(view):
            claim_folder(folder, view)
            view.mkdir(parents=True, exist_ok=True)
            for name in LINKED:
                target = self._out.absolute() / name
                if target.exists() and not os.path.lexists(view / name):
                    (view / name).symlink_to(target)
        return view

    def _remove(self, folder: Path) -> None:
        for name in LINKED:
            link = folder / VIEW / name
            if link.is_symlink() and link.readlink() == self._out.absolute() / name:
                link.unlink()
        remove_tree(folder, FOLDERS)

    def delete(self, record: JobRecord) -> None:
        path, folder = self._path(record.id), self.folder(record.id)
        if not record.has_own_run:
            self._journal.delete(record.id)
        with store_errors(path):
            remove(self._out, path)
            self._remove(folder)

    def tidy(self, wholly: bool = False) -> None:
        """Removes what is left on the disk of deleted jobs; if asked, whatever does not count any more."""
        self._journal.tidy(wholly)

    def close(self) -> None:
        self._journal.close()

    def delete_strays(self, known: set[str]) -> None:
        """Removes folders of jobs that were never promised, or whose deletion was cut short."""
        for folder in self._folder.glob("*/"):
            if folder.name not in known and JOB_ID.fullmatch(folder.name):
                self._remove(folder)

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"


def _record(row: Mapping[str, Any]) -> JobRecord:
    return JobRecord(**{**row, "documents": tuple(row["documents"])})
