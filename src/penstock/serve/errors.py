"""The service's error answers: always JSON with a sentence and advice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from penstock.errors import PenstockError, StoreError, UsageError

RETRY_S = 60  # a page or two later
NOTHING: Mapping[str, str] = MappingProxyType({})
# docling's client looks for an error's sentence in `detail`, where FastAPI puts it
DETAILED = ("/v1/convert/", "/v1/status/", "/v1/result/")


class TooLarge(UsageError):
    """The body is longer than allowed."""


class NotADocument(UsageError):
    """The first bytes are of no kind that is read."""


class TooSlow(UsageError):
    """The body does not arrive in time."""


class Displaced(UsageError):
    """The body made room for that of another client."""


class HttpRefusal(Exception):
    """Raised by a route; becomes an error answer with this status."""

    def __init__(self, status: int, error: str, advice: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.advice = status, error, advice


def error_answer(
    status: int, error: str, advice: str = "", retry_s: int = RETRY_S, also: Mapping[str, str] = NOTHING
) -> JSONResponse:
    retry = {"Retry-After": str(retry_s)} if status in (429, 503) else {}
    if status == 401:
        retry = {"WWW-Authenticate": "Bearer"}
    told = {"error": error, "advice": advice, **also}
    told = {name: writable(text) for name, text in told.items()}
    return JSONResponse(told, status, headers=retry)


def writable(text: str) -> str:
    """Returns a stranger's words without what UTF-8 cannot hold: halves of characters."""
    return text.encode("utf-8", "replace").decode()


def without_paths(text: str, out: Path | None) -> str:
    """Returns words without the folder of the service's run, which is no client's concern."""
    names = [] if out is None else [str(out.resolve()), str(out.absolute()), str(out)]
    for name in filter(lambda name: name not in (".", "/"), names):
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?=$|[^\w-])", "OUT", text)
    return text


def answer_for(exc: HttpRefusal | HTTPException | PenstockError) -> JSONResponse:
    """Returns the answer to what went wrong before a route was asked."""
    if isinstance(exc, HTTPException):
        return error_answer(exc.status_code, str(exc.detail))
    refusal = exc if isinstance(exc, HttpRefusal) else _as_refusal(exc)
    return error_answer(refusal.status, refusal.error, refusal.advice)


def _as_refusal(exc: PenstockError) -> HttpRefusal:
    kinds = {
        TooLarge: 413, NotADocument: 415, TooSlow: 408, Displaced: 429, StoreError: 507, UsageError: 409,
    }  # fmt: skip
    status = next((status for kind, status in kinds.items() if isinstance(exc, kind)), 503)
    return HttpRefusal(status, exc.message, exc.advice)


async def _refused(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HttpRefusal)
    out = getattr(request.app.state, "out", None)
    error, advice = without_paths(exc.error, out), without_paths(exc.advice, out)
    also = {"detail": error} if request.url.path.startswith(DETAILED) else {}
    return error_answer(exc.status, error, advice, also=also)


async def _penstock_error(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, PenstockError)
    return await _refused(request, _as_refusal(exc))


async def _wrong_call(_: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    return error_answer(422, "; ".join(f"{error['loc'][-1]}: {error['msg']}" for error in exc.errors()))


async def _no_route(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    answer = error_answer(exc.status_code, str(exc.detail))
    if exc.status_code == 405:
        answer.headers["Allow"] = ", ".join(_methods(request))
    return answer


def _methods(request: Request) -> list[str]:
    """Returns the methods of a path: those of all its routes, of which each knows only its own."""
    fitting = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in fitting for method in getattr(route, "methods", None) or ()})


async def _disconnected(_: Request, __: Exception) -> Response:
    return error_answer(400, "The body ended too soon.")  # the client is gone and will not read it


async def _bug(request: Request, exc: Exception) -> Response:
    """Answers for a bug of ours. The server raises the exception again and logs it."""
    return await _refused(
        request, HttpRefusal(500, f"{type(exc).__name__}: {exc}", "This is a bug in Penstock.")
    )


ERRORS = {
    HttpRefusal: _refused,
    PenstockError: _penstock_error,
    RequestValidationError: _wrong_call,
    HTTPException: _no_route,
    ClientDisconnect: _disconnected,
    Exception: _bug,
}
