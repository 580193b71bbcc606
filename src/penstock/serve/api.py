"""The HTTP API: documents in, pages, pictures and answers out. What it says is JSON, errors too.

Content of documents is data everywhere: JSON for programs, text nodes on the page, never markup.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse, Response

import penstock
from penstock.errors import PenstockError, StoreError, UsageError
from penstock.item import Item, Region
from penstock.serve.service import MOST_WAITING, Service, Status
from penstock.store.export import page_piece, result_row
from penstock.store.files import store_errors
from penstock.store.inventory import inventory, object_row
from penstock.store.overlays import draw
from penstock.store.pictures import Pictures

LOOK_S = 0.2
MOST_WAIT_S = 60.0  # proxies give up on a silent answer soon after
RECENT_PICTURES = 32  # of some 200 kB
# as the store names them: by their content
KEPT = re.compile(r"(crops|masks|clouds|meshes)/[0-9a-f]{8,64}\.(jpg|png|ply|glb)")
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob:; object-src 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
PAGE_FILES = {"/": ("page.html", "text/html"), "/page.js": ("page.js", "text/javascript")}

Name = Annotated[str, Query(description="The document's name as /v1/documents gives it.")]
PageNumber = Annotated[int, Query(ge=1, description="From 1.")]
Answer = Callable[[Request], Awaitable[Response]]


class Refused(Exception):
    """Becomes an answer with this status."""

    def __init__(self, status: int, error: str, advice: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.advice = status, error, advice


def app_of(service: Service, most_mb: int = 512) -> FastAPI:
    """The application. `service` is entered and left by the caller."""
    app = FastAPI(title="Penstock", version=penstock.__version__, docs_url=None, redoc_url=None)
    desk = _Desk(service, most_mb)
    app.middleware("http")(_guarded)
    app.add_exception_handler(Refused, _refusal)
    app.add_exception_handler(PenstockError, _trouble)
    app.get("/health")(desk.health)
    app.get("/v1/documents")(desk.documents)
    app.post("/v1/documents", status_code=202)(desk.take)
    app.get("/v1/document")(desk.document)
    app.get("/v1/markdown")(desk.markdown)
    app.get("/v1/page")(desk.page)
    app.get("/v1/picture")(desk.picture)
    app.get("/v1/file/{path:path}")(desk.file)
    app.get("/v1/search")(desk.search)
    for path, (name, kind) in PAGE_FILES.items():
        app.get(path, include_in_schema=False)(_file(name, kind))
    return app


class _Desk:
    """One method a question. FastAPI calls the plain ones on threads of their own."""

    def __init__(self, service: Service, most_mb: int) -> None:
        self._service = service
        self._most_bytes = most_mb << 20
        self._pictures: OrderedDict[tuple[str, int, bool], bytes] = OrderedDict()
        self._maker: Pictures | None = None
        self._one_at_a_time = threading.Lock()
        self._search = _Search(service.out)

    def health(self) -> dict[str, Any]:
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
        """Takes the body as a document called `name`; what was sent before is not read again."""
        service = self._service
        if not service.takes_documents:
            raise Refused(405, "This service shows a run and takes no documents.", "Start it with --recipe.")
        if service.error is not None:
            raise Refused(503, str(service.error))
        if service.waiting > MOST_WAITING:
            raise Refused(429, f"{MOST_WAITING} pages are waiting already.", "Send it again later.")
        incoming = service.incoming()
        try:
            with store_errors(incoming):
                digest = await self._receive(request, incoming)
            return _status_row(service.accept(incoming, name, digest))
        finally:
            incoming.unlink(missing_ok=True)

    async def _receive(self, request: Request, path: Path) -> str:
        digest, size = hashlib.sha256(), 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > self._most_bytes:
                    raise Refused(413, f"A document may have {self._most_bytes >> 20} MB at most.")
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())  # before it is promised
        if not size:
            raise Refused(400, "The body is empty.", "Send the file's bytes: curl --data-binary @FILE.")
        return digest.hexdigest()

    async def document(self, name: Name, wait: Annotated[float, Query(ge=0)] = 0.0) -> dict[str, Any]:
        """How far a document is; with `wait`, when all of it is read or so many seconds have passed."""
        end = time.monotonic() + min(wait, MOST_WAIT_S)
        while True:
            status = await run_in_threadpool(self._known, name)
            if status.ready or time.monotonic() >= end or self._service.error is not None:
                return _status_row(status) | {"parts": _parts(self._service.shelf.parts(name))}
            await asyncio.sleep(LOOK_S)  # not on a thread: they are few, and who waits may be many

    def _known(self, name: str) -> Status:
        status = self._service.status(name)
        if status is None:
            raise Refused(404, f"There is no document {name!r}.")
        return status

    def markdown(self, name: Name) -> Response:
        """The document as Markdown, as far as it is read."""
        self._known(name)
        parts = self._service.shelf.parts(name)
        pages = (page for part in parts if (page := self._service.shelf.page(name, part)) is not None)
        text = "".join(page_piece(page, "file/") for page in pages)
        return Response(text, media_type="text/markdown; charset=utf-8")

    def page(self, name: Name, page: PageNumber) -> dict[str, Any]:
        """One page as a line of ocr_results.jsonl has it; of a photo, its things as in objects.jsonl."""
        item = self._item(name, page)
        return result_row(item) | (_things(item) if item.objects else {})

    def picture(self, name: Name, page: PageNumber, boxes: bool = True) -> Response:
        """The page as JPEG, with what was found drawn on it."""
        item = self._item(name, page)
        key = (item.id, item.attempt, boxes)
        with self._one_at_a_time:
            jpeg = self._pictures.get(key) or self._made(item, boxes)
            self._pictures[key] = jpeg
            self._pictures.move_to_end(key)
            while len(self._pictures) > RECENT_PICTURES:
                self._pictures.popitem(last=False)
        return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=60"})

    def file(self, path: str) -> FileResponse:
        """A crop, mask, cloud or mesh by the path that its region or object names."""
        file = self._service.out / path
        if not KEPT.fullmatch(path) or not file.is_file():
            raise Refused(404, "There is no such file.")
        return FileResponse(file, headers={"Cache-Control": "private, max-age=86400"})

    def search(
        self,
        q: Annotated[str, Query(min_length=1, max_length=1000)],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> list[dict[str, Any]]:
        """Pages that answer, best first; needs `penstock index`."""
        return self._search(q, top)

    def _item(self, name: str, page: int) -> Item:
        item = self._service.shelf.page(name, page - 1)
        if item is None:
            raise Refused(404, f"There is no page {page} of {name!r}, or it is not read yet.")
        return item

    def _made(self, item: Item, boxes: bool) -> bytes:
        if self._maker is None:
            self._maker = Pictures(self._service.out)
        pixels = self._maker.picture(item)
        if isinstance(pixels, str):
            raise Refused(404, pixels)
        return draw(_drawn(item) if boxes else replace(item, regions=()), pixels)


class _Search:
    """Opens the index at the first question, and again when it was made anew."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._searcher: Any = None
        self._questions: Any = None
        self._stamp = -1

    def __call__(self, question: str, top: int) -> list[dict[str, Any]]:
        with self._lock:
            self._keep_up()
            hits = self._searcher.search(question, self._questions.vector(question), top=top)
        return [asdict(hit) for hit in hits]

    def _keep_up(self) -> None:
        from penstock.embedding import Questions
        from penstock.store.index_home import FOLDER
        from penstock.store.search import Searcher

        folder = self._out / FOLDER
        stamp = folder.stat().st_mtime_ns if folder.is_dir() else 0
        if self._searcher is None or stamp != self._stamp:
            self._open.close()
            self._searcher = None  # there may be no index: then it is looked for at the next question
            self._searcher = self._open.enter_context(Searcher(self._out))
            self._questions, self._stamp = self._open.enter_context(Questions(self._out)), stamp


