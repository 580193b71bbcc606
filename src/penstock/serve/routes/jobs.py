"""Jobs over HTTP: sent, watched, fetched, cancelled, deleted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from pydantic import BaseModel

from penstock.errors import UsageError
from penstock.serve.errors import HttpRefusal, NotADocument
from penstock.serve.guard.upload_deadlines import arrival_of
from penstock.serve.jobs.jobs import JobState
from penstock.serve.jobs.photo_attachments import FIELDS as BESIDE
from penstock.serve.jobs.record import JobRecord, Kind
from penstock.serve.jobs.results import JSON, MEDIA, PAGE_RESULTS, PHOTO_RESULTS
from penstock.serve.requests.body import RequestFiles
from penstock.serve.requests.options import CALLBACK, ParseRequest, VolumesRequest, checked, chosen
from penstock.serve.routes.context import LATER, Context, max_bytes_of, owner_of, pause
from penstock.serve.routes.documents import KEPT, MAX_WAIT_S, status_row
from penstock.serve.routes.event_streams import EventStreams
from penstock.serve.routes.examples import parse_body, volumes_body
from penstock.serve.routes.models import JobAnswer, errors, utc

MAX_KEY_CHARS = 200

Wait = Annotated[float, Query(ge=0, description="Seconds to wait for the result: then it is the answer.")]
Format = Annotated[str, Query(description="Of the result: json, markdown, docjson, zip, ...", max_length=40)]
InZip = Annotated[str, Query(description="What a ZIP holds: md,jsonl,...", max_length=200)]
Idempotency = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=MAX_KEY_CHARS, description="The same again is the same job."),
]
RESULT_KINDS: dict[str, dict[str, Any]] = {
    kind.partition(";")[0]: {} for kind in (*MEDIA.values(), "application/octet-stream")
}
TAKEN: dict[int | str, dict[str, Any]] = {
    200: {"description": "The result, where `wait` was long enough.", "content": RESULT_KINDS},
    202: {"model": JobAnswer, "description": "The job is on disk and will be done."},
    **errors(405, 409, 413, 415, 507),
}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "An event `progress` whenever the job has moved, and `end` at its end.",
        "content": {
            "text/event-stream": {"example": 'event: progress\ndata: {"state": "running", "done": 3}\n\n'}
        },
    },
    **errors(404),
}
RESULT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file; a ZIP where it is several.", "content": RESULT_KINDS},
    **errors(404, 409),
}


class JobRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._jobs = context.jobs
        self._streams = EventStreams(context.jobs.get, job_row)

    def add_to(self, app: FastAPI) -> None:
        send = {"status_code": 202, "response_class": Response, "responses": TAKEN}
        app.post("/v1/parse", openapi_extra=parse_body(), **send)(self.parse)  # type: ignore[arg-type]
        app.post("/v1/volumes", openapi_extra=volumes_body(), **send)(self.volumes)  # type: ignore[arg-type]
        one = {"response_model": JobAnswer, "responses": errors(404)}
        app.get("/v1/jobs", response_model=list[JobAnswer])(self.list_jobs)
        app.get("/v1/jobs/{id}", **one)(self.get_job)  # type: ignore[arg-type]
        app.post("/v1/jobs/{id}/cancel", **one)(self.cancel_job)  # type: ignore[arg-type]
        app.delete("/v1/jobs/{id}", status_code=204, responses=errors(404))(self.delete_job)
        app.get("/v1/jobs/{id}/events", response_class=Response, responses=STREAM)(self.stream_job_events)
        app.get("/v1/jobs/{id}/result", response_class=Response, responses=RESULT)(self.get_job_result)
        app.get("/v1/jobs/{id}/file/{path:path}", response_class=Response, responses=RESULT)(
            self.get_job_file
        )

    async def parse(
        self, request: Request, wait: Wait = 0.0, format: Format = JSON, idempotency_key: Idempotency = None
    ) -> Response:
        """Takes documents, with options as on the command line.

        A form with several `files`, JSON with base64, data URIs or addresses, or the bytes of one file with
        its `name` in the address. Options are fields of the form, members of the JSON, or in the address.
        """
        return await self._send(request, "parse", ParseRequest, wait, format, idempotency_key)

    async def volumes(
        self, request: Request, wait: Wait = 0.0, format: Format = JSON, idempotency_key: Idempotency = None
    ) -> Response:
        """Takes photos and measures what is on them; the answer is grouped by photo, with totals.

        Besides `files` there may be `depths`, depth maps that are named after their photos (room.npy in
        metres or room.png of 16 bits in millimetres for room.jpg), and `furniture`, a CSV of sizes of your
        own with the columns name, width, depth, height in metres, and spread, packing, movable, synonyms
        if you wish.
        """
        return await self._send(request, "volumes", VolumesRequest, wait, format, idempotency_key)

    def list_jobs(
        self,
        request: Request,
        start: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[dict[str, Any]]:
        """Your jobs, latest first."""
        owner = owner_of(request)
        found = self._jobs.all(None if owner.may("admin") else owner.name, start, limit)
        return [job_row(state) for state in found]

    async def get_job(self, request: Request, id: str, wait: Wait = 0.0) -> dict[str, Any]:
        """A job's state. With `wait`, answers when it is over or after so many seconds."""
        return job_row(await self._waited(request, id, wait))

    def cancel_job(self, request: Request, id: str) -> dict[str, Any]:
        """Ends a job. Pages at work are finished; what is finished stays."""
        self._context.job(request, id)
        state = self._jobs.cancel(id)
        assert state is not None
        return job_row(state)

    def delete_job(self, request: Request, id: str) -> Response:
        """Deletes a job, its files and its results."""
        self._context.job(request, id)
        self._jobs.delete(id)
        return Response(status_code=204)

    async def stream_job_events(self, request: Request, id: str) -> Response:
        """The job's progress as server-sent events."""
        await run_in_threadpool(self._context.job, request, id)
        address = request.client.host if request.client else ""
        events = self._streams.events(owner_of(request).name or address, id)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    async def get_job_result(
        self, request: Request, id: str, format: Format = JSON, of: InZip = ""
    ) -> Response:
        """What came of a job that is over."""
        state = await run_in_threadpool(self._context.job, request, id)
        return await self._result(state, format, [word for word in of.split(",") if word])

    async def get_job_file(self, request: Request, id: str, path: str) -> Response:
        """A crop, mask, cloud or mesh of the job, by the path in its region or object."""
        state = await run_in_threadpool(self._context.job, request, id)
        found = None
        if KEPT.fullmatch(path):
            found = await self._context.exporting(lambda: self._context.results.asset(state.record, path))
        if found is None or not found.is_file():
            raise HttpRefusal(404, "There is no such file.")
        return FileResponse(found, headers={"Cache-Control": "private, max-age=86400"})

    # taking

    async def _send(
        self,
        request: Request,
        kind: Kind,
        model: type[BaseModel],
        wait: float,
        format: str,
        idempotency_key: str | None,
    ) -> Response:
        if format not in (*PAGE_RESULTS, *PHOTO_RESULTS, "markdown"):
            raise HttpRefusal(422, f"There is no format {format!r}.")
        record = await self._taken(request, kind, model, idempotency_key or "")
        state = (
            await self._waited(request, record.id, wait) if wait else self._context.job(request, record.id)
        )
        if wait and state.is_over:
            return await self._result(state, format)
        headers = {"Location": f"/v1/jobs/{record.id}"}
        return JSONResponse(job_row(state), 202, headers=headers)

    async def _taken(
        self, request: Request, kind: Kind, model: type[BaseModel], idempotency_key: str
    ) -> JobRecord:
        context, owner = self._context, owner_of(request)
        context.check_takes(kind)
        with (
            self._jobs.reserved(owner.name, idempotency_key) as is_free,
            context.arrivals.counted(arrival_of(request.scope, context.arrivals.bounds)) as crowded,
            context.bodies.opened(max_bytes_of(request)) as body,
        ):
            if not is_free:
                raise HttpRefusal(409, "A request with this Idempotency-Key is at work.", LATER)
            if crowded is not None:
                raise HttpRefusal(429, crowded, LATER)
            received = await body.read(request, BESIDE if kind == "volumes" else ())
            options = chosen(checked(model, received.options))
            if CALLBACK in options:
                context.callbacks.check(options[CALLBACK])
            made = partial(self._made, kind, received, options, owner.name, idempotency_key)
            return await context.takers(made)

    def _made(
        self, kind: Kind, received: RequestFiles, options: dict[str, Any], owner: str, idempotency_key: str
    ) -> JobRecord:
        before = self._jobs.repeated(owner, idempotency_key)
        if before is not None and before.digest == received.digest:
            return before
        if before is not None:
            raise HttpRefusal(422, "This Idempotency-Key came with another request.", "Use a new one.")
        callback = options.pop(CALLBACK, "")
        try:
            return self._jobs.create(
                kind,
                received.files,
                options,
                owner,
                idempotency_key,
                received.digest,
                callback,
                received.attachments,
            )
        except NotADocument:
            raise
        except UsageError as exc:
            raise HttpRefusal(422, exc.message, exc.advice) from exc

    # answering

    async def _waited(self, request: Request, id: str, wait: float) -> JobState:
        began = time.monotonic()
        end = began + min(wait, MAX_WAIT_S)
        while True:
            state = await run_in_threadpool(self._context.job, request, id)
            if state.is_over or time.monotonic() >= end:
                return state
            if not state.record.has_own_run and self._context.service.error is not None:
                raise self._context.service.error
            await pause(began)

    async def _result(self, state: JobState, format: str, of: Sequence[str] = ()) -> Response:
        if not state.is_over:
            raise HttpRefusal(409, f"The job is {state.state}.", "Wait for it: /v1/jobs/{id}?wait=30.")
        if state.state != "done" and not state.done:
            raise HttpRefusal(409, state.error or f"The job is {state.state}, and no page was read.")
        results = self._context.results
        path: Path = await self._context.exporting(lambda: results.file(state.record, format, of))
        name = f"{state.record.id}{path.suffix}" if path.name.startswith("result-") else path.name
        media = MEDIA.get(path.suffix, "application/octet-stream")
        return FileResponse(path, media_type=media, filename=name, headers={"Job": state.record.id})


def job_row(state: JobState) -> dict[str, Any]:
    record = state.record
    return {
        "id": record.id,
        "kind": record.kind,
        "state": state.state,
        "created": utc(record.created),
        "finished": None if state.finished is None else utc(state.finished),
        "files": [name.rpartition("/")[2] for name in record.documents],
        "documents": [status_row(one) for one in state.documents],
        "pages": state.pages,
        "done": state.done,
        "failed": state.failed,
        "error": state.error,
        "callback": record.callback_state,
        "results": list(PHOTO_RESULTS if record.kind == "volumes" else PAGE_RESULTS),
    }
