"""A server with vLLM's part of the OpenAI API and no model, which fails on demand.

    python -m penstock.testing.fake_server 8000 --delay-ms 50 --fail 503:0.1 --fail drop:0.01

It reads the picture's header and counts its tokens as GLM-OCR does, refuses what vLLM refuses with vLLM's
words, reports vLLM's gauges in /metrics, and streams on request. The answer holds the picture's size and
checksum, so that a test can tell which picture it belongs to. For tests, and for measuring the client.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import binascii
import io
import json
import random
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from PIL import Image, UnidentifiedImageError

from penstock.testing.fake_refusals import REFUSALS, VllmError

PIECE = 4  # characters a token
FAULTS = ("429", "503", "500", "drop", "hang", "loop", "length", "cut", "garbage")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the server understood of one request."""

    number: int  # counted from 0
    width: int
    height: int
    checksum: int
    prompt: str
    max_tokens: int
    stream: bool
    body: dict[str, Any] = field(repr=False)

    @property
    def tokens(self) -> int:
        return max(16, round(self.width / 28) * round(self.height / 28))

    @property
    def text(self) -> str:
        return f"{self.prompt} {self.width}x{self.height} #{self.checksum:08x}"


Fault = Callable[[Asked], str | None]
Says = Callable[[Asked], str]


