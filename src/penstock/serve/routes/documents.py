"""Documents of the run: their progress, pages and pictures."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from penstock.addresses.locator import EXAMPLE, Locator
from penstock.documents.pages.whole_document import WholeDocument
from penstock.errors import UsageError
from penstock.exports.located import locate, located
from penstock.exports.overlays import MAX_SIDE
from penstock.exports.page_files import page_piece
from penstock.page import Page
from penstock.photo import Photo
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.upload_deadlines import arrival_of
from penstock.serve.jobs.results import item_row
from penstock.serve.openapi import request_body
from penstock.serve.reading.catalogue import Place
from penstock.serve.reading.progress import Status
from penstock.serve.routes.context import LATER, Context, max_bytes_of, owner_of, pause
from penstock.serve.routes.models import (
    DocumentAnswer,
    DocumentPartsAnswer,
    LocatedAnswer,
    TakenAnswer,
    errors,
)
from penstock.store.out import Out

MAX_WAIT_S = 60.0  # proxies give up on a silent answer soon after
SEND_THE_BYTES = "Send the file's bytes: curl --data-binary @FILE."
# the store names these files by their content
KEPT = re.compile(r"(crops|masks|clouds|meshes)/[0-9a-f]{8,64}\.(jpg|png|ply|glb)")

Name = Annotated[str, Query(description="The document's name as /v1/documents gives it.")]
PageNumber = Annotated[int, Query(ge=1, description="From 1.")]
Side = Annotated[int, Query(ge=32, le=4000, description="At most so many pixels of the longer side.")]
BYTES = request_body(is_file=True)
MARKDOWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"example": "<!-- page 1 -->\n\n# Title\n"}}}
}
JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}

ASSET: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}


class UploadRoute(APIRoute):
    """The busiest route: what FastAPI does around a method costs a tenth of a small upload.

    It is described and refuses like the others. Only the name is checked, which is all there is to check.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        names = request.query_params.getlist("name")
        if scope["method"] not in (self.methods or ()) or not names:
            await super().handle(scope, receive, send)
            return
        answer: Response = await self.endpoint(request, names[-1])
        await answer(scope, receive, send)


