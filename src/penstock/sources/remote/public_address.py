"""Says whether an address belongs to the open internet, and finds the addresses of a name.

Both that fetch for others use it: inputs that are addresses, and a service that fetches and calls back. Each
connects to an address that was checked, never to a name: a name may mean another address a moment later.
"""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address

GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is given out; the rest of IPv6 is not public
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # a network without IPv4 reaches public hosts by it
# older Pythons take some of these for public: a relay's address, and what no one may route
NEVER_PUBLIC = (
    ipaddress.IPv4Network("192.88.99.0/24"),
    ipaddress.IPv4Network("192.0.0.0/24"),
    ipaddress.IPv6Network("2001::/23"),  # Teredo is among them
    ipaddress.IPv6Network("2001:db8::/32"),
    ipaddress.IPv6Network("3fff::/20"),
)


def is_public(address: str) -> bool:
    """Whether an address belongs to the open internet; one of IPv4 inside IPv6 counts as what it is."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv4Address):
        return _is_public(found) and not found.is_reserved
    if found in NAT64:
        return is_public(str(IPv4Address(int(found) & 0xFFFFFFFF)))
    if found.ipv4_mapped is not None:
        return is_public(str(found.ipv4_mapped))
    if found.sixtofour is not None and not is_public(str(found.sixtofour)):
        return False
    return found in GLOBAL_UNICAST and _is_public(found)


def addresses_of(host: str, port: int) -> list[str]:
    """Returns the addresses of a name, each once. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_public(found: IPv4Address | IPv6Address) -> bool:
    listed = any(found.version == network.version and found in network for network in NEVER_PUBLIC)
    return found.is_global and not found.is_multicast and not found.is_unspecified and not listed
