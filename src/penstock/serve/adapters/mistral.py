"""Mistral's `POST /v1/ocr`: Markdown by page, pictures with their places, blocks and confidences."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool

from penstock.page import Page
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, Region
from penstock.serve.adapters.foreign_jobs import ForeignJobs, is_true
from penstock.serve.adapters.glm import add_source
from penstock.serve.adapters.mistral_files import own_file
from penstock.serve.errors import HttpRefusal
from penstock.serve.jobs.jobs import JobState
from penstock.serve.openapi import request_body
from penstock.serve.requests.body import BodyParser
from penstock.serve.requests.kept_files import KeptFile
from penstock.serve.routes.context import Context
from penstock.serve.routes.models import errors

DEFAULT_DPI = 72
TYPES = {
    "doc_title": "title",
    "paragraph_title": "title",
    "table": "table",
    "figure_title": "caption",
    "header": "header",
    "footer": "footer",
    "reference": "references",
    "reference_content": "references",
    "aside_text": "aside_text",
    "algorithm": "code",
    **dict.fromkeys(PICTURE_LABELS, "image"),
    **dict.fromkeys(FORMULA_LABELS, "equation"),
}
BODY = request_body(
    json={"document": {"type": "object"}},
    needed=["document"],
    example={
        "model": "mistral-ocr-latest",
        "document": {"type": "document_url", "document_url": "data:application/pdf;base64,JVBERi0..."},
        "include_image_base64": False,
    },
)


class MistralRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._jobs = ForeignJobs(context)
        plan = context.service.plan
        stages = plan.settings() if plan is not None else []
        self._dpi = next((int(stage["dpi"]) for stage in stages if stage.get("dpi")), DEFAULT_DPI)

    def add_to(self, app: FastAPI) -> None:
        app.post("/v1/ocr", openapi_extra=BODY, responses=errors(404, 405, 413, 415), tags=["Mistral"])(
            self.ocr
        )

    async def ocr(self, request: Request) -> dict[str, Any]:
        """Reads one document or picture as Mistral's OCR does."""
        told: dict[str, Any] = {}
        size = 0

        async def fill(body: BodyParser) -> Mapping[str, Any]:
            nonlocal size
            told.update(await body.json(request))
            await self._add_document(request, body, told.get("document"))
            size = body.received.size
            return _pages_option(told.get("pages"))

        state = await self._jobs.finished(request, fill)
        _, pages = await self._jobs.document(state)
        rows = [await run_in_threadpool(self._page, state, page, told) for page in pages]
        return {
            "pages": rows,
            "model": str(told.get("model") or "penstock"),
            "document_annotation": None,
            "usage_info": {"pages_processed": len(pages), "doc_size_bytes": size},
        }

    async def _add_document(self, request: Request, body: BodyParser, document: Any) -> None:
        if not isinstance(document, dict):
            raise HttpRefusal(422, "document: an object is wanted.")
        source = document.get("document_url") or document.get("image_url")
        if isinstance(source, dict):
            source = source.get("url")
        if isinstance(file_id := document.get("file_id"), str):
            kept: KeptFile | None = own_file(self._context, request, file_id)
        else:
            kept = self._context.kept_files.named_by(source) if isinstance(source, str) else None
        if kept is None and not source:
            raise HttpRefusal(422, "document: a document_url, an image_url or a file_id is wanted.")
        if kept is None:
            await add_source(body, source)
        else:
            await body.add_stream(kept.name, kept.pieces())

    def _page(self, state: JobState, page: Page, told: Mapping[str, Any]) -> dict[str, Any]:
        pictures = [region for region in page.regions if region.crop_path and region.label in PICTURE_LABELS]
        names = {str(region.crop_path): f"img-{number}.jpeg" for number, region in enumerate(pictures)}
        markdown = page.markdown
        for path, name in names.items():
            markdown = markdown.replace(path, name)
        with_bytes = is_true(told.get("include_image_base64"))
        row: dict[str, Any] = {
            "index": page.part,
            "markdown": markdown,
            "images": [self._image(state, region, names, with_bytes) for region in pictures],
            "dimensions": {"dpi": self._dpi, "height": page.height, "width": page.width},
            "tables": [],
            "hyperlinks": [],
            "header": _joined(page, "header") if is_true(told.get("extract_header")) else None,
            "footer": _joined(page, "footer") if is_true(told.get("extract_footer")) else None,
        }
        if is_true(told.get("include_blocks")):
            row["blocks"] = [_block(region) for region in page.regions]
        if told.get("confidence_scores_granularity"):
            row["confidence_scores"] = _confidence(page)
        return row

    def _image(
        self, state: JobState, region: Region, names: Mapping[str, str], with_bytes: bool
    ) -> dict[str, Any]:
        path, data = str(region.crop_path), None
        if with_bytes:
            kind = "png" if path.endswith(".png") else "jpeg"
            data = f"data:image/{kind};base64,{base64.b64encode(self._jobs.asset(state, path)).decode()}"
        return {"id": names[path], **_corners(region), "image_base64": data, "image_annotation": None}


def _pages_option(given: Any) -> dict[str, str]:
    """Returns pages that are counted from 0, in a list or as "0-5,7", as ours from 1."""
    if given in (None, "", []):
        return {}
    parts = [str(part) for part in given] if isinstance(given, list) else str(given).split(",")
    spans = []
    for part in parts:
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise HttpRefusal(422, f"pages: {part!r} is no page.", 'Like [0, 2], or "0-5,7".')
        spans.append(f"{int(first) + 1}-{int(last) + 1}" if dash else str(int(first) + 1))
    return {"pages": ",".join(spans)}


def _corners(region: Region) -> dict[str, int]:
    names = ("top_left_x", "top_left_y", "bottom_right_x", "bottom_right_y")
    return dict(zip(names, (round(value) for value in region.box), strict=True))


def _block(region: Region) -> dict[str, Any]:
    return {"type": TYPES.get(region.label, "text"), **_corners(region), "content": region.content or ""}


def _joined(page: Page, label: str) -> str:
    return "\n".join(region.content for region in page.regions if region.label == label and region.content)


def _confidence(page: Page) -> dict[str, Any]:
    scores = [region.confidence for region in page.regions if region.confidence is not None]
    return {
        "average_page_confidence_score": sum(scores) / len(scores) if scores else None,
        "minimum_page_confidence_score": min(scores, default=None),
        "word_confidence_scores": [],
    }
