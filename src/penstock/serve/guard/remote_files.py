"""Files that the service fetches for a client: only from hosts the operator allows, never from inside.

A name is resolved once, every address it has is checked, and the connection goes to the checked one: a name
that means something else a moment later changes nothing. Redirects are not followed, and no proxy is asked.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from penstock import __version__
from penstock.serve.errors import HttpRefusal

CONNECT_S = 10.0
SILENCE_S = 30.0  # without a byte
FETCH_S = 300.0
PIECE = 256 * 1024
PORTS = {"http": 80, "https": 443}
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolved(host: str, port: int) -> list[str]:
    """Returns the addresses of a name."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class RemoteFiles:
    """Opens addresses. `hosts` are names, or `*.example.org` for all below one; none: nothing is fetched."""

    def __init__(self, hosts: Sequence[str] = (), resolve: Resolve = resolved, inside: bool = False) -> None:
        self._hosts = [host.lower() for host in hosts]
        self._resolve = resolve
        self._inside = inside  # for tests: their server is on this machine

    @asynccontextmanager
    async def opened(self, address: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Gives the bytes of a file. Raises HttpRefusal that says why not."""
        host = self._checked(address)
        timeout = aiohttp.ClientTimeout(total=FETCH_S, sock_connect=CONNECT_S, sock_read=SILENCE_S)
        connector = aiohttp.TCPConnector(
            resolver=_CheckedResolver(self._resolve, self._inside), use_dns_cache=False
        )
        headers = {"User-Agent": f"penstock/{__version__}", "Accept-Encoding": "identity"}
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session,
                session.get(address, allow_redirects=False) as answer,
            ):
                if answer.status != 200:
                    raise HttpRefusal(422, f"{host} answered {answer.status}.", _advice(answer.status))
                yield answer.content.iter_chunked(PIECE)
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise HttpRefusal(422, f"{host} cannot be read: {exc or type(exc).__name__}.") from exc

    def _checked(self, address: str) -> str:
        """Returns the host. Raises HttpRefusal if it may not be asked."""
        try:
            parts = urlsplit(address)
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError as exc:
            raise HttpRefusal(422, f"This is not an address: {exc}.") from exc
        if parts.scheme not in PORTS or not host or parts.username or parts.password:
            raise HttpRefusal(422, "Only http and https addresses without a user are fetched.")
        if not any(_fits(host, allowed) for allowed in self._hosts):
            advice = "Send the file itself, or start the service with --allow-url-host."
            raise HttpRefusal(403, f"This service fetches nothing from {host}.", advice)
        if port not in (None, *PORTS.values()) and not self._inside:
            raise HttpRefusal(403, f"This service does not ask port {port}.")
        if _is_literal(host) and not self._inside:
            raise HttpRefusal(403, "This service fetches from names, not from addresses.")
        return host


class _CheckedResolver(AbstractResolver):
    """Resolves a name for one connection, and refuses one with any address that is not public."""

    def __init__(self, resolve: Resolve, inside: bool) -> None:
        self._resolve = resolve
        self._inside = inside

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolve(host, port)
        if not found or not (self._inside or all(map(is_public, found))):
            raise OSError(errno.EACCES, "it is no public host")
        return [_result(host, port, address) for address in found]

    async def close(self) -> None:
        """There is nothing to close."""


def is_public(address: str) -> bool:
    """Whether an address belongs to the open internet; one of IPv4 inside IPv6 counts as what it is."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None and not is_public(str(inner)):
            return False
        if found in ipaddress.ip_network("64:ff9b::/96"):
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
    return found.is_global and not found.is_multicast and not found.is_reserved


def _result(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
    )


def _fits(host: str, allowed: str) -> bool:
    host = host.lower()
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed


def _is_literal(host: str) -> bool:
    """Whether a host is an address in any of its spellings: 127.1, 0x7f000001 and 2130706433 are."""
    try:
        socket.inet_aton(host)
    except OSError:
        return ":" in host
    return True


def _advice(status: int) -> str:
    return "Redirects are not followed: give the final address." if 300 <= status < 400 else ""
