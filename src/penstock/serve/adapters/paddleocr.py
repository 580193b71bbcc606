"""PaddleOCR-VL's `POST /layout-parsing`: Markdown with its pictures, and the blocks of every page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool

from penstock.page import Page
from penstock.region import Region
from penstock.serve.adapters.foreign_jobs import ForeignJobs, crops_of
from penstock.serve.adapters.glm import add_source
from penstock.serve.jobs.jobs import JobState
from penstock.serve.openapi import TEXT, request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import errors

IMAGE = 1  # a `fileType`; 0 is a PDF, and what it says is looked for in the file itself
BODY = request_body(
    json={"file": TEXT, "fileType": {"enum": [0, 1, None]}},
    needed=["file"],
    example={"file": "JVBERi0...", "fileType": 0},
)


class PaddleocrRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._jobs = ForeignJobs(context)

    def add_to(self, app: FastAPI) -> None:
        more = errors(405, 413, 415)
        app.post("/layout-parsing", openapi_extra=BODY, responses=more, tags=["PaddleOCR-VL"])(self.parse)

    async def parse(self, request: Request) -> dict[str, Any]:
        """Reads one document or picture as PaddleOCR-VL's server does."""
        given: dict[str, Any] = {}

        async def fill(body: BodyParser) -> Mapping[str, Any]:
            given.update(await body.json(request))
            await add_source(body, given.get("file"))
            return {}

        state = await self._jobs.finished(request, fill)
        _, pages = await self._jobs.document(state)
        rows = [await run_in_threadpool(self._page, state, page) for page in pages]
        kind = "image" if given.get("fileType") == IMAGE else "pdf"
        sizes = [{"width": page.width, "height": page.height} for page in pages]
        return {
            "logId": state.record.id,
            "errorCode": 0,
            "errorMsg": "Success",
            "result": {
                "layoutParsingResults": rows,
                "dataInfo": {"type": kind, "numPages": len(pages), "pages": sizes},
            },
        }

    def _page(self, state: JobState, page: Page) -> dict[str, Any]:
        crops = {path: base64.b64encode(self._jobs.asset(state, path)).decode() for path in crops_of(page)}
        text = page.markdown if page.failure is None else ""
        return {
            "prunedResult": {
                "width": page.width,
                "height": page.height,
                "parsing_res_list": [_block(region) for region in page.regions],
            },
            "markdown": {"text": text, "images": crops, "isStart": True, "isEnd": True},
            "outputImages": {},
            "inputImage": None,
        }


def _block(region: Region) -> dict[str, Any]:
    return {
        "block_label": region.label,
        "block_content": region.content or "",
        "block_bbox": [round(value) for value in region.box],
        "block_id": region.index,
        "block_order": region.index + 1,
    }