def _things(item: Item) -> dict[str, Any]:
    found = inventory([item], same_room=False)
    return {"objects": [object_row(line) for line in found.lines], "total": asdict(found.boxes)}


def _drawn(item: Item) -> Item:
    """With the things of a photo as regions, which is what boxes are drawn for."""
    things = tuple(Region(label=thing.label, box=thing.box, index=thing.index) for thing in item.objects)
    return replace(item, regions=item.regions + things)


def _status_row(status: Status) -> dict[str, Any]:
    return {**asdict(status), "ready": status.ready}


def _parts(parts: dict[int, bool]) -> list[dict[str, Any]]:
    return [{"page": part + 1, "ok": well} for part, well in parts.items()]


async def _guarded(request: Request, call: Answer) -> Response:
    """Pages of other origins may not send us anything: a browser tells where a request comes from."""
    origin = request.headers.get("origin")
    if origin and urlsplit(origin).netloc != request.headers.get("host"):
        return _said(403, f"Requests from {origin} are not taken.")
    response = await call(request)
    response.headers.update(HEADERS)
    return response


async def _refusal(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, Refused)
    return _said(exc.status, exc.error, exc.advice)


async def _trouble(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, PenstockError)
    status = 507 if isinstance(exc, StoreError) else 409 if isinstance(exc, UsageError) else 503
    return _said(status, exc.message, exc.advice)


def _said(status: int, error: str, advice: str = "") -> JSONResponse:
    retry = {"Retry-After": str(math.ceil(MOST_WAIT_S))} if status == 429 else {}
    return JSONResponse({"error": error, "advice": advice}, status, headers=retry)


def _file(name: str, kind: str) -> Callable[[], Response]:
    text = resources.files("penstock.serve").joinpath(name).read_text("utf-8")
    return lambda: Response(text, media_type=f"{kind}; charset=utf-8")
