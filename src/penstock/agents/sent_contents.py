"""Files in messages over HTTP: decoded to disk as they arrive, so that no message is large in memory.

The SDK reads a message whole and keeps several copies of it. A word takes a long base64 string's place; the
tool that copies the file finds it by that word, which no client can know before.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.agents.messages import refused_body
from penstock.errors import PenstockError
from penstock.serve.errors import HttpRefusal, answer_for, error_answer
from penstock.serve.guard.upload_deadlines import Arrivals, arrival_of, hold_for
from penstock.serve.requests.base64_stream import Base64Stream
from penstock.serve.requests.long_json import LongJson
from penstock.serve.requests.received_file import receive as receive_file
from penstock.store.atomic_files import store_errors

MAX_FILES = 4  # of a message; the tools take one
_sent: dict[str, Path] = {}  # by their words, while their requests are answered


def sent_file(word: str) -> Path | None:
    """Returns the file that a word of a message names."""
    return _sent.get(word)


class SentContentMiddleware:
    """Takes the files out of messages. Answers only POST: there is no session to be followed or ended."""

    def __init__(self, app: ASGIApp, arrivals: Arrivals, max_bytes: int) -> None:
        self._app = app
        self._arrivals = arrivals
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] != "POST":
            refusal = error_answer(405, "Only POST is answered here.")
            refusal.headers["Allow"] = "POST"
            await refusal(scope, receive, send)
            return
        with ExitStack() as until_answered:
            try:
                body = await self._short_body(Request(scope, receive), until_answered)
            except (HttpRefusal, HTTPException, PenstockError) as exc:
                await answer_for(exc)(scope, receive, send)
            except ClientDisconnect:
                return
            if (error := refused_body(body)) is not None:
                await Response(error, 400, media_type="application/json")(scope, receive, send)
            else:
                MutableHeaders(scope=scope)["Content-Length"] = str(len(body))
                await self._app(scope, _replayed(body, receive), send)

    async def _short_body(self, request: Request, until_answered: ExitStack) -> bytes:
        arrival = arrival_of(request.scope, self._arrivals.bounds)
        arrival.is_upload = True  # what stays in memory is bounded here
        with ExitStack() as while_arriving:
            num_files = 0

            async def take(pieces: AsyncIterator[bytes]) -> str:
                nonlocal num_files
                num_files += 1
                if num_files == 1:
                    crowded = while_arriving.enter_context(self._arrivals.counted(arrival))
                    if crowded is not None:
                        raise HttpRefusal(429, crowded, "Send it again later.")
                if num_files > MAX_FILES:
                    raise HttpRefusal(413, f"A message may have {MAX_FILES} files at most.")
                return await self._taken(pieces, until_answered)

            return await LongJson(request.stream(), take, hold_for(request.scope)).short()

    async def _taken(self, pieces: AsyncIterator[bytes], until_answered: ExitStack) -> str:
        folder = Path(until_answered.enter_context(tempfile.TemporaryDirectory(prefix="penstock-sent-")))
        content = await Base64Stream(pieces).opened()
        with store_errors(folder):
            await receive_file(aiter(content), folder / "file", "file", self._max_bytes)
        word = secrets.token_hex(24)
        _sent[word] = folder / "file"
        until_answered.callback(_sent.pop, word)
        return word


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Returns what gives the body once, then what the connection says."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
