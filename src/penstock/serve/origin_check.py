"""Whom a service without a login answers: people and programs, not web pages of strangers.

A page that someone has open can ask 127.0.0.1 as well. Across origins: then the browser names the page's in
`Origin`. Or its own host's name is made to mean our address: then the browser names that host in `Host`.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class OriginCheck:
    """Looks at a request's headers. Addresses and this machine's names are ours; `names` are others."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._others = {name.lower() for name in names}
        machine = socket.gethostname().lower()
        short = machine.partition(".")[0]
        self._names = {"localhost", machine, short, f"{short}.local"} | self._others

    def refusal(self, headers: Mapping[str, str]) -> tuple[str, str] | None:
        """Why the request is not answered, and what to do; None for one that is."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host and not self._is_ours(_name(host)):
            return f"Nobody here is called {_name(host)!r}.", "Start the service with --allow-host NAME."
        if origin is not None and not self._is_same(origin, host):
            return f"Requests from {origin} are not taken.", ""
        return None

    def _is_ours(self, name: str) -> bool:
        return name in self._names or _is_address(name)

    def _is_same(self, origin: str, host: str) -> bool:
        """A proxy may have put another host where the page's own was: then its name must be known."""
        netloc = origin.partition("://")[2]
        return bool(netloc) and (netloc.lower() == host.lower() or _name(netloc) in self._others)


def _name(netloc: str) -> str:
    """The host without its port; what cannot be read is nobody's name."""
    try:
        return (urlsplit(f"//{netloc}").hostname or "").rstrip(".")
    except ValueError:
        return netloc


def _is_address(name: str) -> bool:
    """An address cannot be made to mean another machine."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
