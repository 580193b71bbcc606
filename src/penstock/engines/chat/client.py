"""Sends pictures and prompts to vision-language model servers, from any number of threads at once.

One `ChatClient` serves a whole run: one event loop on a thread of its own, connections that stay open,
one limit on the requests in flight over all threads and servers. `ask` blocks until every picture of
the call has its answer or its reason, in the order given.

    with ChatClient(["http://localhost:8000"], RECOGNISERS["glm-ocr"]) as client:
        for outcome in client.ask([ChatRequest(jpeg, "Text Recognition:", max_tokens=512)]):
            print(outcome.text if isinstance(outcome, Answer) else outcome)

Pictures with the same bytes and prompt are sent once: later ones share the answer, also for some time after.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import cv2
import numpy as np

from penstock.engines.chat.address import base_url
from penstock.engines.chat.dispatcher import FIRST_CONTACT_S, SMALLER, Dispatcher
from penstock.engines.chat.errors import Unwelcome
from penstock.engines.chat.job import Answer, Job, Outcome, Settings
from penstock.engines.chat.recognisers import Recogniser
from penstock.engines.image.codec import decode_rgb, encode_jpeg
from penstock.errors import EngineError, OpenError, UsageError

__all__ = ["Answer", "ChatClient", "ChatRequest", "Settings", "smaller_jpeg"]

REMEMBERED = 4_096  # answers; about 10 MB of text. Logos and stamps come back within a document
MIN_SIDE = 28  # pixels: two patches of 14, the least GLM-OCR's preprocessor takes
MEET_S = 0.05
_Key = tuple[bytes, str]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question about one encoded picture. Requests with the highest `cost` are sent first."""

    image: bytes = field(repr=False)
    prompt: str
    max_tokens: int
    cost: float = 1.0

    @property
    def key(self) -> _Key:
        return hashlib.sha256(self.image).digest(), self.prompt


@dataclass(frozen=True, slots=True)
class _PendingAnswer:
    """A request on its way: its outcome is set on the loop's thread and awaited on the caller's."""

    key: _Key
    request: ChatRequest
    outcome: Future[Outcome] = field(default_factory=Future)


