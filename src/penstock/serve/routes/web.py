"""The web page: our own files, read once. They are in web/, and a browser gets them as they are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from fastapi import FastAPI
from fastapi.responses import Response

FOLDER = "web"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FRESH = {"Cache-Control": "no-cache"}  # after an upgrade nobody mixes old modules with new ones


def add_page(app: FastAPI) -> None:
    """Adds the page at / and its modules, styles and pictures below /web/."""
    for file in resources.files("penstock.serve").joinpath(FOLDER).iterdir():
        name, _, ending = file.name.rpartition(".")
        if kind := KINDS.get(f".{ending}"):
            path = "/" if name == "index" else f"/{FOLDER}/{file.name}"
            app.get(path, include_in_schema=False)(_answer(file.read_text("utf-8"), kind))


def _answer(text: str, kind: str) -> Callable[[], Response]:
    return lambda: Response(text, media_type=f"{kind}; charset=utf-8", headers=FRESH)
