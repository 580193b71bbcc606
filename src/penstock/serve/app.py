"""The HTTP API: documents in, pages, pictures and answers out. What it says is JSON, errors too.

Content of documents is data everywhere: JSON for programs, text nodes on the page, never markup.
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
from penstock.photo import Photo
from penstock.region import Region
from penstock.serve.errors import ERRORS, Guarded, Refused
from penstock.serve.origin_check import Guard
from penstock.serve.service import MAX_WAITING, Service, Status
from penstock.serve.upload import hear_out, receive
from penstock.store.atomic_files import store_errors
from penstock.store.out import Out

LOOK_S = 0.2
MOST_WAIT_S = 60.0  # proxies give up on a silent answer soon after
RECENT_PICTURES = 32  # of some 200 kB
MOST_ARRIVING = 64  # bodies at once; each has a file open
MAX_ASKING = 64  # for the one thing that draws pages, or the one that searches
# as the store names them: by their content
KEPT = re.compile(r"(crops|masks|clouds|meshes)/[0-9a-f]{8,64}\.(jpg|png|ply|glb)")
PAGE_FILES = {"/": ("page.html", "text/html"), "/page.js": ("page.js", "text/javascript")}

Name = Annotated[str, Query(description="The document's name as /v1/documents gives it.")]
PageNumber = Annotated[int, Query(ge=1, description="From 1.")]
T = TypeVar("T")


def app_of(service: Service, max_mb: int = 512, names: Sequence[str] = ()) -> FastAPI:
    """The application. `service` is entered and left by the caller; `names` are a proxy's, see Guard."""
    routes = _Routes(service, max_mb)
    app = FastAPI(
        title="Penstock", version=penstock.__version__, docs_url=None, redoc_url=None, lifespan=routes.open
    )
    app.add_middleware(Guarded, guard=Guard(names))
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
    """One method a question. FastAPI calls the plain ones on threads of their own."""

    def __init__(self, service: Service, max_mb: int) -> None:
        self._service = service
        self._max_bytes = max_mb << 20
        self._arriving = 0
        self._pictures = _Pictures(service.out)
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
        self, start: Annotated[int, Query(ge=0)] = 0, most: Annotated[int, Query(ge=1, le=10_000)] = 1_000
    ) -> list[dict[str, Any]]:
        """Documents and how far they are: what was sent, the latest first, then what else is there."""
        return [_status_row(status) for status in self._service.documents(start, most)]

    async def take(self, request: Request, name: Name) -> dict[str, Any]:
        """Takes the body as a document called `name`.

        What was sent before is not read again, but for its pages that failed.
        """
        self._arriving += 1
        try:
            if (refused := self._refusal(request)) is not None:
                await hear_out(request.headers, request.stream())
                raise refused
            return await self._taken(request, name)
        finally:
            self._arriving -= 1

    def _refusal(self, request: Request) -> Refused | None:
        service, headers = self._service, request.headers
        if not service.takes_documents:
            return Refused(405, "This service shows a run and takes no documents.", "Start it with --recipe.")
        if service.error is not None:
            return Refused(503, service.error.message, service.error.advice)
        if service.waiting > MAX_WAITING:
            return Refused(429, f"{MAX_WAITING} pages are waiting already.", "Send it again later.")
        if self._arriving > MOST_ARRIVING:
            return Refused(429, f"{MOST_ARRIVING} documents are arriving already.", "Send it again later.")
        if headers.get("content-encoding", "identity") != "identity":
            return Refused(415, "The body is compressed.", "Send the file as it is.")
        if headers.get("content-type", "").startswith("multipart/"):
            return Refused(415, "The body is a form.", "Send the file's bytes: curl --data-binary @FILE.")
        if int(headers.get("content-length", 0)) > self._max_bytes:
            return Refused(413, f"A document may have {self._max_bytes >> 20} MB at most.")
        return None

    async def _taken(self, request: Request, name: str) -> dict[str, Any]:
        with self._service.incoming() as path:
            with store_errors(path):
                digest, size = await receive(request.stream(), path, self._max_bytes)
            if not size:
                raise Refused(400, "The body is empty.", "Send the file's bytes: curl --data-binary @FILE.")
            return _status_row(await run_in_threadpool(self._service.accept, path, name, digest))

    async def document(self, name: Name, wait: Annotated[float, Query(ge=0)] = 0.0) -> dict[str, Any]:
        """How far a document is; with `wait`, when all of it is read or so many seconds have passed."""
        end = time.monotonic() + min(wait, MOST_WAIT_S)
        while True:
            status = await run_in_threadpool(self._known, name)
            if not status.ready and self._service.error is not None:
                raise self._service.error
            if status.ready or time.monotonic() >= end:
                parts = await run_in_threadpool(self._service.catalogue.places, name)
                rows = [{"page": part + 1, "ok": place.ok} for part, place in parts.items()]
                return _status_row(status) | {"parts": rows}
            await asyncio.sleep(LOOK_S)  # not on a thread: they are few, and who waits may be many

    def _known(self, name: str) -> Status:
        status = self._service.status(name)
        if status is None:
            raise Refused(404, f"There is no document {name!r}.")
        return status

    def markdown(self, name: Name) -> Response:
        """The document as Markdown, as far as it is read."""
        self._known(name)
        parts = self._service.catalogue.places(name)
        found = (self._service.catalogue.page(name, part) for part in parts)
        text = "".join(page_piece(page, "file/") for page in found if isinstance(page, Page))
        return Response(text, media_type="text/markdown; charset=utf-8")

    def page(self, name: Name, page: PageNumber) -> dict[str, Any]:
        """One page as a line of ocr_results.jsonl has it; of a photo, its things as in objects.jsonl."""
        item = self._item(name, page)
        return result_row(item) if isinstance(item, Page) else _photo_row(item)

    async def picture(self, name: Name, page: PageNumber, boxes: bool = True) -> Response:
        """The page as JPEG, with what was found drawn on it."""
        item = await run_in_threadpool(self._item, name, page)
        jpeg = await self._pictures(item, boxes)
        return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=60"})

    def file(self, path: str) -> FileResponse:
        """A crop, mask, cloud or mesh by the path that its region or object names."""
        file = self._service.out / path
        if not KEPT.fullmatch(path) or not file.is_file():
            raise Refused(404, "There is no such file.")
        return FileResponse(file, headers={"Cache-Control": "private, max-age=86400"})

    async def search(
        self,
        q: Annotated[str, Query(min_length=1, max_length=1000)],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> list[dict[str, Any]]:
        """Pages that answer, best first; needs `penstock index`."""
        return await self._search(q, top)

    def _item(self, name: str, page: int) -> Page | Photo:
        item = self._service.catalogue.page(name, page - 1)
        if item is None:
            raise Refused(404, f"There is no page {page} of {name!r}, or it is not read yet.")
        return item


class _InTurn:
    """Work that is done one at a time on a thread, and for which only so many may wait."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(1)

    async def __call__(self, work: Callable[[], T]) -> T:
        if self._limiter.statistics().tasks_waiting >= MAX_ASKING:
            raise Refused(503, "Too many ask for this at once.", "Ask again in a moment.")
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


class _Pictures:
    """Draws pages, in a process of its own from the first one on, and keeps the latest."""

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
            raise Refused(404, pixels)
        return draw(_boxes(item) if boxes else (), pixels)


class _Search:
    """Opens the index at the first question, and again when it was made anew."""

    def __init__(self, out: Path) -> None:
        self.opened = ExitStack()
        self._out = out
        self._in_turn = _InTurn()
        self._searcher: Any = None
        self._questions: Any = None
        self._stamp = -1

    async def __call__(self, question: str, top: int) -> list[dict[str, Any]]:
        return await self._in_turn(partial(self._answers, question, top))

    def _answers(self, question: str, top: int) -> list[dict[str, Any]]:
        self._keep_up()
        hits = self._searcher.search(question, self._questions.vector(question), top=top)
        return [asdict(hit) for hit in hits]

    def _keep_up(self) -> None:
        from penstock.passes.embed import Questions
        from penstock.search.index_folder import FOLDER
        from penstock.search.searcher import Searcher

        folder = self._out / FOLDER
        stamp = folder.stat().st_mtime_ns if folder.is_dir() else 0
        if self._searcher is None or stamp != self._stamp:
            self.opened.close()
            self._searcher = None  # there may be no index: then it is looked for at the next question
            self._searcher = self.opened.enter_context(Searcher(Out(self._out)))
            self._questions, self._stamp = self.opened.enter_context(Questions(self._out)), stamp


def _photo_row(photo: Photo) -> dict[str, Any]:
    """A photo as its page would be told of, with its things as in objects.jsonl."""
    found = inventory([photo], same_room=False)
    things = {"objects": [object_row(line) for line in found.lines], "total": asdict(found.boxes)}
    return {**picture_row(photo), "regions": [], "markdown": "", "image_crops": [], **things}


def _boxes(item: Page | Photo) -> tuple[Region, ...]:
    """What boxes are drawn for: a page's regions, a photo's things."""
    if isinstance(item, Page):
        return item.regions
    return tuple(Region(label=thing.label, box=thing.box, index=thing.index) for thing in item.objects)


def _status_row(status: Status) -> dict[str, Any]:
    return {**asdict(status), "ready": status.ready}


def _file(name: str, kind: str) -> Callable[[], Response]:
    text = resources.files("penstock.serve").joinpath(name).read_text("utf-8")
    return lambda: Response(text, media_type=f"{kind}; charset=utf-8")