class ChatClient:
    """Sends pictures to servers. Thread-safe; close it, or use it in a `with`."""

    def __init__(
        self,
        servers: Sequence[str],
        recogniser: Recogniser,
        *,
        model: str | None = None,
        limit: int = 256,
        timeout_s: float = 300.0,
        retries: int = 4,
        down_s: float = 300.0,
        api_key: str | None = None,
        dynamic: bool = True,
        page_s: float | None = None,
        smaller: SMALLER | None = None,
        logprobs: bool = False,
    ) -> None:
        if not servers:
            raise UsageError("No server was given.", "Name one with --server http://host:8000.")
        if limit < 1:
            raise UsageError(f"The limit of requests in flight is {limit}; it must be 1 or more.")
        self.recogniser = recogniser
        self._addresses = [address for address in servers if base_url(address)]  # raises for a wrong one
        self._model = model
        self._settings = Settings(
            limit=limit, timeout_s=timeout_s, retries=retries, down_s=down_s, api_key=api_key,
            dynamic=dynamic, page_s=page_s, logprobs=logprobs,
        )  # fmt: skip
        self._smaller = smaller or smaller_jpeg
        self._remembered: OrderedDict[_Key, Answer] = OrderedDict()
        self._waiters: dict[_Key, list[Future[Outcome]]] = {}
        self._shared = 0
        self._opened = threading.Event()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="chat", daemon=True)
        self._thread.start()
        self._opened.wait()

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def meet(self) -> None:
        """Waits until a first server answers. Closes the client and raises OpenError if none does in time.

        Callers use it to end a run at once instead of failing every page for a wrong address.
        """
        servers, end = self._dispatcher.servers, time.monotonic() + FIRST_CONTACT_S
        while not any(server.was_up for server in servers):
            if time.monotonic() >= end:
                said = "; ".join(f"{server.url}: {server.reason}" for server in servers)
                self.close()
                raise OpenError(
                    f"No model server answered for {FIRST_CONTACT_S:g} s ({said}).",
                    "Start one with `penstock engine start`, or check --server.",
                )
            time.sleep(MEET_S)

    def ask(self, requests: Sequence[ChatRequest]) -> list[Answer | EngineError]:
        """Returns an answer, or the reason why there is none, for each request in their order.

        Raises OpenError if a server refuses our key or does not know the model before any request was
        answered: all other requests would fail in the same way.
        """
        if not requests:
            return []
        # hashed here, not on the loop
        entries = [_PendingAnswer(request.key, request) for request in requests]
        with self._lock:
            if self._closed:
                return [EngineError("The client is closed.") for _ in requests]
            self._loop.call_soon_threadsafe(self._submit, entries)
        outcomes = [entry.outcome.result() for entry in entries]
        if not self._dispatcher.counts.answered:
            for refused in (outcome for outcome in outcomes if isinstance(outcome, Unwelcome)):
                raise OpenError(refused.message, refused.advice)
        return outcomes

    def stats(self) -> dict[str, Any]:
        """Returns what the client is doing and has done. May be called while it works."""
        work = self._dispatcher
        return {
            "in_flight": work.in_flight,
            "waiting": work.waiting,
            "limit": work.limit.now,
            "max": work.limit.maximum,
            "limit_cuts": work.limit.cuts,
            "filled": round(work.fill.share, 4),
            "ready_s": round(work.fill.ready_s, 3),
            "shared": self._shared,
            **asdict(work.counts),
            "servers": [
                {
                    "url": server.url,
                    "model": server.model,
                    "up": server.up,
                    "in_flight": len(server.tasks),
                    "running": int(server.load.running) if server.load else None,
                    "waiting": int(server.load.waiting) if server.load else None,
                    "reason": "" if server.up else server.reason,
                }
                for server in work.servers
            ],
        }

    def close(self) -> None:
        """Ends the loop and its thread. Requests that still wait fail with a reason. Safe to call twice."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    # on the loop's thread

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        finally:
            self._opened.set()  # also when the loop could not start: __init__ waits for this

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._dispatcher = Dispatcher(
            self._addresses, self.recogniser, self._model, self._settings, self._smaller
        )
        self._opened.set()
        await self._stop.wait()
        await self._dispatcher.close()

    def _submit(self, entries: list[_PendingAnswer]) -> None:
        for entry in entries:
            key = entry.key
            if (known := self._remembered.get(key)) is not None:
                self._remembered.move_to_end(key)
                self._shared += 1
                entry.outcome.set_result(replace(known, attempts=0, seconds=0.0))
            elif key in self._waiters:
                self._shared += 1
                self._waiters[key].append(entry.outcome)
            else:
                self._waiters[key] = [entry.outcome]
                self._dispatcher.submit(self._job(key, entry.request))
        self._dispatcher.pump()

    def _job(self, key: _Key, request: ChatRequest) -> Job:
        return Job(
            request.image,
            request.prompt,
            request.max_tokens,
            request.cost,
            done=lambda outcome: self._deliver(key, outcome),
        )

    def _deliver(self, key: _Key, outcome: Outcome) -> None:
        if isinstance(outcome, Answer):
            self._remembered[key] = outcome
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        first, *others = self._waiters.pop(key)
        first.set_result(outcome)
        again = replace(outcome, attempts=0) if isinstance(outcome, Answer) else outcome
        for other in others:
            other.set_result(again)


def smaller_jpeg(image: bytes, scale: float) -> bytes:
    """Scales the picture's sides and returns it as JPEG. Raises EngineError if it cannot be decoded."""
    pixels = decode_rgb(image)
    if pixels is None:
        raise EngineError("The picture is too large for the server and cannot be decoded to scale it.")
    height, width = (max(MIN_SIDE, round(side * scale)) for side in pixels.shape[:2])
    # area averaging keeps thin strokes; 90 because it is compressed a second time
    resized = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
    return encode_jpeg(np.asarray(resized, np.uint8), 90)
