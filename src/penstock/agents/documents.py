"""The documents behind the tools: one run over OUT that begins with the first call that needs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from penstock.addresses.locator import Locator
from penstock.agents.caller import caller
from penstock.agents.files import AllowedFiles, GivenFile
from penstock.agents.own_runs import OwnRuns, job_name
from penstock.choices import OfficeUse
from penstock.engines.image.codec import encode_jpeg
from penstock.errors import UsageError
from penstock.exports.located import Located, locate, located
from penstock.exports.overlays import QUALITY, draw
from penstock.exports.page_pictures import PageRenderer
from penstock.page import Page
from penstock.passes.parse import ParseOptions
from penstock.passes.search import search_out
from penstock.plan import Plan
from penstock.processes.background import Background
from penstock.region import Region
from penstock.retrieval.hits import Hit, SearchOptions
from penstock.serve.answers.kept_index import KeptIndex
from penstock.serve.jobs.jobs import Jobs
from penstock.serve.reading.progress import MAX_WAITING, Status
from penstock.serve.reading.service import Service
from penstock.serve.requests.received_file import ReceivedFile
from penstock.store.out import Out

if TYPE_CHECKING:
    from penstock.box import Pixels

MAX_NAMED = 10  # documents that a message names
JOB = job_name("")  # begins the names of documents that have a run of their own


class AgentDocuments:
    """Takes, shows and searches documents. Thread-safe. Without a plan it shows the run of OUT.

    `reading` is what a file begins with that needs a run of its own.
    """

    def __init__(
        self, out: Path, plan: Plan | None, files: AllowedFiles, reading: ParseOptions | None = None
    ) -> None:
        self._out = out
        self._plan = plan
        self._reading = reading
        self._files = files
        self._opened = ExitStack()
        self._opening = threading.Lock()
        self._drawing = threading.Lock()
        self._searching = threading.Lock()
        self._current: tuple[Service, Jobs, KeptIndex] | None = None
        self._renderer: PageRenderer | None = None

    def __enter__(self) -> AgentDocuments:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def takes_documents(self) -> bool:
        return self._plan is not None

    @property
    def service(self) -> Service:
        return self._open()[0]

    def _open(self) -> tuple[Service, Jobs, KeptIndex]:
        """The run begins with the first call. Agents' programs start their tools and may never use them."""
        with self._opening:
            if self._current is None:
                service = self._opened.enter_context(Service(self._out, self._plan))
                jobs = self._opened.enter_context(Jobs(service, self._reading))
                self._current = service, jobs, KeptIndex(service)
            return self._current

    @property
    def own_runs(self) -> OwnRuns:
        return OwnRuns(self._open()[1])

    def take(self, given: GivenFile, office: OfficeUse | None = None) -> Status:
        """Accepts a file; the same again is the same document of the same key, and of no other.

        What holds documents, and what is read another way than others, is a job of its own.
        """
        service, jobs, _ = self._open()
        if service.error is not None:
            raise service.error
        if service.is_full or jobs.is_full:
            raise UsageError(f"{MAX_WAITING} pages are waiting already.", "Call again later.")
        with service.incoming() as path:
            name, digest = self._files.copy(given, path)
            options = {"office": office} if office else {}
            owner, sent = caller().owner.name, "/".join([digest, name, *options.values()])
            before = jobs.repeated(owner, sent)
            if before is not None and before.has_own_run:
                return self.status(job_name(before.id))
            if before is not None and service.was_sent(before.documents[0]):
                return service.read_again(before.documents[0])
            record = jobs.create("parse", [ReceivedFile(path, name, digest)], options, owner, sent)
            return self.status(job_name(record.id) if record.has_own_run else record.documents[0])

    def documents_of(self, name: str) -> list[Status]:
        """Returns the documents that a taken file became."""
        return self.own_runs.documents(name) if name.startswith(JOB) else [self.status(name)]

    def listed(self, start: int = 0, limit: int | None = None) -> list[Status]:
        """Returns documents that the caller may see, those sent latest first."""
        end = None if limit is None else start + limit
        if caller().owner.may("admin"):
            mine = self.service.documents(0, end)
        else:
            mine = [status for status in self.service.documents() if self._sees(status.name)]
        return [*self.own_runs.all(), *mine][start:end]

    def among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Returns the documents to search in; none: all. Raises UsageError where the caller has none."""
        if names or caller().owner.may("admin"):
            return tuple(map(self.known, names))
        mine = tuple(status.name for status in self.listed())
        mine = tuple(name for name in mine if not name.startswith(JOB))
        if not mine:
            raise UsageError("No page is read yet.", "Call parse, or wait for it.")
        return mine

    def _sees(self, name: str) -> bool:
        owner = caller().owner
        return owner.may("admin") or self._open()[1].owns(owner.name, name)

    def status(self, name: str) -> Status:
        """Raises what broke the run, where a document waits for it."""
        if name.startswith(JOB):
            return self._own_status(name)
        status = self.service.status(name)
        if status is None or not self._sees(name):
            raise UsageError(f"There is no document {name!r}.")
        if not status.ready and self.service.error is not None:
            raise self.service.error
        return status

    def _own_status(self, name: str) -> Status:
        status, error = self.own_runs.status(name), self.own_runs.error(name)
        if status is None:
            raise UsageError(f"There is no document {name!r}.")
        if error is not None:
            raise error
        return status

    def known(self, name: str) -> str:
        """Returns a document's whole name: its last part is enough where only one has it."""
        if name.startswith(JOB) and self.own_runs.status(name) is not None:
            return name
        if self.service.status(name) is not None and self._sees(name):
            return name
        names = [status.name for status in self.listed()]
        alike = [one for one in names if name and one.rpartition("/")[2] == name]
        if len(alike) == 1:
            return alike[0]
        shown = ", ".join((alike or names)[:MAX_NAMED])
        raise UsageError(
            f"There is no document {name!r}.", f"There are: {shown}." if shown else "Call parse."
        )

    def pages(self, name: str) -> Iterator[Page]:
        """Yields the pages that are read."""
        is_own = name.startswith(JOB)
        for part in self.own_runs.parts(name) if is_own else self.service.catalogue.places(name):
            yield self.page(name, part + 1)

    def page(self, name: str, number: int) -> Page:
        rows = self.own_runs.item if name.startswith(JOB) else self.service.catalogue.page
        item = rows(name, number - 1)
        if not isinstance(item, Page):
            raise UsageError(f"{name} has no page {number}, or it is not read yet.")
        return replace(item, document=name)

    def at(self, locator: Locator) -> Located:
        """Returns what stands at an address of a document that the caller may see."""
        wanted = replace(locator, document=self.known(locator.document))
        if wanted.chunk is None and wanted.page is not None:
            return located(self.page(wanted.document, wanted.page), wanted)
        return locate(Out(self._out), wanted)

    def region(self, page: Page, number: int) -> Region:
        found = next((region for region in page.regions if region.index == number), None)
        if found is None:
            raise UsageError(
                f"Page {page.number} has no region {number}.", "For the list: read_page with regions=true."
            )
        return found

    def picture(self, page: Page, boxes: bool = False) -> bytes:
        """Returns the page as JPEG, with the boxes of its regions where asked."""
        return draw(page.regions if boxes else (), self._pixels(page))

    def region_picture(self, page: Page, region: Region) -> bytes:
        pixels = self._pixels(page)
        x0, y0, x1, y1 = (max(0, round(value)) for value in region.box)
        part = np.ascontiguousarray(pixels[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)])
        return draw((), part) if part.size else encode_jpeg(pixels, QUALITY)

    def search(self, question: str, options: SearchOptions) -> list[Hit]:
        """Answers from the index, which is made or brought up to date first."""
        with self._searching, Background() as background:
            self._open()[2].update()
            return search_out(self._out, question, options, background).hits

    def _pixels(self, page: Page) -> Pixels:
        with self._drawing:
            if self._renderer is None:
                self._renderer = self._opened.enter_context(PageRenderer(Out(self._out)))
            is_own = page.document.startswith(JOB)
            pixels = self.own_runs.pixels(page) if is_own else self._renderer.picture(page)
        if isinstance(pixels, str):
            raise UsageError(pixels)
        return pixels
