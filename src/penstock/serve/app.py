"""The HTTP API: documents in, pages, pictures and search results out. Answers are JSON, errors too.

What documents contain stays data: JSON for programs, text nodes on the web page, never markup.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response

import penstock
from penstock.exports.inventory import inventory, object_row
from penstock.exports.overlays import draw
from penstock.exports.page_files import page_piece
from penstock.exports.page_pictures import PageRenderer
from penstock.exports.page_rows import picture_row, result_row
from penstock.page import Page
from penstock.passes.questions import Questions
from penstock.photo import Photo
from penstock.region import Region
from penstock.retrieval.index_folder import FOLDER
from penstock.retrieval.searcher import Searcher
from penstock.serve.errors import ERRORS, HttpRefusal, OriginCheckMiddleware
from penstock.serve.origin_check import OriginCheck
from penstock.serve.service import MAX_WAITING, Service, Status
from penstock.serve.upload import discard, receive
from penstock.store.atomic_files import store_errors
from penstock.store.out import Out

LOOK_S = 0.2
MAX_WAIT_S = 60.0  # proxies give up on a silent answer soon after
RECENT_PICTURES = 32  # of some 200 kB
MAX_ARRIVING = 64  # bodies at once; each has a file open
SEND_THE_BYTES = "Send the file's bytes: curl --data-binary @FILE."
MAX_ASKING = 64  # requests that wait for the one drawing process, or for the one searcher
# the store names these files by their content
KEPT = re.compile(r"(crops|masks|clouds|meshes)/[0-9a-f]{8,64}\.(jpg|png|ply|glb)")
PAGE_FILES = {"/": ("page.html", "text/html"), "/page.js": ("page.js", "text/javascript")}

Name = Annotated[str, Query(description="The document's name as /v1/documents gives it.")]
PageNumber = Annotated[int, Query(ge=1, description="From 1.")]
T = TypeVar("T")


def app_of(service: Service, max_mb: int = 512, names: Sequence[str] = ()) -> FastAPI:
    """Returns the application. The caller enters and leaves `service`; `names` go to OriginCheck."""
    routes = _Routes(service, max_mb)
    app = FastAPI(
        title="Penstock", version=penstock.__version__, docs_url=None, redoc_url=None, lifespan=routes.open
    )
    app.add_middleware(OriginCheckMiddleware, check=OriginCheck(names))
    for error, answer in ERRORS.items():
        app.add_exception_handler(error, answer)
    app.get("/health")(routes.health)
    app.get("/v1/documents")(routes.documents)
    app.post("/v1/documents", status_code=202)(routes.take)
    app.get("/v1/document")(routes.document)
    app.get("/v1/markdown")(routes.markdown)
    app.get("/v1/page")(routes.page)
    app.get("/v1/picture")(routes.picture)
    app.get("/v1/file/{path:path}")(routes.file)
    app.get("/v1/search")(routes.search)
    for path, (name, kind) in PAGE_FILES.items():
        app.get(path, include_in_schema=False)(_file(name, kind))
    return app


class _Routes:
    """One method for each route. FastAPI runs those that are not async on threads."""

    def __init__(self, service: Service, max_mb: int) -> None:
        self._service = service
        self._max_bytes = max_mb << 20
        self._arriving = 0
        self._pictures = _DrawnPages(service.out)
        self._search = _Search(service.out)

    @asynccontextmanager
    async def open(self, _: FastAPI) -> AsyncIterator[None]:
        with self._pictures.opened, self._search.opened:
            yield

    async def health(self) -> dict[str, Any]:
        service = self._service
        if service.error is not None:
            raise service.error
        return {
            "version": penstock.__version__,
            "takes_documents": service.takes_documents,
            "waiting_pages": service.waiting,
        }

    def documents(
        self,
        start: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000, alias="most")] = 1_000,
    ) -> list[dict[str, Any]]:
        """Documents and their progress: those sent to the service, latest first, then the others."""
        return [_status_row(status) for status in self._service.documents(start, limit)]

    async def take(self, request: Request, name: Name) -> dict[str, Any]:
        """Takes the body as a document called `name`.

        Of a document that was sent before, only the pages that failed are read again.
        """
        self._arriving += 1
        try:
            if (refused := self._refusal(request)) is not None:
                await discard(request.headers, request.stream())
                raise refused
            return await self._taken(request, name)
        finally:
            self._arriving -= 1

    def _refusal(self, request: Request) -> HttpRefusal | None:
        service, headers = self._service, request.headers
        if not service.takes_documents:
            return HttpRefusal(
                405, "This service shows a run and takes no documents.", "Start it with --recipe."
            )
        if service.error is not None:
            return HttpRefusal(503, service.error.message, service.error.advice)
        if service.is_full:
            return HttpRefusal(429, f"{MAX_WAITING} pages are waiting already.", "Send it again later.")
        if self._arriving > MAX_ARRIVING:
            return HttpRefusal(429, f"{MAX_ARRIVING} documents are arriving already.", "Send it again later.")
        if headers.get("content-encoding", "identity").lower() != "identity":
            return HttpRefusal(415, "The body is compressed.", "Send the file as it is.")
        if headers.get("content-type", "").lower().startswith("multipart/"):
            return HttpRefusal(415, "The body is a form.", SEND_THE_BYTES)
        if int(headers.get("content-length", 0)) > self._max_bytes:
            return HttpRefusal(413, f"A document may have {self._max_bytes >> 20} MB at most.")
        return None

    async def _taken(self, request: Request, name: str) -> dict[str, Any]:
        with self._service.incoming() as path:
            with store_errors(path):
                digest, size = await receive(request.stream(), path, self._max_bytes)
            if not size:
                raise HttpRefusal(400, "The body is empty.", SEND_THE_BYTES)
            return _status_row(await run_in_threadpool(self._service.accept, path, name, digest))

    async def document(self, name: Name, wait: Annotated[float, Query(ge=0)] = 0.0) -> dict[str, Any]:
        """A document's progress. With `wait`, answers when all of it is read or after so many seconds."""
        end = time.monotonic() + min(wait, MAX_WAIT_S)
        while True:
            status = await run_in_threadpool(self._known, name)
            if not status.ready and self._service.error is not None:
                raise self._service.error
            if status.ready or time.monotonic() >= end:
                parts = await run_in_threadpool(self._service.catalogue.places, name)
                rows = [{"page": part + 1, "ok": place.ok} for part, place in parts.items()]
                return _status_row(status) | {"parts": rows}
            await asyncio.sleep(LOOK_S)  # not on a thread: threads are few, and many clients may wait

    def _known(self, name: str) -> Status:
        status = self._service.status(name)
        if status is None:
            raise HttpRefusal(404, f"There is no document {name!r}.")
        return status

    def markdown(self, name: Name) -> Response:
        """The document's pages that are read, as Markdown."""
        self._known(name)
        parts = self._service.catalogue.places(name)
        found = (self._service.catalogue.page(name, part) for part in parts)
        text = "".join(page_piece(page, "file/") for page in found if isinstance(page, Page))
        return Response(text, media_type="text/markdown; charset=utf-8")

    def page(self, name: Name, page: PageNumber) -> dict[str, Any]:
        """One page as in ocr_results.jsonl; a photo with its objects as in objects.jsonl."""
        item = self._item(name, page)
        return result_row(item) if isinstance(item, Page) else _photo_row(item)

    async def picture(self, name: Name, page: PageNumber, boxes: bool = True) -> Response:
        """The page as JPEG, with the boxes of its regions or objects."""
        item = await run_in_threadpool(self._item, name, page)
        jpeg = await self._pictures(item, boxes)
        return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=60"})

    def file(self, path: str) -> FileResponse:
        """A crop, mask, cloud or mesh, by the path in its region or object."""
        file = self._service.out / path
        if not KEPT.fullmatch(path) or not file.is_file():
            raise HttpRefusal(404, "There is no such file.")
        return FileResponse(file, headers={"Cache-Control": "private, max-age=86400"})

    async def search(
        self,
        q: Annotated[str, Query(min_length=1, max_length=1000)],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> list[dict[str, Any]]:
        """Pages that answer the question, best first. Needs `penstock index`."""
        return await self._search(q, top)

    def _item(self, name: str, page: int) -> Page | Photo:
        item = self._service.catalogue.page(name, page - 1)
        if item is None:
            raise HttpRefusal(404, f"{name!r} has no page {page}, or it is not read yet.")
        return item


class _InTurn:
    """Runs one call at a time on a thread. Refuses more than MAX_ASKING that wait."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(1)

    async def __call__(self, work: Callable[[], T]) -> T:
        if self._limiter.statistics().tasks_waiting >= MAX_ASKING:
            raise HttpRefusal(503, "Too many requests wait for this.", "Try again in a moment.")
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


class _DrawnPages:
    """Draws pages in a process that starts with the first one. Keeps the latest pictures."""

    def __init__(self, out: Path) -> None:
        self.opened = ExitStack()
        self._out = out
        self._in_turn = _InTurn()
        self._maker: PageRenderer | None = None
        self._recent: OrderedDict[tuple[str, int, bool], bytes] = OrderedDict()

    async def __call__(self, item: Page | Photo, boxes: bool) -> bytes:
        return await self._in_turn(partial(self._kept, item, boxes))

    def _kept(self, item: Page | Photo, boxes: bool) -> bytes:
        key = (item.id, item.attempt, boxes)
        jpeg = self._recent[key] = self._recent.get(key) or self._made(item, boxes)
        self._recent.move_to_end(key)
        while len(self._recent) > RECENT_PICTURES:
            self._recent.popitem(last=False)
        return jpeg

    def _made(self, item: Page | Photo, boxes: bool) -> bytes:
        if self._maker is None:
            self._maker = self.opened.enter_context(PageRenderer(Out(self._out)))
        pixels = self._maker.picture(item)
        if isinstance(pixels, str):
            raise HttpRefusal(404, pixels)
        return draw(_boxes(item) if boxes else (), pixels)


class _Search:
    """Opens the index at the first question, and again after it was rebuilt."""

    def __init__(self, out: Path) -> None:
        self.opened = ExitStack()
        self._out = out
        self._in_turn = _InTurn()
        self._current: tuple[Searcher, Questions] | None = None
        self._stamp = -1

    async def __call__(self, question: str, top: int) -> list[dict[str, Any]]:
        return await self._in_turn(partial(self._answers, question, top))

    def _answers(self, question: str, top: int) -> list[dict[str, Any]]:
        searcher, questions = self._up_to_date()
        return [asdict(hit) for hit in searcher.search(question, questions.vector(question), top=top)]

    def _up_to_date(self) -> tuple[Searcher, Questions]:
        folder = self._out / FOLDER
        stamp = folder.stat().st_mtime_ns if folder.is_dir() else 0
        if self._current is None or stamp != self._stamp:
            self.opened.close()
            self._current = None  # there may be no index: the next question looks for it again
            searcher = self.opened.enter_context(Searcher(Out(self._out)))
            self._current = searcher, self.opened.enter_context(Questions(self._out))
            self._stamp = stamp
        return self._current


def _photo_row(photo: Photo) -> dict[str, Any]:
    """Returns a photo in the shape of a page's row, with its objects as in objects.jsonl."""
    found = inventory([photo], same_room=False)
    things = {"objects": [object_row(line) for line in found.lines], "total": asdict(found.boxes)}
    return {**picture_row(photo), "regions": [], "markdown": "", "image_crops": [], **things}


def _boxes(item: Page | Photo) -> tuple[Region, ...]:
    """Returns what to draw boxes for: a page's regions, or a photo's objects as regions."""
    if isinstance(item, Page):
        return item.regions
    return tuple(Region(label=thing.label, box=thing.box, index=thing.index) for thing in item.objects)


def _status_row(status: Status) -> dict[str, Any]:
    return {**asdict(status), "ready": status.ready}


def _file(name: str, kind: str) -> Callable[[], Response]:
    text = resources.files("penstock.serve").joinpath(name).read_text("utf-8")
    return lambda: Response(text, media_type=f"{kind}; charset=utf-8")
