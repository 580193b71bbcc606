"""MinerU's `POST /file_parse` and its `/tasks`."""

from __future__ import annotations

import base64
import datetime
import io
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

import penstock
from penstock.documents.docjson.assemble import Assembler
from penstock.documents.formats import mineru
from penstock.documents.whole_document import corrected_pages
from penstock.page import Page
from penstock.serve.adapters.foreign_jobs import Fill, ForeignJobs, is_true, page_span, whole_number
from penstock.serve.errors import HttpRefusal
from penstock.serve.jobs.jobs import JobState
from penstock.serve.requests.body import BodyRead
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import errors

LAST_PAGE = 99_999  # what its clients send for all
STATUS = {
    "queued": "pending",
    "running": "processing",
    "done": "completed",
    "failed": "failed",
    "cancelled": "failed",
}
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "return_md": {"type": "boolean", "default": True},
                        "return_content_list": {"type": "boolean", "default": False},
                        "return_images": {"type": "boolean", "default": False},
                        "response_format_zip": {"type": "boolean", "default": False},
                        "start_page_id": {"type": "integer", "default": 0},
                        "end_page_id": {"type": "integer", "default": LAST_PAGE},
                    },
                    "required": ["files"],
                }
            }
        },
    }
}


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
        record = await self._jobs.taken(request, _form(request, {}))
        return _task_row(await run_in_threadpool(self._context.job, request, record.id))

    async def task(self, request: Request, task_id: str) -> dict[str, Any]:
        """How far a task is."""
        return _task_row(await run_in_threadpool(self._context.job, request, task_id))

    async def result(self, request: Request, task_id: str) -> Response:
        """What came of a task."""
        state = await run_in_threadpool(self._context.job, request, task_id)
        if not state.is_over:
            raise HttpRefusal(409, f"The task is {STATUS[state.state]}.", "Ask for its state.")
        return await self._answer(state, {"return_content_list": True})

    async def _answer(self, state: JobState, told: Mapping[str, Any]) -> Response:
        if state.state != "done":
            raise HttpRefusal(409, state.record.error or "No page could be read.")
        if is_true(told.get("response_format_zip")):
            return Response(await self._jobs.exported(state, "zip"), media_type="application/zip")
        pages = await self._jobs.pages(state)
        results = {
            PurePosixPath(name).stem: await run_in_threadpool(self._document, state, name, items, told)
            for name, items in pages.items()
        }
        return JSONResponse({"backend": "penstock", "version": penstock.__version__, "results": results})

    def _document(
        self, state: JobState, name: str, items: list[Page], told: Mapping[str, Any]
    ) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if is_true(told.get("return_md"), otherwise=True):
            made["md_content"] = "\n\n".join(page.markdown for page in items if page.failure is None)
        if is_true(told.get("return_content_list")):
            made["content_list"] = json.dumps(_content_list(name, items), ensure_ascii=False)
        if is_true(told.get("return_images")):
            made["images"] = self._images(state, items)
        return made

    def _images(self, state: JobState, items: list[Page]) -> dict[str, str]:
        paths = {region.crop_path for page in items for region in page.regions if region.crop_path}
        return {
            PurePosixPath(path).name: "data:image/jpeg;base64,"
            + base64.b64encode(self._jobs.asset(state, path)).decode()
            for path in sorted(paths)
        }


def _form(request: Request, told: dict[str, Any]) -> Fill:
    async def fill(body: BodyRead) -> Mapping[str, Any]:
        await body.form_parts(request, ("files", "file"))
        told.update(body.sending.options)
        first, last = (whole_number(told.get(name), name) for name in ("start_page_id", "end_page_id"))
        end = None if last is None or last >= LAST_PAGE else last + 1
        return page_span(None if first is None else first + 1, end)

    return fill


def _content_list(name: str, items: list[Page]) -> Any:
    file = io.BytesIO()
    mineru.write(file, Assembler(name), corrected_pages(items), "")
    return json.loads(file.getvalue())


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
