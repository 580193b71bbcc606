"""Protects a service without a login from foreign web pages in a user's browser.

Any page that a user has open can send requests to 127.0.0.1. Across origins, the browser names the
page's origin in `Origin`. If its own host name is made to resolve to our address (DNS rebinding), the browser
names that host in `Host`. The check refuses both.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from penstock.serve.guard.allowed_origins import AllowedOrigins

# with trusted types a browser itself refuses to make markup of a string; web/tables.js has the one exception
POLICY = (
    "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types penstock-tables"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
KNOWN = 256  # hosts whose names are parsed once; nearly all requests come with the same


class OriginCheck:
    """Checks `Host` and `Origin`. Accepts addresses, this machine's names, and the further `names`.

    Pages of allowed `origins` may ask, too.
    """

    def __init__(self, names: Sequence[str] = (), origins: Sequence[str] = ()) -> None:
        self.origins = AllowedOrigins(origins)
        self._others = {name.lower() for name in names}
        machine = socket.gethostname().lower()
        short = machine.partition(".")[0]
        self._names = {"localhost", machine, short, f"{short}.local"} | self._others

    def refusal(self, headers: Mapping[str, str]) -> tuple[str, str] | None:
        """Returns why the request is refused, and advice; None if it is accepted."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host and not self._is_ours(_name(host)):
            advice = "Start the service with --allow-host NAME."
            return f"This service does not answer to the host name {_name(host)!r}.", advice
        if origin is not None and origin not in self.origins and not self._is_same(origin, host):
            return f"This service refuses requests from web pages of {origin}.", ""
        return None

    def _is_ours(self, name: str) -> bool:
        return name in self._names or _is_address(name)

    def _is_same(self, origin: str, host: str) -> bool:
        """Whether the page is ours. A proxy may replace `Host`; then `names` must hold the page's host."""
        netloc = origin.partition("://")[2]
        return bool(netloc) and (netloc.lower() == host.lower() or _name(netloc) in self._others)


@lru_cache(KNOWN)
def _name(netloc: str) -> str:
    """Returns the host without its port; the whole text if it cannot be parsed."""
    try:
        return (urlsplit(f"//{netloc}").hostname or "").rstrip(".")
    except ValueError:
        return netloc


@lru_cache(KNOWN)
def _is_address(name: str) -> bool:
    """Whether the name is an IP address, which no DNS entry can redirect."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
