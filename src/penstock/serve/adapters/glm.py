"""The GLM-OCR SDK's server: `POST /glmocr/parse`, and the hosted `layout_parsing` with the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request

from penstock.documents.formats.glm import WrittenPage, blocks_of, page_blocks, written
from penstock.page import Page
from penstock.serve.adapters.foreign_jobs import ForeignJobs, as_list, page_span, whole_number
from penstock.serve.errors import HttpRefusal
from penstock.serve.openapi import LIST, TEXT, request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import errors

BETWEEN = "\n\n---\n\n"  # documents of one answer
PARSE_BODY = request_body(
    json={"images": {"type": "array", "items": TEXT}},
    form={"files": LIST},
    example={"images": ["data:image/png;base64,iVBORw0KG..."]},
)
HOSTED_BODY = request_body(
    json={"file": TEXT},
    needed=["file"],
    example={"model": "glm-ocr", "file": "data:application/pdf;base64,JVBERi0...", "end_page_id": 3},
)


class GlmRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._jobs = ForeignJobs(context)

    def add_to(self, app: FastAPI) -> None:
        more = errors(405, 413, 415)
        app.post("/glmocr/parse", openapi_extra=PARSE_BODY, responses=more, tags=["GLM-OCR"])(self.parse)
        hosted = app.post(
            "/api/paas/v4/layout_parsing", openapi_extra=HOSTED_BODY, responses=more, tags=["GLM-OCR"]
        )
        hosted(self.layout_parsing)

    async def parse(self, request: Request) -> dict[str, Any]:
        """Reads documents and pictures as the GLM-OCR SDK's own server does."""

        async def fill(body: BodyParser) -> Mapping[str, Any]:
            if request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
                await body.form_parts(request, ("files",))
                addresses = as_list(body.received.options.get("urls"))
            else:
                addresses = as_list((await body.json(request)).get("images"))
            for address in addresses:
                await add_source(body, address)
            return {}

        state = await self._jobs.finished(request, fill)
        documents = [_written(pages) for pages in (await self._jobs.pages(state)).values()]
        rows = [[page.rows for page in pages] for pages in documents]
        markdown = BETWEEN.join("\n\n".join(page.markdown for page in pages) for pages in documents)
        return {"json_result": rows[0] if len(rows) == 1 else rows, "markdown_result": markdown}

    async def layout_parsing(self, request: Request) -> dict[str, Any]:
        """Reads one document as the hosted GLM-OCR does."""
        told: dict[str, Any] = {}

        async def fill(body: BodyParser) -> Mapping[str, Any]:
            told.update(await body.json(request))
            await add_source(body, told.get("file"))
            first, last = (whole_number(told.get(name), name) for name in ("start_page_id", "end_page_id"))
            return page_span(first, last)

        state = await self._jobs.finished(request, fill)
        _, pages = await self._jobs.document(state)
        made = _written(pages)
        details = [
            [{**row, "width": page.width, "height": page.height} for row in one.rows]
            for one, page in zip(made, pages, strict=True)
        ]
        return {
            "id": state.record.id,
            "created": int(state.record.created),
            "model": str(told.get("model") or "glm-ocr"),
            "request_id": str(told.get("request_id") or state.record.id),
            "md_results": "\n\n".join(page.markdown for page in made),
            "layout_details": details,
            "layout_visualization": [],
            "data_info": {
                "num_pages": len(pages),
                "pages": [{"width": page.width, "height": page.height} for page in pages],
            },
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }


async def add_source(body: BodyParser, source: Any) -> None:
    """Takes a data URI, an address, or bare base64. A path of this machine is refused."""
    if not isinstance(source, str) or not source:
        raise HttpRefusal(400, "No images provided.")
    if source.lower().startswith("file:"):
        raise HttpRefusal(
            403, "This service reads no files of its own machine.", "Send the file as a data URI."
        )
    if source[:8].lower().startswith(("data:", "http://", "https://")):
        await body.add_address(source)
    else:
        await body.add_base64("document", source)


def _written(pages: Sequence[Page]) -> list[WrittenPage]:
    blocks = (
        page_blocks(blocks_of(page.regions, page.width, page.height)) if page.failure is None else []
        for page in pages
    )
    return list(written(blocks))
