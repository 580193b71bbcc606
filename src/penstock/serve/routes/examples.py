"""The bodies of /v1/parse and /v1/volumes for the API's description: code reads them piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from penstock.serve.jobs.photo_attachments import DEPTHS, FURNITURE
from penstock.serve.openapi import FILE, request_body
from penstock.serve.requests.options import ParseRequest, VolumesRequest

NAMED_FILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "examples": ["report.pdf"]},
        "base64": {"type": "string", "contentEncoding": "base64"},
        "url": {"type": "string", "description": "A data URI, or an address of a host the operator allows."},
    },
    "additionalProperties": False,
}
FILES = {"files": "What is read or measured."}
BESIDE = {
    DEPTHS: "Depth maps, named after their photos: .npy in metres, or 16-bit PNG in millimetres.",
    FURNITURE: "One CSV of sizes: name, width, depth, height in metres; spread, packing, movable, synonyms.",
}


def parse_body() -> dict[str, Any]:
    example = {
        "files": [{"name": "report.pdf", "base64": "JVBERi0xLjQK..."}],
        "lang": ["ko", "en"],
        "pages": "1-3",
    }
    return _body(ParseRequest, example)


def volumes_body() -> dict[str, Any]:
    example = {
        "files": [{"name": "room.jpg", "base64": "/9j/4AAQSkZJRg..."}],
        "boxes": ["room.jpg=420,610,380,700:chair"],
        "camera_height": 1.5,
        "same_room": True,
    }
    return _body(VolumesRequest, example, {**FILES, **BESIDE})


def _body(kind: type[BaseModel], example: dict[str, Any], files: Mapping[str, str] = FILES) -> dict[str, Any]:
    fields = kind.model_json_schema()["properties"]
    form, told = (
        {name: {"type": "array", "items": one, "description": words} for name, words in files.items()}
        | fields
        for one in (FILE, NAMED_FILE)
    )
    return request_body(json=told, form=form, is_file=True, needed=["files"], example=example)
