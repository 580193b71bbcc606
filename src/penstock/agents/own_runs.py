"""Documents of jobs with a run of their own: what an archive or a mail holds, files read with options.

Their names begin with the job's, as they have no place in the run behind the other tools.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.agents.caller import caller
from penstock.errors import UsageError
from penstock.exports.page_pictures import PageRenderer
from penstock.page import Page
from penstock.photo import Photo
from penstock.serve.jobs.job_state import JobState
from penstock.serve.jobs.jobs import Jobs
from penstock.serve.reading.catalogue import Catalogue
from penstock.serve.reading.progress import Status
from penstock.store.out import Out

if TYPE_CHECKING:
    from penstock.box import Pixels

NAME = re.compile(r"job:([0-9a-f]{24})(?:/(.+))?", re.DOTALL)
MAX_JOBS = 100  # of a caller, the latest, whose documents are listed


class OwnRuns:
    """Shows the documents of such jobs to the caller who sent them, and to an admin. Thread-safe."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def status(self, name: str) -> Status | None:
        """Returns how far a document is, or, by the name of a job alone, all of the job's together."""
        state, document = self._asked(name)
        if state is None:
            return None
        if document is None:
            return Status(name, state.pages, state.done, state.failed)
        places = self._rows(state).places(document).values()
        done = sum(place.ok for place in places)
        return Status(name, len(places) if state.is_over else None, done, len(places) - done)

    def documents(self, name: str) -> list[Status]:
        """Returns the documents of the job that a name begins with."""
        state, _ = self._asked(name)
        if state is None:
            return []
        names = [f"{job_name(state.record.id)}/{one}" for one in self._rows(state).documents()]
        return [status for one in names if (status := self.status(one)) is not None]

    def all(self) -> list[Status]:
        """Returns the documents of all such jobs that the caller may see, latest first."""
        owner = caller().owner
        states = self._jobs.all(None if owner.may("admin") else owner.name, 0, MAX_JOBS)
        own = (state for state in states if state.record.has_own_run and state.record.kind == "parse")
        return [status for state in own for status in self.documents(job_name(state.record.id))]

    def parts(self, name: str) -> list[int]:
        """Returns the pages of a document that are read, from 0."""
        state, document = self._asked(name)
        return [] if state is None or document is None else list(self._rows(state).places(document))

    def item(self, name: str, part: int) -> Page | Photo | None:
        state, document = self._asked(name)
        return None if state is None or document is None else self._rows(state).page(document, part)

    def pixels(self, page: Page) -> Pixels | str:
        """Returns a page's picture, or why there is none."""
        state, document = self._asked(page.document)
        if state is None or document is None:
            return f"There is no document {page.document!r}."
        with PageRenderer(Out(self._jobs.out_of(state.record))) as renderer:
            return renderer.picture(replace(page, document=document))

    def error(self, name: str) -> UsageError | None:
        """Returns why a job is over without a page."""
        state, _ = self._asked(name)
        failed = state is not None and state.state != "done" and state.is_over and not state.done
        return UsageError(state.error or f"The job was {state.state}.") if state and failed else None

    def _asked(self, name: str) -> tuple[JobState | None, str | None]:
        found = NAME.fullmatch(name)
        state = self._jobs.get(found[1]) if found is not None else None
        owner = caller().owner
        if found is None or state is None or not state.record.has_own_run:
            return None, None
        seen = owner.may("admin") or state.record.owner == owner.name
        return (state, found[2]) if seen else (None, None)

    def _rows(self, state: JobState) -> Catalogue:
        return Catalogue(self._jobs.out_of(state.record), follows=True)


def job_name(id: str) -> str:
    return f"job:{id}"
