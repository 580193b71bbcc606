"""Where callbacks may go, as an operator writes it: NAME, NAME:PORT, ADDRESS, or NETWORK, each exact.

A name alone means ports 80 and 443 of public addresses. A private address is reached only if it lies in an
address or network that is allowed, whether it is written in the callback or a name leads to it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.errors import UsageError

NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.IGNORECASE)
ADVICE = "Write hooks.example.org, hooks.example.org:8443, 10.0.0.5:9000 or 10.1.0.0/16."
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class AllowedNetwork:
    """Addresses that may be reached though they are private. Without a port: 80 and 443."""

    network: Network
    port: int | None = None

    def holds(self, address: str) -> bool:
        """Whether an address lies in it; one of IPv4 inside IPv6 counts as what it is."""
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return found.version == self.network.version and found in self.network


def targets_of(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[AllowedNetwork, ...]]:
    """Returns the names, some with a port, and the networks. Raises UsageError for anything else."""
    found = [_target(text) for text in texts]
    names = tuple(one for one in found if isinstance(one, str))
    return names, tuple(one for one in found if not isinstance(one, str))


def _target(text: str) -> str | AllowedNetwork:
    host, port = _split(text)
    network = _network(host, text)
    if network is not None:
        return AllowedNetwork(network, port)
    if not NAME.fullmatch(host) or host.rpartition(".")[2].isdecimal():
        raise UsageError(f"--allow-callback {text} names no host or network.", ADVICE)
    return host if port is None else f"{host}:{port}"


def _split(text: str) -> tuple[str, int | None]:
    """Parts the port from the rest: [fd00::1]:9000, 10.0.0.0/8:9000, a.example:9000."""
    host, colon, port = text.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):  # an IPv6 address without a port
        return text.strip("[]"), None
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(f"--allow-callback {text} has no port {port!r}.", ADVICE)
    return host.strip("[]"), int(port)


def _network(host: str, text: str) -> Network | None:
    try:
        return ipaddress.ip_network(host)
    except ValueError as exc:
        if "/" in host:
            raise UsageError(f"--allow-callback {text} is no network: {exc}.", ADVICE) from exc
        return None
