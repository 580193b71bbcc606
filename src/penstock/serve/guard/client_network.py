"""Whom a client's address stands for: one home or office of IPv6 has as many addresses as it likes."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

KNOWN = 4096  # addresses that are parsed once


@lru_cache(KNOWN)
def client_network(address: str) -> str:
    """Returns the address; of IPv6 its /64, which one client has to itself. IPv4 inside IPv6 is IPv4."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))
