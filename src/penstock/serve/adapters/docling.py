"""docling-serve's `/v1/convert/source` and `/v1/convert/file`, at once and as tasks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

import penstock
from penstock.exports.page_rows import page_text
from penstock.page import Page
from penstock.serve.adapters.foreign_jobs import (
    MAX_WISH,
    Fill,
    ForeignJobs,
    as_list,
    page_span,
    whole_number,
    without_links,
)
from penstock.serve.errors import HttpRefusal
from penstock.serve.jobs.jobs import JobState
from penstock.serve.openapi import LIST, request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.routes.context import Context, pause
from penstock.serve.routes.documents import MAX_WAIT_S
from penstock.serve.routes.models import errors

STATUS = {
    "queued": "pending",
    "running": "started",
    "done": "success",
    "failed": "failure",
    "cancelled": "failure",
}
MARKDOWN_OPTIONS = ("md_page_break_placeholder", "image_export_mode")
SOURCE_BODY = request_body(
    json={"sources": LIST},
    needed=["sources"],
    example={
        "options": {"to_formats": ["md", "json"]},
        "sources": [{"kind": "file", "base64_string": "JVBERi0...", "filename": "report.pdf"}],
    },
)
FILE_BODY = request_body(form={"files": LIST})


class DoclingRoutes:
    """One method for each path. How a task's client wants its Markdown is kept until the service ends."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._jobs = ForeignJobs(context)

    def add_to(self, app: FastAPI) -> None:
        for name, body, method, later in (
            ("source", SOURCE_BODY, self.source, self.source_later),
            ("file", FILE_BODY, self.file, self.file_later),
        ):
            more = {"openapi_extra": body, "responses": errors(405, 413, 415), "tags": ["docling-serve"]}
            app.post(f"/v1/convert/{name}", **more)(method)  # type: ignore[arg-type]
            app.post(f"/v1/convert/{name}/async", **more)(later)  # type: ignore[arg-type]
        app.get("/v1/status/poll/{task_id}", responses=errors(404), tags=["docling-serve"])(self.poll)
        app.get("/v1/result/{task_id}", responses=errors(404, 409), tags=["docling-serve"])(self.result)
        app.get("/ready", tags=["docling-serve"])(self.ready)
        app.get("/version", tags=["docling-serve"])(self.version)

    async def source(self, request: Request) -> Response:
        """Converts files in base64, or from hosts the operator allows."""
        return await self._converted(request, *_source(request))

    async def source_later(self, request: Request) -> dict[str, Any]:
        """Takes files in base64, or from hosts the operator allows, as a task."""
        return await self._task(request, *_source(request))

    async def file(self, request: Request) -> Response:
        """Converts the files of a form."""
        return await self._converted(request, *_form(request))

    async def file_later(self, request: Request) -> dict[str, Any]:
        """Takes the files of a form as a task."""
        return await self._task(request, *_form(request))

    async def poll(
        self, request: Request, task_id: str, wait: Annotated[float, Query(ge=0)] = 0.0
    ) -> dict[str, Any]:
        """How far a task is. With `wait`, answers when it is over or after so many seconds."""
        began = time.monotonic()
        end = began + min(wait, MAX_WAIT_S)
        while True:
            state = await run_in_threadpool(self._context.job, request, task_id)
            if state.is_over or time.monotonic() >= end:
                return _task_row(state)
            await pause(began)

    async def result(self, request: Request, task_id: str) -> Response:
        """What came of a task: Markdown and DoclingDocument, or a ZIP of several documents."""
        state = await run_in_threadpool(self._context.job, request, task_id)
        if not state.is_over:
            raise HttpRefusal(409, f"The task is {state.state}.", "Poll it.")
        told = {**self._jobs.wish(task_id), "to_formats": ["md", "json"]}
        return await self._answer(state, told, state.record.created)

    async def ready(self) -> dict[str, str]:
        """Whether documents can be read."""
        self._context.check_ready()
        return {"status": "ok"}

    async def version(self) -> dict[str, str]:
        """The version of this service."""
        return {"penstock": penstock.__version__}

    async def _converted(self, request: Request, fill: Fill, told: dict[str, Any]) -> Response:
        began = time.monotonic()
        return await self._answer(await self._jobs.finished(request, fill), told, began)

    async def _task(self, request: Request, fill: Fill, told: dict[str, Any]) -> dict[str, Any]:
        record = await self._jobs.taken(request, fill)
        self._jobs.remember(record.id, told, MARKDOWN_OPTIONS)
        return _task_row(await run_in_threadpool(self._context.job, request, record.id))

    async def _answer(self, state: JobState, told: Mapping[str, Any], began: float) -> Response:
        pages = await self._jobs.pages(state)
        if told.get("target") == "zip" or len(pages) > 1:
            data = await self._jobs.exported(state, "zip")
            headers = {"Content-Disposition": 'attachment; filename="converted_docs.zip"'}
            return Response(data, media_type="application/zip", headers=headers)
        if not pages:
            raise HttpRefusal(422, "No page could be read.", state.record.error)
        [(name, items)] = pages.items()
        failed = [page for page in items if page.failure is not None]
        status = "success" if not failed else "partial_success" if len(failed) < len(items) else "failure"
        answer = {
            "document": await self._document(state, name, items, told),
            "status": status,
            "errors": [_error(page) for page in failed],
            "processing_time": round(time.monotonic() - began, 3),
            "timings": {},
        }
        return JSONResponse(answer)

    async def _document(
        self, state: JobState, name: str, items: list[Page], told: Mapping[str, Any]
    ) -> dict[str, Any]:
        wanted = as_list(told.get("to_formats")) or ["md"]
        made: dict[str, Any] = dict.fromkeys(
            ("md_content", "json_content", "html_content", "text_content", "doctags_content")
        )
        if "md" in wanted:
            made["md_content"] = _markdown(items, told)
        if "text" in wanted:
            made["text_content"] = "\n\n".join(page_text(page) for page in items)
        if "json" in wanted:
            made["json_content"] = await self._jobs.exported_json(state, "docling")
        if "html" in wanted:
            made["html_content"] = (await self._jobs.exported(state, "html")).decode("utf-8", "replace")
        return {"filename": name, **made}


