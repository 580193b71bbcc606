"""What a server's refusal means, in words, and what can be done about it.

Servers refuse in many shapes: vLLM's {"error": {"message": ...}}, {"error": "Unauthorized"},
{"detail": ...} of a route that is not there, or a page of plain text from a proxy. `understand` reads
them all and sorts them by what the client does next.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from penstock.errors import EngineError

Remedy = Literal["wait", "shrink", "again", "none"]
# wait: the server is full, ask later and less. shrink: the picture is too large for it.
# again: its own fault, another try may do. none: the same request will always be refused.

MAX_QUOTE_CHARS = 300  # characters of a server's own words; a proxy may answer with a web page


@dataclass(frozen=True, slots=True)
class Refusal:
    """One refusal: what to do, why, and for `shrink` by how much to scale each side."""

    remedy: Remedy
    reason: str
    advice: str = ""
    scale: float = 0.7  # of width and height: half the pixels, half the tokens
    retry_after_s: float | None = None
    of_us: bool = False  # not of this request: the key or the model's name is wrong

    def error(self) -> EngineError:
        return (Unwelcome if self.of_us else EngineError)(self.reason, self.advice)


class Unwelcome(EngineError):
    """The server refuses all our requests: the key or the model's name is wrong."""


class RequestRefused(Exception):
    """Carries a refusal from the code that reads it to the code that acts on it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


_CONTEXT = re.compile(r"Input length \((\d+)\) exceeds model's maximum context length \((\d+)\)")
_DECODER = re.compile(r"decoder prompt \(length (\d+)\) is longer than the maximum model length of (\d+)")
_ENCODER = re.compile(r"(\d+) embedding tokens, which exceeds the pre-allocated encoder cache size (\d+)")
_PIXELS = re.compile(r"Image size \((\d+) pixels\) exceeds limit of (\d+) pixels")
MAX_PIXELS = 16_000_000  # no recogniser looks at more than 5 million; the rest would only be decoded
_ROOM = 0.75  # of a context for the prompt: what is read is about a quarter as long as what is shown
_SAFE = 0.97  # of a side: pictures are cut into patches, and rounding up must not cross the limit again


def understand(status: int, body: bytes, retry_after: str | None = None) -> Refusal:
    """Classifies a refusal by its status and its words. Never raises."""
    words = message_of(body)
    quote = f"The server refused (HTTP {status}): {words}" if words else f"The server answered HTTP {status}."
    if status in (429, 503):
        return Refusal(
            "wait", f"The server is full: {words or f'HTTP {status}'}", retry_after_s=_seconds(retry_after)
        )
    if (large := _too_large(words)) is not None:
        return large
    if status in (401, 403):
        return Refusal("none", quote, "Give its key with --api-key or PENSTOCK_API_KEY.", of_us=True)
    if 300 <= status < 400:
        reason = f"The server sends us elsewhere (HTTP {status}); pages go only where they were sent."
        return Refusal("none", reason, "Name the server that answers itself with --server.", of_us=True)
    if status == 404:
        advice = "Check the address and the model's name (--server, --model)."
        return Refusal("none", quote, advice, of_us=True)
    if status == 413:
        return Refusal("shrink", quote)
    if (picture := _bad_picture(words)) is not None:
        return picture
    if status in (400, 422):
        return Refusal("none", quote)
    return Refusal("again" if status >= 500 or status in (408, 409) else "none", quote)


def unreadable(body: bytes) -> Refusal:
    """The refusal for a body that came with HTTP 200 and is no answer; a retry may bring one."""
    return Refusal("again", f"The server's answer cannot be read: {message_of(body) or 'it is empty'}")


def message_of(body: bytes) -> str:
    """Returns the server's own message on one line, whatever shape the body has."""
    text = body.decode("utf-8", "replace").strip()
    try:
        words = _dig(json.loads(text))
    except (ValueError, RecursionError):
        words = re.sub(r"<[^>]*>", " ", text)
    line = " ".join(words.split())
    return line if len(line) <= MAX_QUOTE_CHARS else line[: MAX_QUOTE_CHARS - 1] + "…"


def _dig(value: Any) -> str:
    if isinstance(value, dict):
        for key in ("error", "message", "detail", "msg"):
            if value.get(key):
                return _dig(value[key])
        return json.dumps(value) if value else ""
    if isinstance(value, list):
        return "; ".join(_dig(each) for each in value)
    return "" if value is None else str(value)


def _too_large(words: str) -> Refusal | None:
    if found := (_CONTEXT.search(words) or _DECODER.search(words)):
        have, allowed = int(found[1]), int(found[2])
        reason = f"The picture takes {have} tokens, and the server's context holds {allowed}."
        return Refusal("shrink", reason, "Raise the server's --max-model-len.", _scale(have, allowed * _ROOM))
    if found := _ENCODER.search(words):
        have, allowed = int(found[1]), int(found[2])
        reason = f"The picture takes {have} tokens, and the server encodes at most {allowed} at once."
        return Refusal(
            "shrink", reason, "Raise the server's --max-num-batched-tokens.", _scale(have, allowed)
        )
    if found := _PIXELS.search(words):
        have, allowed = int(found[1]), int(found[2])
        reason = f"The picture has {have} pixels, and the server decodes at most {allowed}."
        return Refusal("shrink", reason, scale=_scale(have, min(allowed, MAX_PIXELS)))
    if "maximum context length" in words or "input tokens" in words:
        return Refusal("shrink", f"The request is too long for the server: {words}")
    return None


def _scale(have: int, allowed: float) -> float:
    return _SAFE * math.sqrt(min(1.0, allowed / max(1, have)))


def _bad_picture(words: str) -> Refusal | None:
    if "Failed to apply" in words and "Processor" in words:
        size = re.search(r"size=(\d+)x(\d+)", words)
        shape = f" of {size[1]} x {size[2]} pixels" if size else ""
        reason = f"The model's preprocessor cannot take a picture{shape}."
        return Refusal("none", reason, "It takes no picture thinner than 28 pixels or longer than 200:1.")
    if "Failed to load image" in words or "base64" in words or "decompression bomb" in words:
        return Refusal("none", f"The server cannot decode the picture: {words}")
    return None


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header or "nan")
    except ValueError:  # a date: rare, and our own pause will do
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
