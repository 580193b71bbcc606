"""Mistral's `/v1/files`: upload a file, get an address of it for `/v1/ocr`, delete it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response

from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.key_middleware import SIGNED
from penstock.serve.guard.upload_deadlines import arrival_of
from penstock.serve.openapi import FILE, request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.requests.kept_files import GONE, KeptFile
from penstock.serve.routes.context import LATER, Context, max_bytes_of, owner_of
from penstock.serve.routes.models import errors

TIDY_S = 600.0
BODY = request_body(form={"file": FILE, "purpose": {"type": "string", "default": "ocr"}}, needed=["file"])

BYTES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"application/octet-stream": {}}}
}
AS_BYTES = {"media_type": "application/octet-stream", "headers": {"Content-Disposition": "attachment"}}


class MistralFileRoutes:
    """One method for each path. A file of another key is not there."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._kept = context.kept_files
        self._timer: asyncio.TimerHandle | None = None  # of the next look for what has expired

    def add_to(self, app: FastAPI) -> None:
        more: dict[str, Any] = {"responses": errors(404), "tags": ["Mistral"]}
        one = "/v1/files/{file_id}"
        taking = errors(405, 413, 415, 507)
        app.post("/v1/files", openapi_extra=BODY, responses=taking, tags=["Mistral"])(self.upload)
        app.get("/v1/files", tags=["Mistral"])(self.files)
        app.get(one, **more)(self.file)
        app.get(f"{one}/url", **more)(self.url)
        app.delete(one, **more)(self.delete)
        in_bytes = {"response_class": Response, "responses": {**BYTES, **errors(404)}, "tags": ["Mistral"]}
        app.get(f"{one}/content", **in_bytes)(self.content)  # type: ignore[arg-type]
        app.get(SIGNED + "{file_id}", **in_bytes)(self.signed)  # type: ignore[arg-type]

    async def upload(self, request: Request) -> dict[str, Any]:
        """Keeps a file for a day at most, until it is deleted or the service ends."""
        context = self._context
        context.check_takes()
        with (
            context.arrivals.counted(arrival_of(request.scope, context.arrivals.bounds)) as crowded,
            context.bodies.opened(max_bytes_of(request)) as body,
        ):
            if crowded is not None:
                raise HttpRefusal(429, crowded, LATER)
            return await self._kept_of(request, body)

    async def _kept_of(self, request: Request, body: BodyParser) -> dict[str, Any]:
        body.check(request)
        await body.form_parts(request, ("file",))
        if len(body.received.files) != 1:
            raise HttpRefusal(422, "file: one file is wanted.")
        [received] = body.received.files
        kept = await run_in_threadpool(self._kept.keep, received, owner_of(request).name)
        self._tidy()
        return _row(kept)

    def _tidy(self, is_due: bool = False) -> None:
        """Deletes what has expired, now and then as long as there is a file."""
        if is_due or self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(TIDY_S, self._tidy, True) if self._kept.of(None) else None

    async def files(self, request: Request) -> dict[str, Any]:
        """Lists the files of your key, latest first."""
        owner = owner_of(request)
        rows = [_row(file) for file in self._kept.of(None if owner.may("admin") else owner.name)]
        return {"data": rows, "object": "list", "total": len(rows)}

    async def file(self, request: Request, file_id: str) -> dict[str, Any]:
        """Describes a file."""
        return _row(self._known(request, file_id))

    async def url(
        self, request: Request, file_id: str, expiry: Annotated[int, Query(ge=1, le=10_000)] = 24
    ) -> dict[str, str]:
        """Gives an address by which anyone may read the file, for so many hours or as long as it is kept."""
        address = self._kept.address(self._known(request, file_id), 3600.0 * expiry)
        return {"url": str(request.base_url).rstrip("/") + address}

    async def content(self, request: Request, file_id: str) -> Response:
        """Returns the bytes of a file."""
        return FileResponse(self._known(request, file_id).path, **AS_BYTES)  # type: ignore[arg-type]

    async def signed(self, file_id: str, expires: int = 0, signature: str = "") -> Response:
        """Returns the bytes of a file by the address that `/url` gave. Needs no key."""
        return FileResponse(self._kept.signed(file_id, expires, signature).path, **AS_BYTES)  # type: ignore[arg-type]

    async def delete(self, request: Request, file_id: str) -> dict[str, Any]:
        """Deletes a file. Its addresses lead nowhere then."""
        file = self._known(request, file_id)
        await run_in_threadpool(self._kept.delete, file)
        return {"id": file.id, "object": "file", "deleted": True}

    def _known(self, request: Request, file_id: str) -> KeptFile:
        return own_file(self._context, request, file_id)


def own_file(context: Context, request: Request, file_id: str) -> KeptFile:
    """Returns a kept file that the caller may see. Raises HttpRefusal."""
    file, owner = context.kept_files.get(file_id), owner_of(request)
    if file is None or not (owner.may("admin") or file.owner == owner.name):
        raise HttpRefusal(404, GONE, "Upload it again.")
    return file


def _row(file: KeptFile) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": int(file.created),
        "filename": file.name,
        "purpose": "ocr",
        "sample_type": "ocr_input",
        "source": "upload",
        "num_lines": None,
        "mimetype": None,
        "signature": None,
        "deleted": False,
    }
