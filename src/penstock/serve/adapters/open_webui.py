"""Open WebUI's external document loader: `PUT /process` with a file's bytes, answered page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI, Request

from penstock.serve.adapters.foreign_jobs import ForeignJobs, without_links
from penstock.serve.errors import HttpRefusal
from penstock.serve.openapi import request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import errors

NO_TEXT = "No extractable text"  # by these words a caller knows that another loader may try
BODY = {
    "parameters": [
        {
            "name": "X-Filename",
            "in": "header",
            "description": "The file's name, percent-encoded.",
            "schema": {"type": "string"},
            "example": "report%202026.pdf",
        }
    ],
    **request_body(is_file=True),
}


class OpenWebuiRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._jobs = ForeignJobs(context)

    def add_to(self, app: FastAPI) -> None:
        more = errors(405, 413, 415)
        app.put("/process", openapi_extra=BODY, responses=more, tags=["Open WebUI"])(self.process)

    async def process(self, request: Request) -> list[dict[str, Any]]:
        """Reads a file for Open WebUI's external loader: one entry for each page that has text."""

        async def fill(body: BodyParser) -> Mapping[str, Any]:
            await body.add_stream(_file_name(request.headers), request.stream())
            return {}

        state = await self._jobs.finished(request, fill, NO_TEXT)
        name, pages = await self._jobs.document(state, NO_TEXT)
        texts = {page.part: text for page in pages if (text := without_links(page)).strip()}
        if not texts:
            raise HttpRefusal(422, NO_TEXT, "Its pages are empty.")
        return [
            {"page_content": text, "metadata": _metadata(name, part, len(pages))}
            for part, text in texts.items()
        ]


def _metadata(name: str, part: int, total: int) -> dict[str, Any]:
    """Counts pages from 0, as Open WebUI does; the label is what it shows."""
    return {"source": name, "page": part, "page_label": str(part + 1), "total_pages": total}


def _file_name(headers: Mapping[str, str]) -> str:
    return unquote(headers.get("x-filename", ""), errors="replace") or "document"
