"""Checks every request with OriginCheck, and puts our headers into every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.serve.errors import error_answer
from penstock.serve.guard.origin_check import HEADERS, OriginCheck

OUR_HEADERS = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}


class OriginCheckMiddleware:
    """Refuses requests that the check refuses, and adds our headers to every answer."""

    def __init__(self, app: ASGIApp, check: OriginCheck) -> None:
        self._app = app
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        begun, headers = False, Headers(scope=scope)
        ours = OUR_HEADERS | _encoded(self._check.origins.headers(headers.get("origin")))

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                others = (pair for pair in message["headers"] if pair[0] not in ours)
                message["headers"] = [*others, *ours.items()]
            await send(message)

        refusal = self._check.refusal(headers)
        preflight = self._check.origins.preflight(scope["method"], headers)
        answer = self._app if refusal is None else error_answer(403, *refusal)
        if refusal is None and preflight is not None:
            answer = Response(status_code=204, headers=dict(preflight))
        try:
            await answer(scope, receive, sending)
        except asyncio.CancelledError:  # the server is shutting down and has waited long enough
            if not begun:
                ending = error_answer(503, "The service is shutting down.", "Try again in a moment.")
                await ending(scope, receive, sending)


def _encoded(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.lower().encode(): value.encode("latin-1") for name, value in headers.items()}
