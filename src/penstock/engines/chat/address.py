"""Addresses of model servers, as people write them.

A module of its own, without an HTTP client: every run imports this, also those without a server.
"""

from __future__ import annotations

import base64
import re
from urllib.parse import unquote, urlsplit

from penstock.errors import UsageError


def base_url(address: str) -> str:
    """`host:8000`, `http://host:8000/v1` and the full path of a route all mean the same server.

    Returns it without user and password: it is shown and kept. `authorization` has those.
    """
    text = _with_scheme(address)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{text!r} is not the address of a server.", "Write it like http://host:8000.")
    path = re.sub(r"/(v1(/chat/completions)?/?)?$", "", parts.path)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def authorization(address: str) -> dict[str, str]:
    """Returns the header for the user and password of an address; nothing for an address without."""
    user, at, _ = urlsplit(_with_scheme(address)).netloc.rpartition("@")
    if not at:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(unquote(user).encode()).decode()}"}


def _with_scheme(address: str) -> str:
    text = address.strip()
    return text if "://" in text else "http://" + text
