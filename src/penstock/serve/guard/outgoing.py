"""Hosts that the service may ask: names the operator allows, never an address of a private network.

A name is resolved once, every address it has is checked, and the connection goes to the checked one: a name
that means something else a moment later changes nothing. Redirects are not followed, and no proxy is asked.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.callback_targets import AllowedNetwork
from penstock.sources.remote.public_address import addresses_of, is_public

PORTS = {"http": 80, "https": 443}
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolved(host: str, port: int) -> list[str]:
    """Returns the addresses of a name."""
    return await asyncio.to_thread(addresses_of, host, port)


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """`names` are hosts, or `*.example.org` for all below one, each with a port if not 80 or 443.

    `networks` may be reached though they are private. Without either nothing is reached. `inside` is for
    tests: their server is on this machine.
    """

    names: Sequence[str] = ()
    resolve: Resolve = resolved
    inside: bool = False
    networks: Sequence[AllowedNetwork] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.networks)

    def checked(self, address: str, refusal: str, advice: str) -> str:
        """Returns the host of an address. Raises HttpRefusal if it may not be asked.

        `refusal` is the sentence for a host that is not allowed; it has a {host}.
        """
        try:
            parts = urlsplit(address)
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError as exc:
            raise HttpRefusal(422, f"This is not an address: {exc}.") from exc
        if parts.scheme not in PORTS or not host or parts.username or parts.password:
            raise HttpRefusal(422, "Only http and https addresses without a user are asked.")
        ports = self._ports(host)
        if not ports:
            raise HttpRefusal(403, refusal.format(host=host), advice)
        if (port or PORTS[parts.scheme]) not in ports and not self.inside:
            raise HttpRefusal(403, f"This service does not ask port {port or PORTS[parts.scheme]} there.")
        if _is_literal(host) and not self.inside and not any(one.holds(host) for one in self.networks):
            raise HttpRefusal(403, "This service calls names, not addresses.")
        return host

    def _ports(self, host: str) -> set[int]:
        """Returns the ports of a host that may be asked."""
        named = (allowed.lower().partition(":") for allowed in self.names)
        given = [port for name, _, port in named if _fits(host, name)]
        given += [str(one.port or "") for one in self.networks if one.holds(host)]
        return {number for port in given for number in ([int(port)] if port else PORTS.values())}

    def connector(self) -> aiohttp.TCPConnector:
        """Returns what connects only to addresses that were checked in this moment."""
        return aiohttp.TCPConnector(resolver=_CheckedResolver(self), use_dns_cache=False)


class _CheckedResolver(AbstractResolver):
    """Resolves a name for one connection, and refuses one with any address that may not be reached."""

    def __init__(self, hosts: AllowedHosts) -> None:
        self._hosts = hosts

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._hosts.resolve(host, port)
        if not found or not all(map(self._may_reach, found)):
            raise OSError(errno.EACCES, "it is no public host")
        return [_result(host, port, address) for address in found]

    def _may_reach(self, address: str) -> bool:
        hosts = self._hosts
        return hosts.inside or is_public(address) or any(one.holds(address) for one in hosts.networks)

    async def close(self) -> None:
        """There is nothing to close."""


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
