"""Web pages of other origins that the operator allows to use the API from a browser (CORS).

Origins are exact: scheme, host and port. Browsers send no cookies here, so a page needs a key like any
other client where the service has keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from penstock.errors import UsageError

METHODS = "GET, HEAD, POST, PUT, DELETE"
HEADERS = "Authorization, Content-Type, Idempotency-Key, X-Api-Key, X-Filename"
EXPOSED = "Content-Disposition, Job, Location, Retry-After"
PREFLIGHT_S = 600  # that a browser may remember the answer
VARY = {"Vary": "Origin"}  # a cache must not give one origin's answer to another
NOTHING: Mapping[str, str] = MappingProxyType({})


class AllowedOrigins:
    """Says which headers an answer gets for the origin of a request."""

    def __init__(self, origins: Iterable[str] = ()) -> None:
        self._origins = frozenset(map(checked_origin, origins))

    def __contains__(self, origin: str | None) -> bool:
        return origin in self._origins

    def headers(self, origin: str | None) -> Mapping[str, str]:
        """Returns what lets a page of this origin read an answer."""
        if not self._origins:
            return NOTHING
        if origin is None or origin not in self:
            return VARY
        return {**VARY, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED}

    def preflight(self, method: str, headers: Mapping[str, str]) -> Mapping[str, str] | None:
        """Returns the headers of the answer to a browser's question before a request; None for others."""
        origin = headers.get("origin")
        if method != "OPTIONS" or origin not in self or "access-control-request-method" not in headers:
            return None
        allowed = {"Access-Control-Allow-Methods": METHODS, "Access-Control-Allow-Headers": HEADERS}
        return {**allowed, "Access-Control-Max-Age": str(PREFLIGHT_S)}


def checked_origin(text: str) -> str:
    """Returns an origin as browsers write it. Raises UsageError for anything else."""
    advice = "Write it like https://app.example.org, or http://localhost:3000."
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        raise UsageError(f"--allow-origin {text} is no origin: {exc}.", advice) from exc
    if (
        parts.scheme not in ("http", "https")
        or not host
        or "*" in text
        or text.count("/") != 2
        or "@" in text
    ):
        raise UsageError(f"--allow-origin {text} is no origin.", advice)
    name = f"[{host}]" if ":" in host else host
    is_default = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{name}" if is_default else f"{parts.scheme}://{name}:{port}"
