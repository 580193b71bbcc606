"""The socket of a service: opened before anything is loaded, so that a taken port is reported at once."""

from __future__ import annotations

import ipaddress
import socket

from penstock.errors import UsageError


def listening_on(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as exc:
        raise UsageError(
            f"Nothing can listen on {host}:{port}: {exc.strerror}.", "Choose another --port."
        ) from exc


def is_open(listening: socket.socket) -> bool:
    """Whether other machines can reach it."""
    return not ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
