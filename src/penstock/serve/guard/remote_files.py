"""Files that the service fetches for a client: only from hosts the operator allows, never from inside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp

from penstock import __version__
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.outgoing import AllowedHosts, Resolve, resolved

CONNECT_S = 10.0
SILENCE_S = 30.0  # without a byte
FETCH_S = 300.0
PIECE = 256 * 1024


class RemoteFiles:
    """Opens addresses. `hosts`, `resolve` and `inside` are those of AllowedHosts."""

    def __init__(self, hosts: Sequence[str] = (), resolve: Resolve = resolved, inside: bool = False) -> None:
        self._hosts = AllowedHosts(tuple(hosts), resolve, inside)

    @asynccontextmanager
    async def opened(self, address: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Gives the bytes of a file. Raises HttpRefusal that says why not."""
        advice = "Send the file itself, or start the service with --allow-url-host."
        host = self._hosts.checked(address, "This service fetches nothing from {host}.", advice)
        timeout = aiohttp.ClientTimeout(total=FETCH_S, sock_connect=CONNECT_S, sock_read=SILENCE_S)
        headers = {"User-Agent": f"penstock/{__version__}", "Accept-Encoding": "identity"}
        try:
            async with (
                aiohttp.ClientSession(
                    connector=self._hosts.connector(), timeout=timeout, headers=headers
                ) as session,
                session.get(address, allow_redirects=False) as answer,
            ):
                if answer.status != 200:
                    raise HttpRefusal(422, f"{host} answered {answer.status}.", _advice(answer.status))
                yield answer.content.iter_chunked(PIECE)
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise HttpRefusal(422, f"{host} cannot be read: {exc or type(exc).__name__}.") from exc


def _advice(status: int) -> str:
    return "Redirects are not followed: give the final address." if 300 <= status < 400 else ""
