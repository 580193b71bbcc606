"""The web page: our own files, read once. They are in web/, and a browser gets them as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import FastAPI, Request
from fastapi.responses import Response

FOLDER, INDEX = "web", "/web/index.html"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FRESH = {"Cache-Control": "no-cache"}  # after an upgrade nobody mixes old modules with new ones


def add_page(app: FastAPI) -> None:
    """Adds the page at / and its modules, styles and pictures below /web/."""
    for path, file in _files(resources.files("penstock.serve") / FOLDER, f"/{FOLDER}"):
        kind = KINDS.get(f".{path.rpartition('.')[2]}")
        if kind is not None:
            answer = _answer(file.read_text("utf-8"), kind)
            app.add_route("/" if path == INDEX else path, answer, include_in_schema=False)


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for file in folder.iterdir():
        if file.is_dir():
            yield from _files(file, f"{path}/{file.name}")
        else:
            yield f"{path}/{file.name}", file


def _answer(text: str, kind: str) -> Callable[[Request], Response]:
    return lambda _: Response(text, media_type=f"{kind}; charset=utf-8", headers=FRESH)
