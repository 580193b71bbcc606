"""What every adapter does: takes files as a job, waits for it, and gives its pages."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from penstock.documents.formats.markdown import relink
from penstock.errors import UsageError
from penstock.page import Page
from penstock.serve.errors import HttpRefusal, NotADocument
from penstock.serve.guard.upload_deadlines import arrival_of
from penstock.serve.jobs.jobs import JobState
from penstock.serve.jobs.record import JobRecord
from penstock.serve.requests.body import BodyParser
from penstock.serve.routes.context import LATER, Context, max_bytes_of, owner_of, pause

SYNC_S = 1800.0  # that a client of an answer at once may wait: as long as RAGFlow does, the most patient one
MAX_TASKS = 1_000  # whose wishes are remembered, the latest
MAX_WISH = 200  # letters of one
MAX_PAGE = 10**9
Fill = Callable[[BodyParser], Awaitable[Mapping[str, Any]]]


class ForeignJobs:
    """Jobs for adapters."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._wishes: dict[str, Mapping[str, str]] = {}

    def remember(self, id: str, told: Mapping[str, Any], names: Sequence[str]) -> None:
        """Keeps what a task's client said about its result, in these names, until the service ends."""
        said = {name: str(told[name]) for name in names if name in told}
        self._wishes[id] = {name: value for name, value in said.items() if len(value) <= MAX_WISH}
        while len(self._wishes) > MAX_TASKS:
            del self._wishes[next(iter(self._wishes))]

    def wish(self, id: str) -> Mapping[str, str]:
        """Returns what was remembered of a task."""
        return self._wishes.get(id, {})

    async def taken(self, request: Request, fill: Fill, refusal: str = "") -> JobRecord:
        """Makes a job of what `fill` puts into the body; it returns our options.

        Raises HttpRefusal for what is no document, with the words of `refusal` where there are any.
        """
        context = self.context
        context.check_takes()
        with (
            context.arrivals.counted(arrival_of(request.scope, context.arrivals.bounds)) as crowded,
            context.bodies.opened(max_bytes_of(request)) as body,
        ):
            if crowded is not None:
                raise HttpRefusal(429, crowded, LATER)
            body.check(request)
            options = await fill(body)
            files = body.received.files
            if not files:
                raise HttpRefusal(400, "There is no file in the request.")
            try:
                owner = owner_of(request).name
                return await context.takers(partial(context.jobs.create, "parse", files, options, owner))
            except NotADocument as exc:
                words = (refusal, exc.message) if refusal else (exc.message, exc.advice)
                raise HttpRefusal(422, *words) from exc
            except UsageError as exc:
                raise HttpRefusal(422, exc.message, exc.advice) from exc

    async def finished(self, request: Request, fill: Fill, refusal: str = "") -> JobState:
        """Takes a job and waits for its end. A client that goes takes its job with it."""
        record = await self.taken(request, fill, refusal)
        began = time.monotonic()
        while not (state := await run_in_threadpool(self.context.job, request, record.id)).is_over:
            error = self.context.service.error
            if error is not None and not record.has_own_run:
                raise error
            if time.monotonic() - began > SYNC_S or await request.is_disconnected():
                await run_in_threadpool(self.context.jobs.cancel, record.id)
                raise HttpRefusal(
                    503, f"The document was not read in {SYNC_S:g} s.", "Use the jobs of /v1/parse."
                )
            await pause(began)
        return state

    async def pages(self, state: JobState) -> dict[str, list[Page]]:
        """Returns the pages by document, as the files were called."""
        return await self.context.exporting(lambda: self._pages(state.record))

    async def document(
        self, state: JobState, refusal: str = "No page could be read."
    ) -> tuple[str, list[Page]]:
        """Returns the name and the pages of a job's only document. Raises HttpRefusal when none was read.

        Of a mail that is the mail itself; an archive of several is no document.
        """
        found = await self.pages(state)
        if len(found) > 1 and not all(name.startswith(f"{next(iter(found))}/") for name in list(found)[1:]):
            raise HttpRefusal(
                422, f"The archive holds {len(found)} documents.", "Send it to /v1/parse, or send its files."
            )
        for name, pages in found.items():
            if any(page.failure is None for page in pages):
                return name, pages
        raise HttpRefusal(422, refusal, _reason(state, found.values()))

    async def exported(self, state: JobState, name: str) -> bytes:
        """Returns an export's file, or its ZIP."""
        path = await self.context.exporting(lambda: self.context.results.file(state.record, name))
        return await run_in_threadpool(path.read_bytes)

    async def exported_json(self, state: JobState, name: str) -> Any:
        return json.loads(await self.exported(state, name))

    def asset(self, state: JobState, path: str) -> bytes:
        """Returns the bytes of a crop that a page of the job names; none if it is gone."""
        found = self.context.results.folder(state.record) / path
        return found.read_bytes() if found.is_file() else b""

    def _pages(self, record: JobRecord) -> dict[str, list[Page]]:
        found: dict[str, list[Page]] = {}
        for item in self.context.results.items(record):
            if not isinstance(item, Page):
                raise UsageError("This service measures photos.", "Use /v1/volumes.")
            found.setdefault(item.document, []).append(item)
        return found


def _reason(state: JobState, documents: Iterable[Iterable[Page]]) -> str:
    failures = (page.failure for pages in documents for page in pages if page.failure is not None)
    return next((failure.message for failure in failures), state.record.error)


def crops_of(page: Page) -> list[str]:
    """Returns the paths of a page's kept pictures, each once."""
    return list(dict.fromkeys(path for region in page.regions if (path := region.crop_path)))


def without_links(page: Page) -> str:
    """Returns a page's Markdown for a client that gets no pictures: each is its words in brackets."""
    return relink(page.markdown, crops_of(page), None) if page.failure is None else ""


def page_span(first: int | None, last: int | None) -> dict[str, str]:
    """Returns the option for pages from `first` to `last`, from 1; nothing for all."""
    if (first is None or first <= 1) and (last is None or last >= MAX_PAGE):
        return {}
    return {"pages": f"{max(1, first or 1)}-{'' if last is None or last >= MAX_PAGE else last}"}


def whole_number(value: Any, name: str) -> int | None:
    """Returns a number that may be written as text. Raises HttpRefusal."""
    if value is None or value == "":
        return None
    try:
        return int(value)
    except (TypeError, ValueError) as exc:
        raise HttpRefusal(422, f"{name}: a whole number is wanted.") from exc


def is_true(value: Any, otherwise: bool = False) -> bool:
    """Reads a flag of a form or of JSON."""
    return otherwise if value is None else str(value).lower() in ("true", "1", "yes", "on")


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
