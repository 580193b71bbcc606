"""A schema's fields from a document that was read, each with the places that prove it."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import FastAPI, Request

from penstock.addresses.locator import Locator
from penstock.documents.fields.page_rows import DocumentText
from penstock.documents.fields.read import by_rules
from penstock.documents.fields.schema import FieldSchema
from penstock.errors import UsageError
from penstock.serve.errors import HttpRefusal
from penstock.serve.routes.context import Context, pages_of
from penstock.serve.routes.models import ExtractAnswer, ExtractQuestion, errors

MAX_PAGES = 500  # of a document that one request looks through


class ExtractRoutes:
    """By rules alone: a caller names no model server."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._service = context.service

    def add_to(self, app: FastAPI) -> None:
        path = "/v1/extract"
        app.post(path, response_model=ExtractAnswer, responses=errors(400, 404, 413))(self.extract)

    async def extract(self, request: Request, asked: ExtractQuestion) -> dict[str, Any]:
        """The fields of a JSON Schema in a document; of a long one, in its first 500 pages. Keeps nothing."""
        there = asked.name in self._service.catalogue.documents()
        if not there or not self._context.sees_document(request, asked.name):
            raise HttpRefusal(404, f"There is no document {asked.name!r}.")
        try:
            schema = FieldSchema.parse("fields", json.dumps(asked.fields))
        except UsageError as exc:
            raise HttpRefusal(400, exc.message, exc.advice) from exc
        return await self._context.exporting(partial(self._found, asked.name, schema))

    def _found(self, name: str, schema: FieldSchema) -> dict[str, Any]:
        text = DocumentText.of(tuple(pages_of(self._service, [name], MAX_PAGES)))
        found = asdict(by_rules(schema, text))
        return {"document": name, "locator": str(Locator(document=name)), **found}
