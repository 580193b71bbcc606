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
    try:
        parts = urlsplit(text)
        is_address = parts.hostname and (parts.port or 1) > 0 and not re.search(r"\s", text)
    except ValueError:  # brackets that do not close, a port beyond 65535
        is_address = False
    if not is_address or parts.scheme not in ("http", "https"):
        raise UsageError(f"{text!r} is not the address of a server.", "Write it like http://host:8000.")
    path = re.sub(r"/(v1(/chat/completions|/embeddings)?/?)?$", "", parts.path)
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
