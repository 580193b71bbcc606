"""Checks whether a vLLM server is up, works, and makes progress.

Uses the standard library only: the watcher and `penstock engine` check now and then, one thing at a time.
"""

from __future__ import annotations

import base64
import http.client
import json
import struct
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from penstock.engines.chat.errors import message_of
from penstock.errors import OpenError
from penstock.trace import vllm_metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """When a server counts as hung, and how often to restart it."""

    every_s: float = 5.0
    answer_s: float = 10.0  # for /health, which needs no model: a choice, far above what it takes
    misses: int = 3
    stuck_s: float = 180.0  # no new token anywhere although requests run; a long prefill takes seconds
    max_restarts: int = 5  # then something is wrong that a restart does not cure


def healthy(url: str, timeout_s: float) -> bool:
    try:
        with vllm_metrics.DIRECT.open(url + "/health", timeout=timeout_s) as response:
            return bool(response.status == 200)
    except (OSError, ValueError, http.client.HTTPException):  # URLError is an OSError
        return False


class Pulse:
    """Tells a hung server from a busy one: a hung one is silent, or runs requests and makes no token."""

    def __init__(
        self,
        watch: Watch,
        healthy: Callable[[float], bool],
        tokens_and_running: Callable[[], tuple[float, float] | None],
    ) -> None:
        self._watch = watch
        self._healthy = healthy
        self._read = tokens_and_running
        self.reset()

    def reset(self) -> None:
        self._missed = 0
        self._tokens = -1.0
        self._since: float | None = None

    def trouble(self, now: float) -> str | None:
        self._missed = 0 if self._healthy(self._watch.answer_s) else self._missed + 1
        if self._missed >= self._watch.misses:
            return f"it hangs: no healthy answer {self._missed} times"
        if self._missed:
            return None
        seen = self._read()
        if seen is None or seen[1] == 0 or seen[0] != self._tokens:
            self._tokens = seen[0] if seen else -1.0
            self._since = None if seen is None or seen[1] == 0 else now
            return None
        if self._since is not None and now - self._since >= self._watch.stuck_s:
            return f"it runs {seen[1]:.0f} requests and made no token for {now - self._since:.0f} s"
        return None


def tokens_and_running(url: str, timeout_s: float) -> tuple[float, float] | None:
    """Returns all tokens so far, and the requests that run; None if the server does not report them."""
    try:
        found = vllm_metrics.read(vllm_metrics.fetch(url, timeout_s))
    except OSError:
        return None
    return (found.tokens, found.running) if found else None


def ask_about_a_picture(url: str, prompt: str, timeout_s: float) -> str:
    """Sends one small request as a recipe does: health alone does not prove that pictures work."""
    picture = "data:image/png;base64," + base64.b64encode(sample_picture()).decode()
    content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": prompt}]
    body = {"messages": [{"role": "user", "content": content}], "max_tokens": 8, "temperature": 0.0}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    try:
        with vllm_metrics.DIRECT.open(request, timeout=timeout_s) as response:
            text: str = json.load(response)["choices"][0]["message"]["content"] or ""
            return text
    except urllib.error.HTTPError as exc:
        words = message_of(exc.read())
        raise OpenError(f"The server at {url} is up but refused a test picture: {words}") from exc
    except (OSError, ValueError, LookupError) as exc:
        raise OpenError(f"The server at {url} is up but did not answer about a test picture: {exc}") from exc


def sample_picture(width: int = 112, height: int = 56) -> bytes:
    """Returns a white PNG with a black bar, made by hand so that no image library is loaded for it."""
    bar = range(height // 3, height // 2)
    rows = b"".join(b"\0" + (b"\0" if y in bar else b"\xff") * width for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
