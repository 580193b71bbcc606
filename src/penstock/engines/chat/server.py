"""One model server as the client sees it: its address, whether it is up, how busy it is.

A server that cannot be reached is set aside and probed until it is back. So is a server that accepts
connections but does not answer three times in a row. Used on the client's event loop only.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import aiohttp

from penstock.engines.chat.address import authorization, base_url
from penstock.engines.chat.errors import Refusal, message_of, understand
from penstock.sizes import MB, file_size
from penstock.trace import vllm_metrics

log = logging.getLogger(__name__)
LOOK_S = 2.0  # /metrics is 50 kB of text and 0.5 ms of our time
LOOK_TIMEOUT_S = 10.0  # a choice: many times what an answer takes, far below a request's timeout
HUNG_AFTER = 3  # looks without an answer
FIRST_PROBE_PAUSE_S, MAX_PROBE_PAUSE_S = 0.1, 5.0
# of an answer: 8,192 tokens are 2.5 MB when each comes in an event of its own
MAX_ANSWER_BYTES = 16 * MB


class Server:
    """`up` says whether it may get requests, `reason` why not. `keep()` runs as long as the client."""

    def __init__(self, address: str, model: str | None, changed: Callable[[], None]) -> None:
        self.url = base_url(address)
        self.headers = authorization(address)
        self.model = model or ""
        self.context: int | None = None  # tokens of prompt and answer together, where it tells
        self.tells_logprobs = True  # until it refuses a request for them
        self.up = False
        self.was_up = False
        self.reason = "not asked yet"
        self.tasks: set[asyncio.Task[None]] = set()
        self.load: vllm_metrics.VllmMetrics | None = None
        self._changed = changed
        self._wanted = asyncio.Event()  # set while it is set aside
        self._wanted.set()

    def refusal(self, status: int, body: bytes, retry_after: str | None) -> Refusal:
        """Reads a refusal. After one for logprobs the same request is sent again without them."""
        found = understand(status, body, retry_after)
        if found.remedy == "none" and "logprob" in found.reason:
            log.info("server %s tells no logprobs: %s", self.url, found.reason)
            self.tells_logprobs = False
            return replace(found, remedy="again")
        return found

    def set_aside(self, reason: str) -> None:
        """Stops requests until a probe succeeds. Probing starts at once."""
        if self.up:
            log.info(
                "server %s is set aside: %s", self.url, reason, extra={"url": self.url, "reason": reason}
            )
        self.reason = reason
        self.up = False
        self._wanted.set()

    async def keep(self, session: aiohttp.ClientSession, looked: Callable[[], None]) -> None:
        """Probes the server while it is set aside; reads its load while it is up."""
        while True:
            if self.up:
                await self._look_until_aside(session, looked)
            else:
                await self._probe_until_up(session)

    async def _probe_until_up(self, session: aiohttp.ClientSession) -> None:
        pause = FIRST_PROBE_PAUSE_S
        while not await self._probe(session):
            await asyncio.sleep(pause)
            pause = min(MAX_PROBE_PAUSE_S, pause * 1.5)
        self._wanted.clear()
        log.info("server %s answers as %s", self.url, self.model or "?", extra={"url": self.url})
        self.up = self.was_up = True
        self._changed()

    async def _probe(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with self._get(session, "/health") as response:
                if 300 <= response.status < 400:  # a page or a key must not go to another address
                    self.reason = f"it sends us elsewhere (HTTP {response.status})"
                    return False
                if response.status >= 500:  # vLLM: the engine is dead; 404: not vLLM, fine
                    self.reason = f"HTTP {response.status} from /health"
                    return False
            async with self._get(session, "/v1/models") as response:
                body = await whole(response)
                if response.status >= 500:
                    self.reason = f"HTTP {response.status}: {message_of(body)}"
                    return False
                if response.status == 200:
                    self._introduce(json.loads(body))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError) as exc:
            self.reason = describe(exc)
            return False
        return True

    def _get(self, session: aiohttp.ClientSession, route: str) -> AbstractAsyncContextManager[Any]:
        timeout = aiohttp.ClientTimeout(total=LOOK_TIMEOUT_S)
        return session.get(self.url + route, timeout=timeout, headers=self.headers, allow_redirects=False)

    def _introduce(self, models: object) -> None:
        """Takes the first model's name if none was given, and the length of its context."""
        rows = models.get("data") if isinstance(models, dict) else None
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and row.get("id") and self.model in ("", row["id"]):
                self.model = str(row["id"])
                length = row.get("max_model_len")
                self.context = length if isinstance(length, int) and length > 0 else None
                return

    async def _look_until_aside(self, session: aiohttp.ClientSession, looked: Callable[[], None]) -> None:
        missed = 0
        tells = True
        while self.up:
            try:
                async with asyncio.timeout(LOOK_S):  # wait_for of 3.11 may swallow a cancellation
                    await self._wanted.wait()
            except TimeoutError:
                if tells and self.tasks:
                    tells, answered = await self._look(session, looked)
                    missed = 0 if answered else missed + 1
            if missed >= HUNG_AFTER and self.up:
                self.set_aside(
                    f"it hangs: no answer from /metrics within {LOOK_TIMEOUT_S:g} s, {missed} times"
                )
                for task in tuple(self.tasks):
                    task.cancel()

    async def _look(self, session: aiohttp.ClientSession, looked: Callable[[], None]) -> tuple[bool, bool]:
        """Returns whether the server has metrics at all, and whether it answered."""
        try:
            async with self._get(session, "/metrics") as response:
                body = await whole(response)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return True, False
        self.load = vllm_metrics.read(body) if response.status == 200 else None
        if self.load is None:
            return False, True
        looked()
        return True, True


async def whole(response: aiohttp.ClientResponse) -> bytes:
    """Returns the answer's body. Raises if it grows longer than any real answer."""
    body = bytearray()
    async for data in response.content.iter_any():
        body += data
        check_length(len(body))
    return bytes(body)


def check_length(size: int) -> None:
    """Raises ClientPayloadError for an answer longer than any model would give."""
    if size > MAX_ANSWER_BYTES:
        raise aiohttp.ClientPayloadError(f"the answer is longer than {file_size(MAX_ANSWER_BYTES)}")


def describe(exc: BaseException) -> str:
    """Describes a connection error in words; many of these exceptions have an empty message."""
    if isinstance(exc, TimeoutError):
        return "no answer in time"
    if isinstance(exc, aiohttp.ClientConnectorError):
        return f"cannot connect: {exc.strerror or exc.os_error}"
    if isinstance(exc, (aiohttp.ServerDisconnectedError, ConnectionResetError)):
        return "it closed the connection without an answer"
    if isinstance(exc, json.JSONDecodeError):
        return "it does not answer in JSON, so it is not a model server"
    return f"{type(exc).__name__}: {exc}".rstrip(": ")
