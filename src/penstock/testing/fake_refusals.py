"""How vLLM refuses: its errors as HTTP answers, for the fake server."""

from __future__ import annotations

from aiohttp import web


class VllmError(Exception):
    def __init__(
        self, status: int, words: str, kind: str = "BadRequestError", param: str | None = None
    ) -> None:
        super().__init__(words)
        self._status = status
        self._error = {"message": words, "type": kind, "param": param, "code": status}

    def response(self) -> web.Response:
        return web.json_response({"error": self._error}, status=self._status)


BUSY = VllmError(
    503,
    "The engine is currently busy and cannot accept new requests. Please try again later.",
    "Service Unavailable",
)
REFUSALS = {
    "503": BUSY,
    "429": VllmError(429, "Too many requests.", "RateLimitError"),
    "500": VllmError(500, "Internal server error", "InternalServerError"),
}