class DocumentRoutes:
    """One method for each path. FastAPI runs those that are not async on threads."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._service = context.service

    def add_to(self, app: FastAPI) -> None:
        add = app.get
        add("/v1/documents", response_model=list[DocumentAnswer])(self.list_documents)
        app.router.add_api_route(
            "/v1/documents", self.upload_document, methods=["POST"], status_code=202, openapi_extra=BYTES,
            response_model=TakenAnswer, responses=errors(405, 413, 415, 507),
            route_class_override=UploadRoute,
        )  # fmt: skip
        add("/v1/document", response_model=DocumentPartsAnswer, responses=errors(404))(self.get_document)
        add("/v1/markdown", response_class=Response, responses={**MARKDOWN, **errors(404)})(self.get_markdown)
        add("/v1/page", responses=errors(404))(self.get_page)
        add("/v1/at", response_model=LocatedAnswer, responses=errors(404))(self.get_located)
        add("/v1/picture", response_class=Response, responses={**JPEG, **errors(404)})(self.get_picture)
        add("/v1/file/{path:path}", response_class=Response, responses={**ASSET, **errors(404)})(
            self.get_file
        )

    def list_documents(
        self,
        request: Request,
        start: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    ) -> list[dict[str, Any]]:
        """Documents and their progress: those sent to the service, latest first, then the others."""
        if owner_of(request).may("admin"):
            return [status_row(status) for status in self._service.documents(start, limit)]
        mine = [one for one in self._service.documents() if self._context.sees_document(request, one.name)]
        return [status_row(status) for status in mine[start : start + limit]]

    async def upload_document(self, request: Request, name: Name) -> JSONResponse:
        """Takes the body as a document called `name`. For options and several files: /v1/parse.

        Of a document that was sent before, only the pages that failed are read again.
        """
        arrivals = self._context.arrivals
        with arrivals.counted(arrival_of(request.scope, arrivals.bounds)) as crowded:
            self._context.check_takes()
            if crowded is not None:
                raise HttpRefusal(429, crowded, LATER)
            if request.headers.get("content-type", "").lower().startswith("multipart/"):
                raise HttpRefusal(415, "The body is a form.", f"{SEND_THE_BYTES} Or send forms to /v1/parse.")
            return JSONResponse(await self._taken(request, name), 202)  # many come: it is not checked again

    async def _taken(self, request: Request, name: str) -> dict[str, Any]:
        with self._context.bodies.opened(max_bytes_of(request)) as body:
            body.check(request)
            await body.add_stream(name, request.stream())
            files, owner = body.received.files, owner_of(request).name
            create = partial(self._context.jobs.create, "parse", files, {}, owner, as_one=True)
            record = await self._context.takers(create)
            [document] = record.documents
            return status_row(self._known(request, document)) | {"job": record.id}

    async def get_document(
        self, request: Request, name: Name, wait: Annotated[float, Query(ge=0)] = 0.0
    ) -> dict[str, Any]:
        """A document's progress. With `wait`, answers when all of it is read or after so many seconds."""
        began = time.monotonic()
        end = began + min(wait, MAX_WAIT_S)
        while True:
            status = await run_in_threadpool(self._known, request, name)
            if not status.ready and self._service.error is not None:
                raise self._service.error
            if status.ready or time.monotonic() >= end:
                parts = await run_in_threadpool(self._service.catalogue.places, name)
                return parts_row(status, parts)
            await pause(began)  # not on a thread: threads are few, and many clients may wait

    def _known(self, request: Request, name: str) -> Status:
        status = self._service.status(name)
        if status is None or not self._context.sees_document(request, name):
            raise HttpRefusal(404, f"There is no document {name!r}.")
        return status

    def get_markdown(self, request: Request, name: Name) -> Response:
        """The document's pages that are read, as Markdown."""
        self._known(request, name)
        whole = WholeDocument.of(self._pages(name))
        text = "".join(page_piece(page, "file/", whole) for page in self._pages(name))
        return Response(text, media_type="text/markdown; charset=utf-8")

    def _pages(self, name: str) -> Iterator[Page]:
        for part in self._service.catalogue.places(name):
            page = self._service.catalogue.page(name, part)
            if isinstance(page, Page):
                yield page

    def get_page(self, request: Request, name: Name, page: PageNumber) -> dict[str, Any]:
        """One page as in ocr_results.jsonl; a photo with its objects as in objects.jsonl."""
        return item_row(self._item(request, name, page))

    def get_located(
        self, request: Request, locator: Annotated[str, Query(max_length=4000, examples=[EXAMPLE])]
    ) -> dict[str, Any]:
        """What stands at an address: its page, its box and its text. `/#LOCATOR` shows it on the web page."""
        try:
            wanted = Locator.parse(locator)
            self._known(request, wanted.document)
            if wanted.chunk is None and wanted.page is not None:
                return located(self._item(request, wanted.document, wanted.page), wanted).row()
            return locate(Out(self._service.out), wanted).row()
        except UsageError as exc:
            raise HttpRefusal(404, exc.message, exc.advice) from exc

    async def get_picture(
        self, request: Request, name: Name, page: PageNumber, boxes: bool = True, side: Side = MAX_SIDE
    ) -> Response:
        """The page as JPEG, with the boxes of its regions or objects."""
        item = await run_in_threadpool(self._item, request, name, page)
        return jpeg_answer(await self._context.pictures(item, boxes, side))

    def get_file(self, request: Request, path: str) -> FileResponse:
        """A crop, mask, cloud or mesh, by the path in its region or object."""
        file = self._service.out / path
        if not owner_of(request).may("admin"):
            raise HttpRefusal(404, "There is no such file.", "Ask by its job: /v1/jobs/{id}/file/{path}.")
        if not KEPT.fullmatch(path) or not file.is_file():
            raise HttpRefusal(404, "There is no such file.")
        return FileResponse(file, headers={"Cache-Control": "private, max-age=86400"})

    def _item(self, request: Request, name: str, page: int) -> Page | Photo:
        item = None
        if self._context.sees_document(request, name):
            item = self._service.catalogue.page(name, page - 1)
        if item is None:
            raise HttpRefusal(404, f"{name!r} has no page {page}, or it is not read yet.")
        return item


def jpeg_answer(jpeg: bytes) -> Response:
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=60"})


def parts_row(status: Status, parts: Mapping[int, Place]) -> dict[str, Any]:
    rows = [{"page": part + 1, "ok": place.ok} for part, place in parts.items()]
    return status_row(status) | {"parts": rows}


def status_row(status: Status) -> dict[str, Any]:
    return {
        "name": status.name,
        "pages": status.pages,
        "done": status.done,
        "failed": status.failed,
        "ready": status.ready,
    }