def _source(request: Request) -> tuple[Fill, dict[str, Any]]:
    told: dict[str, Any] = {}

    async def fill(body: BodyParser) -> Mapping[str, Any]:
        given = await body.json(request)
        options = given.get("options") if isinstance(given.get("options"), dict) else {}
        target = given.get("target")
        told.update(options or {}, target=_target(target.get("kind") if isinstance(target, dict) else None))
        _page_break(told)
        for source in [*as_list(given.get("sources")), *_older(given)]:
            await _add(body, source)
        return _page_range(told)

    return fill, told


def _older(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns sources in the names of earlier versions."""
    files = [{**one, "kind": "file"} for one in as_list(given.get("file_sources")) if isinstance(one, dict)]
    return files + [
        {**one, "kind": "http"} for one in as_list(given.get("http_sources")) if isinstance(one, dict)
    ]


async def _add(body: BodyParser, source: Any) -> None:
    if not isinstance(source, dict):
        raise HttpRefusal(422, "sources: objects are wanted.")
    if source.get("kind") == "file" and isinstance(source.get("base64_string"), str):
        await body.add_base64(str(source.get("filename") or "document"), source["base64_string"])
    elif source.get("kind") == "http" and isinstance(source.get("url"), str):
        await body.add_address(source["url"])
    else:
        raise HttpRefusal(422, f"sources: this service takes no {source.get('kind')!r}.", "Use file or http.")


def _form(request: Request) -> tuple[Fill, dict[str, Any]]:
    told: dict[str, Any] = {}

    async def fill(body: BodyParser) -> Mapping[str, Any]:
        await body.form_parts(request, ("files",))
        told.update(body.received.options)
        told["target"] = _target(told.get("target_type"))
        _page_break(told)
        return _page_range(told)

    return fill, told


def _markdown(items: list[Page], told: Mapping[str, Any]) -> str:
    """Joins the pages. Clients count page breaks: one stands between any two, also next to an empty page."""
    is_without = told.get("image_export_mode") == "placeholder"
    texts = [
        "" if page.failure is not None else without_links(page) if is_without else page.markdown
        for page in items
    ]
    if mark := _page_break(told):
        return f"\n\n{mark}\n\n".join(texts)
    return "\n\n".join(text for text in texts if text)


def _page_break(told: Mapping[str, Any]) -> str:
    """Returns what is to stand between pages, nothing by default. Raises HttpRefusal."""
    mark = told.get("md_page_break_placeholder") or ""
    if not isinstance(mark, str) or len(mark) > MAX_WISH:
        raise HttpRefusal(422, f"md_page_break_placeholder: {MAX_WISH} letters at most are wanted.")
    return mark


def _target(kind: Any) -> str | None:
    """Raises HttpRefusal in words by which docling's client knows to ask for the answer itself."""
    if kind not in (None, "inbody", "zip"):
        raise HttpRefusal(422, f"target: input should be 'inbody' or 'zip', not {kind!r}.")
    return "zip" if kind == "zip" else None


def _page_range(told: Mapping[str, Any]) -> dict[str, str]:
    given = told.get("page_range")
    if not isinstance(given, list) or len(given) != 2:
        return {}
    first, last = (whole_number(value, "page_range") for value in given)
    return page_span(first, last)


def _task_row(state: JobState) -> dict[str, Any]:
    return {
        "task_id": state.record.id,
        "task_type": "convert",
        "task_status": STATUS[state.state],
        "task_position": None,
        "task_meta": None,
    }


def _error(page: Page) -> dict[str, str]:
    assert page.failure is not None
    return {
        "component_type": "model",
        "module_name": page.failure.stage,
        "error_message": f"page {page.part + 1}: {page.failure.message}",
    }