@dataclass(slots=True, kw_only=True)
class FakeServer:
    """The server's behaviour. Change it while it runs; `asked` keeps every request it understood."""

    model: str = "fake"
    delay_s: float = 0.0
    spread: float = 0.0  # of the delay: each picture's is up to this share shorter or longer
    token_s: float = 0.0  # for each token of the answer
    stream_interval: int = 1  # tokens an event, as vLLM's flag of that name; the first goes alone
    max_model_len: int = 8_192
    encoder_tokens: int = 6_144
    max_running: int = 1_000_000  # what is more waits, as in vLLM
    api_key: str | None = None
    metrics: bool = True
    healthy: bool = True
    fault: Fault = lambda asked: None
    says: Says = lambda asked: asked.text
    asked: list[Asked] = field(default_factory=list)
    running: int = 0
    waiting: int = 0
    peak: int = 0
    keep_asked: bool = True
    logprob: float | None = -0.05  # of every token, where it is asked for; None: such requests are refused
    _count: int = 0
    _gate: asyncio.Condition = field(default_factory=asyncio.Condition)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(status=200 if self.healthy else 503)

    async def _models(self, request: web.Request) -> web.Response:
        if not self._allowed(request):
            return web.json_response({"error": "Unauthorized"}, status=401)
        row = {"id": self.model, "object": "model", "owned_by": "vllm", "max_model_len": self.max_model_len}
        return web.json_response({"object": "list", "data": [row]})

    async def _metrics(self, _: web.Request) -> web.Response:
        if not self.metrics:
            return web.json_response({"detail": "Not Found"}, status=404)
        labels = f'{{engine="0",model_name="{self.model}"}}'
        lines = [
            f"vllm:num_requests_running{labels} {float(self.running)}",
            f"vllm:num_requests_waiting{labels} {float(self.waiting)}",
            f"vllm:generation_tokens_total{labels} {float(self._count)}",
        ]
        return web.Response(text="\n".join(lines) + "\n")

    def _allowed(self, request: web.Request) -> bool:
        return self.api_key is None or request.headers.get("Authorization") == f"Bearer {self.api_key}"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if not self._allowed(request):
            return web.json_response({"error": "Unauthorized"}, status=401)
        try:
            asked = self._understand(json.loads(await request.read()))
        except VllmError as refusal:
            return refusal.response()
        fault = self.fault(asked)
        if fault in REFUSALS:
            return REFUSALS[fault].response()
        if fault == "drop":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        async with self._slot():
            return await self._answer(request, asked, fault)

    def _understand(self, body: dict[str, Any]) -> Asked:
        if body.get("model") not in (None, "", self.model):
            words = f"The model `{body['model']}` does not exist. Valid aliases: {self.model}."
            raise VllmError(404, words, "NotFoundError", "model")
        parts = {part["type"]: part for part in body["messages"][0]["content"]}
        image = _decode(parts["image_url"]["image_url"]["url"]) if "image_url" in parts else (0, 0, 0)
        prompt = parts["text"]["text"]
        stream = bool(body.get("stream"))
        asked = Asked(self._count, *image, prompt, body.get("max_tokens", 16), stream, body)
        self._count += 1
        if self.keep_asked:
            self.asked.append(asked)
        self._check_size(asked)
        if body.get("logprobs") and self.logprob is None:
            raise VllmError(400, "Requested logprobs are not supported.", param="logprobs")
        return asked

    def _check_size(self, asked: Asked) -> None:
        if min(asked.width, asked.height) * 200 < max(asked.width, asked.height):
            size = f"size={asked.width}x{asked.height}"
            raise VllmError(
                400, f"Failed to apply Glm46VProcessor on data={{'images': [<PIL mode=RGB {size}>]}}"
            )
        if asked.tokens > self.encoder_tokens:
            raise VllmError(
                400,
                f"The decoder prompt contains a(n) image item with {asked.tokens} embedding tokens, which "
                f"exceeds the pre-allocated encoder cache size {self.encoder_tokens}. Please reduce it.",
            )
        if asked.max_tokens > self.max_model_len:
            raise VllmError(
                400,
                f"max_tokens={asked.max_tokens} cannot be greater than max_model_len={self.max_model_len}. "
                f"Please request fewer output tokens. (parameter=max_tokens, value={asked.max_tokens})",
            )
        if asked.tokens + 16 > self.max_model_len:
            raise VllmError(
                400,
                f"Input length ({asked.tokens + 16}) exceeds model's maximum context length "
                f"({self.max_model_len}).",
            )

    async def _answer(self, request: web.Request, asked: Asked, fault: str | None) -> web.StreamResponse:
        if fault == "hang":
            await asyncio.sleep(3_600)
        text = "around and around " * 2_000 if fault == "loop" else self.says(asked)
        pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
        room = min(asked.max_tokens, self.max_model_len - asked.tokens)
        finish = "length" if fault == "length" or len(pieces) > room else "stop"
        pieces = pieces[:room]
        usage = {"prompt_tokens": asked.tokens, "completion_tokens": len(pieces)}
        if asked.stream:
            delay_s = self._delay_s(asked)
            return await self._stream(request, asked, pieces, finish, usage, fault == "cut", delay_s)
        await asyncio.sleep(self._delay_s(asked) + self.token_s * len(pieces))
        if fault == "garbage":
            return web.Response(text="<html>A proxy's page</html>", content_type="text/html")
        message = {"role": "assistant", "content": "".join(pieces)}
        choice = {"index": 0, "message": message, "finish_reason": finish, **self._logprobs(asked, pieces)}
        return web.json_response({"object": "chat.completion", "choices": [choice], "usage": usage})

    def _logprobs(self, asked: Asked, pieces: list[str]) -> dict[str, Any]:
        rows: list[dict[str, Any]] = [
            {"token": piece, "logprob": self.logprob, "top_logprobs": []} for piece in pieces
        ]
        return {"logprobs": {"content": rows}} if asked.body.get("logprobs") else {}

    def _delay_s(self, asked: Asked) -> float:
        return self.delay_s * (1.0 + self.spread * (asked.checksum / 2**31 - 1.0))

    async def _stream(
        self,
        request: web.Request,
        asked: Asked,
        pieces: list[str],
        finish: str,
        usage: dict[str, int],
        cut: bool,
        delay_s: float,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        await asyncio.sleep(delay_s)
        with suppress(ConnectionError):  # a client that has read enough disconnects
            await self._write_events(response, asked, pieces[: len(pieces) // 2] if cut else pieces)
            if cut:
                assert request.transport is not None
                request.transport.abort()
                return response
            end = {"index": 0, "delta": {}, "finish_reason": finish}
            await response.write(_event({"choices": [end]}) + _event({"choices": [], "usage": usage}))
            await response.write(b"data: [DONE]\n\n")
            await response.write_eof()
        return response

    async def _write_events(self, response: web.StreamResponse, asked: Asked, pieces: list[str]) -> None:
        starts = [0, *range(1, len(pieces), self.stream_interval)]
        for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True):
            await asyncio.sleep(self.token_s * (end - start))
            delta = {"content": "".join(pieces[start:end])}
            choice = {"index": 0, "delta": delta, **self._logprobs(asked, pieces[start:end])}
            await response.write(_event({"choices": [choice]}))

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """Takes one of the `max_running` slots. Counts the requests that run and that wait."""
        self.waiting += 1
        try:
            async with self._gate:
                await self._gate.wait_for(lambda: self.running < self.max_running)
                self.running += 1
                self.peak = max(self.peak, self.running)
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            async with self._gate:
                self.running -= 1
                self._gate.notify()


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _decode(url: str) -> tuple[int, int, int]:
    """Returns width, height and checksum of a data URL's picture. Raises vLLM's error if it is none."""
    try:
        data = base64.b64decode(url.partition(",")[2], validate=True)
    except binascii.Error:
        raise VllmError(400, "Non-base64 digit found") from None
    try:
        with Image.open(io.BytesIO(data)) as picture:  # reads the header only
            return picture.width, picture.height, zlib.crc32(data)
    except UnidentifiedImageError:
        words = "Failed to load image: cannot identify image file <_io.BytesIO object>"
        raise VllmError(400, words) from None


@contextmanager
def serving(server: FakeServer, port: int = 0) -> Iterator[str]:
    """Runs the server on its own thread and gives its address."""
    started: list[int] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def main() -> None:
        server._gate = asyncio.Condition()
        runner = web.AppRunner(server.app(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=2048)
        await site.start()
        started.append(runner.addresses[0][1])
        ready.set()
        await stop.wait()
        await asyncio.sleep(0.01)  # a connection being accepted while the server closes would be leaked
        await runner.cleanup()
        await asyncio.sleep(0)  # connections that were cut are closed in the loop's next turn

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(main())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    thread = threading.Thread(target=run, name="fake-server", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{started[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def by_chance(shares: dict[str, float], seed: int = 0) -> Fault:
    """Returns a function that picks each fault for its share of the requests."""
    chance = random.Random(seed)

    def fault(_: Asked) -> str | None:
        at = chance.random()
        for name, share in shares.items():
            at -= share
            if at < 0:
                return name
        return None

    return fault


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("port", type=int)
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--spread", type=float, default=0.0, help="share by which delays differ")
    parser.add_argument("--answer-tokens", type=int, default=0, help="length of every answer; 0: a short one")
    parser.add_argument("--stream-interval", type=int, default=1)
    parser.add_argument("--max-model-len", type=int, default=8_192)
    kinds = ", ".join(FAULTS)
    parser.add_argument(
        "--fail", action="append", default=[], metavar="KIND:SHARE", help=f"KIND is one of {kinds}"
    )
    args = parser.parse_args()
    shares = {kind: float(share or 1) for kind, _, share in (each.partition(":") for each in args.fail)}
    if unknown := set(shares) - set(FAULTS):
        parser.error(f"unknown fault {', '.join(unknown)}; there are {kinds}")
    server = FakeServer(
        delay_s=args.delay_ms / 1e3,
        spread=args.spread,
        stream_interval=args.stream_interval,
        max_model_len=args.max_model_len,
        fault=by_chance(shares),
        keep_asked=False,  # it may run for days
    )
    if args.answer_tokens:
        server.says = lambda asked: (asked.text + " " + _FILLER)[: args.answer_tokens * PIECE]
    print(f"fake server at http://127.0.0.1:{args.port}", flush=True)
    web.run_app(server.app(), host="127.0.0.1", port=args.port, access_log=None, print=None)


_FILLER = " ".join(str(n * n) for n in range(20_000))

if __name__ == "__main__":
    main()
