"""Checks the key of every request, counts it, and notes whose it is."""

from __future__ import annotations

import math

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.serve.errors import error_answer
from penstock.serve.guard.keys import KeyRing

OWNER = "penstock.owner"  # where a request's scope holds whose key it is
REFERENCE = "/docs"
# a browser sends no key with an address: the page asks for it itself, and the reference is no secret
OPEN_PATHS = frozenset({"/", "/health", "/health/live", "/ready", "/version", REFERENCE})
SIGNED = "/signed-files/"  # begins addresses that prove by themselves that they may be read
OPEN_FOLDERS = ("/web/", SIGNED)  # the first: the files of the page
READING_POSTS = frozenset({"/v1/search", "/v1/embed", "/v1/extract"})


class KeyMiddleware:
    """Refuses requests without a key that may do what they ask."""

    def __init__(self, app: ASGIApp, keys: KeyRing) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (self._keys and is_open_path(scope["path"])):
            await self._app(scope, receive, send)
            return
        owner = self._keys.owner(Headers(scope=scope))
        if owner is None:
            answer = error_answer(401, "This service wants a key.", "Send it: Authorization: Bearer KEY.")
        elif not owner.may(needed := _scope_for(scope)):
            answer = error_answer(403, f"The key {owner.name!r} may not {needed}.")
        elif wait := self._keys.retry_after(owner):
            answer = error_answer(429, "Your key has asked too often.", "Wait a moment.", math.ceil(wait))
        else:
            scope[OWNER] = owner
            await self._app(scope, receive, send)
            return
        await answer(scope, receive, send)


def is_open_path(path: str) -> bool:
    """Whether a path is answered without a key."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


def _scope_for(scope: Scope) -> str:
    if scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"] in READING_POSTS:
        return "read"
    return "write"
