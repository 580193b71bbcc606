"""MinerU's `POST /file_parse` and its `/tasks`."""

from __future__ import annotations

import base64
import datetime
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

import penstock
from penstock.documents.docjson.assemble import Assembler
from penstock.documents.formats import mineru
from penstock.documents.formats.markdown import relink
from penstock.documents.pages.whole_document import corrected_pages
from penstock.page import Page
from penstock.serve.adapters.foreign_jobs import (
    Fill,
    ForeignJobs,
    crops_of,
    is_true,
    page_span,
    whole_number,
)
from penstock.serve.errors import HttpRefusal
from penstock.serve.jobs.jobs import JobState
from penstock.serve.openapi import FILE, request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import errors

IMAGES = "images/"  # leads from a document's texts to its pictures
MARGINS = frozenset(mineru.MARGINS.values())
ZIP_ENDINGS = {"md_content": ".md", "content_list": "_content_list.json"}
RESULT_OPTIONS = ("return_md", "return_content_list", "return_images", "response_format_zip")
LAST_PAGE = 99_999  # what its clients send for all
STATUS = {
    "queued": "pending",
    "running": "processing",
    "done": "completed",
    "failed": "failed",
    "cancelled": "failed",
}
BODY = request_body(
    form={
        "files": {"type": "array", "items": FILE},
        "return_md": {"type": "boolean", "default": True},
        "return_content_list": {"type": "boolean", "default": False},
        "return_images": {"type": "boolean", "default": False},
        "response_format_zip": {"type": "boolean", "default": False},
        "start_page_id": {"type": "integer", "default": 0},
        "end_page_id": {"type": "integer", "default": LAST_PAGE},
    },
    needed=["files"],
)


class MineruRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._jobs = ForeignJobs(context)

    def add_to(self, app: FastAPI) -> None:
        more = {"openapi_extra": BODY, "responses": errors(405, 409, 413, 415), "tags": ["MinerU"]}
        app.post("/file_parse", **more)(self.file_parse)  # type: ignore[arg-type]
        app.post("/tasks", status_code=202, **more)(self.later)  # type: ignore[arg-type]
        app.get("/tasks/{task_id}", responses=errors(404), tags=["MinerU"])(self.task)
        app.get("/tasks/{task_id}/result", responses=errors(404, 409), tags=["MinerU"])(self.result)

    async def file_parse(self, request: Request) -> Response:
        """Reads files as MinerU's own server does."""
        told: dict[str, Any] = {}
        return await self._answer(await self._jobs.finished(request, _form(request, told)), told)

    async def later(self, request: Request) -> dict[str, Any]:
        """Takes files as a task."""
        told: dict[str, Any] = {}
        record = await self._jobs.taken(request, _form(request, told))
        self._jobs.remember(record.id, told, RESULT_OPTIONS)
        return _task_row(await run_in_threadpool(self._context.job, request, record.id))

    async def task(self, request: Request, task_id: str) -> dict[str, Any]:
        """How far a task is."""
        return _task_row(await run_in_threadpool(self._context.job, request, task_id))

    async def result(self, request: Request, task_id: str) -> Response:
        """What came of a task."""
        state = await run_in_threadpool(self._context.job, request, task_id)
        if not state.is_over:
            raise HttpRefusal(409, f"The task is {STATUS[state.state]}.", "Ask for its state.")
        return await self._answer(state, {"return_content_list": True, **self._jobs.wish(task_id)})

    async def _answer(self, state: JobState, told: Mapping[str, Any]) -> Response:
        if state.state != "done":
            raise HttpRefusal(409, state.record.error or "No page could be read.")
        pages = await self._jobs.pages(state)
        if is_true(told.get("response_format_zip")):
            data = await self._context.exporting(lambda: self._zipped(state, pages, told))
            return Response(data, media_type="application/zip")
        results = {
            folder: await run_in_threadpool(self._document, state, name, pages[name], told)
            for folder, name in _folders(pages).items()
        }
        return JSONResponse({"backend": "penstock", "version": penstock.__version__, "results": results})

    def _document(
        self, state: JobState, name: str, items: list[Page], told: Mapping[str, Any]
    ) -> dict[str, Any]:
        made = _texts(name, items, told)
        if is_true(told.get("return_images")):
            made["images"] = {
                path: _data_uri(path, self._jobs.asset(state, path)) for path in _all_crops(items)
            }
        return made

    def _zipped(self, state: JobState, pages: Mapping[str, list[Page]], told: Mapping[str, Any]) -> bytes:
        """Returns a ZIP with a folder for each document: its texts, and its pictures where they link to."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            for folder, name in _folders(pages).items():
                texts = discarding_margins(_texts(name, pages[name], told))
                for kind, ending in ZIP_ENDINGS.items():
                    if kind in texts:
                        made.writestr(f"{folder}/{folder}{ending}", texts[kind].encode("utf-8", "replace"))
                for path in _all_crops(pages[name]) if is_true(told.get("return_images")) else ():
                    made.writestr(f"{folder}/{IMAGES}{path}", self._jobs.asset(state, path))
        return file.getvalue()


def _folders(names: Iterable[str]) -> dict[str, str]:
    """Returns the documents by their names without endings; by the whole name where two would have one."""
    found: dict[str, str] = {}
    for name in names:
        stem, whole = PurePosixPath(name).stem.strip(), name.replace("/", "_")
        found[whole if stem in found or not stem else stem] = name
    return found


def _texts(name: str, items: list[Page], told: Mapping[str, Any]) -> dict[str, Any]:
    made = {}
    if is_true(told.get("return_md"), otherwise=True):
        whole = (page for page in items if page.failure is None)
        made["md_content"] = "\n\n".join(relink(page.markdown, crops_of(page), IMAGES) for page in whole)
    if is_true(told.get("return_content_list")):
        file = io.BytesIO()
        mineru.write(file, Assembler(name), corrected_pages(items), IMAGES)
        made["content_list"] = file.getvalue().decode()
    return made


def discarding_margins(texts: dict[str, Any]) -> dict[str, Any]:
    """Calls running titles and page numbers "discarded": RAGFlow's older parsers know no other word for them.

    For one that they do not know, they repeat the paragraph before it.
    """
    if "content_list" not in texts:
        return texts
    rows = json.loads(texts["content_list"])
    rows = [{**row, "type": "discarded"} if row["type"] in MARGINS else row for row in rows]
    return {**texts, "content_list": json.dumps(rows, ensure_ascii=False)}


def _all_crops(items: Iterable[Page]) -> list[str]:
    return sorted({path for page in items for path in crops_of(page)})


def _data_uri(path: str, data: bytes) -> str:
    kind = "png" if path.endswith(".png") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _form(request: Request, told: dict[str, Any]) -> Fill:
    async def fill(body: BodyParser) -> Mapping[str, Any]:
        await body.form_parts(request, ("files", "file"))
        told.update(body.received.options)
        first, last = (whole_number(told.get(name), name) for name in ("start_page_id", "end_page_id"))
        end = None if last is None or last >= LAST_PAGE else last + 1
        return page_span(None if first is None else first + 1, end)

    return fill


def _task_row(state: JobState) -> dict[str, Any]:
    record = state.record
    created = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat()
    return {
        "task_id": record.id,
        "status": STATUS[state.state],
        "backend": "penstock",
        "file_names": [name.rpartition("/")[2] for name in record.documents],
        "created_at": created,
        "error": record.error or None,
        "status_url": f"/tasks/{record.id}",
        "result_url": f"/tasks/{record.id}/result",
    }
