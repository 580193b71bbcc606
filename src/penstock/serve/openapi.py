"""The API's description in OpenAPI: clear names of operations, and the keys that are accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from penstock.serve.guard.key_middleware import is_open_path

BEARER, API_KEY = "bearer", "apiKey"
SCHEMES = {
    BEARER: {"type": "http", "scheme": "bearer", "description": "Authorization: Bearer KEY"},
    API_KEY: {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
}
Description = dict[str, Any]
FILE = {"type": "string", "format": "binary"}
TEXT = {"type": "string"}
LIST = {"type": "array"}


def operation_id(route: APIRoute) -> str:
    """Returns the route's name as listJobs; one of another project's shape begins with that project."""
    tags = [str(tag) for tag in route.tags]
    words: list[str] = re.findall(r"[a-z0-9]+", " ".join([*tags, route.name.replace("_", " ")]).lower())
    return words[0] + "".join(map(str.capitalize, words[1:]))


def request_body(
    *,
    json: Description | None = None,
    form: Description | None = None,
    is_file: bool = False,
    needed: Sequence[str] = (),
    example: Description | None = None,
) -> Description:
    """Returns what a path says of its body: fields as JSON, fields of a form, or the bytes of a file."""
    content: Description = {"application/octet-stream": {"schema": FILE}} if is_file else {}
    for kind, fields in (("application/json", json), ("multipart/form-data", form)):
        if fields is not None:
            schema = {"type": "object", "properties": fields}
            content[kind] = {"schema": {**schema, "required": [*needed]} if needed else schema}
    if example is not None:
        content["application/json"]["example"] = example
    return {"requestBody": {"required": True, "content": content}}


def described(app: FastAPI, has_keys: bool) -> Callable[[], Description]:
    """Returns what `app.openapi` is to be: FastAPI's own description, and who may ask for what."""
    plain = app.openapi

    def openapi() -> Description:
        if app.openapi_schema is None:
            _add_keys(plain(), has_keys)
        assert app.openapi_schema is not None
        return app.openapi_schema

    return openapi


def _add_keys(description: Description, has_keys: bool) -> None:
    """Adds both ways to send a key. A service without keys takes requests without one, too."""
    description.setdefault("components", {})["securitySchemes"] = SCHEMES
    description["security"] = [*([] if has_keys else [{}]), {BEARER: []}, {API_KEY: []}]
    for path, methods in description["paths"].items():
        if is_open_path(path):
            for operation in methods.values():
                operation["security"] = []
