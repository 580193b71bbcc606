"""What the service says when it does not do what it was asked, always as JSON with a sentence."""

from __future__ import annotations

import asyncio

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.errors import PenstockError, StoreError, UsageError
from penstock.serve.origin_check import HEADERS, OriginCheck
from penstock.serve.upload import TooLarge, TooSlow

RETRY_S = 60  # a page or two later


class HttpRefusal(Exception):
    """Becomes an answer with this status."""

    def __init__(self, status: int, error: str, advice: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.advice = status, error, advice


class OriginCheckMiddleware:
    """Lets in what the guard lets in, and sends our headers with every answer."""

    def __init__(self, app: ASGIApp, check: OriginCheck) -> None:
        self._app = app
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._check.refusal(Headers(scope=scope))
        answer = self._app if refusal is None else said(403, *refusal)
        try:
            await answer(scope, receive, sending)
        except asyncio.CancelledError:  # the server ends and has waited long enough for this one
            if not begun:
                await said(503, "The service ends.", "Ask again in a moment.")(scope, receive, sending)


def said(status: int, error: str, advice: str = "") -> JSONResponse:
    retry = {"Retry-After": str(RETRY_S)} if status == 429 else {}
    return JSONResponse({"error": error, "advice": advice}, status, headers=retry)


async def _refusal(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, HttpRefusal)
    return said(exc.status, exc.error, exc.advice)


async def _trouble(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, PenstockError)
    kinds = {TooLarge: 413, TooSlow: 408, StoreError: 507, UsageError: 409}
    status = next((status for kind, status in kinds.items() if isinstance(exc, kind)), 503)
    return said(status, exc.message, exc.advice)


async def _wrong_call(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    return said(422, "; ".join(f"{error['loc'][-1]}: {error['msg']}" for error in exc.errors()))


async def _no_route(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    return said(exc.status_code, str(exc.detail))


async def _gone(_: Request, __: Exception) -> Response:
    return said(400, "The body ended too soon.")  # nobody hears it


async def _fault(_: Request, exc: Exception) -> Response:
    """A fault of ours; it is raised once more after this, and logged."""
    return said(500, f"{type(exc).__name__}: {exc}", "This is a fault of Penstock's.")


ERRORS = {
    HttpRefusal: _refusal,
    PenstockError: _trouble,
    RequestValidationError: _wrong_call,
    HTTPException: _no_route,
    ClientDisconnect: _gone,
    Exception: _fault,
}
