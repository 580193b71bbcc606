"""Addresses of model servers, as people write them.

A module of its own, without an HTTP client: every run asks here, also those that have no server.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from penstock.errors import UsageError


def base_url(address: str) -> str:
    """`host:8000`, `http://host:8000/v1` and the full path of a route all mean the same server."""
    text = address.strip()
    if "://" not in text:
        text = "http://" + text
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{address!r} is not the address of a server.", "Write it like http://host:8000.")
    path = re.sub(r"/(v1(/chat/completions)?/?)?$", "", parts.path)
    return f"{parts.scheme}://{parts.netloc}{path}"
