"""Connections that cannot starve the service: each has deadlines, and one without a request makes room.

A client that sends half a header and waits is answered 408. When all connections are taken, the oldest that
has no request at work is closed for a new one; if all are at work, the new one is asked to come again. A
body that is refused in the middle is read on for a while: else the system throws the answer away.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.serve.guard.client_network import client_network
from penstock.serve.guard.origin_check import HEADERS

MAX_CONNECTIONS = 2048
OF_ADDRESS = "Your address has too many connections open."
OF_ALL = "The service has too many connections open."
RETRY_S = 5  # connections come and go in seconds
QUIET = (h11.IDLE, h11.DONE, h11.MUST_CLOSE, h11.CLOSED)  # states of a client that sends no body


@dataclass(frozen=True, slots=True)
class ConnectionBounds:
    """What strangers may take of the service."""

    max_connections: int = MAX_CONNECTIONS
    max_per_address: int = 1536  # a proxy in front of us is one address
    max_refused: int = 256  # connections beyond the others that wait for their refusal to arrive
    spared_s: float = 1.0  # a new connection's request may lie in a buffer that we have not read
    headers_s: float = 10.0  # for a request's headers to come
    answer_s: float = 60.0  # for a client to take what it is being sent
    linger_s: float = 20.0  # for a refused client to stop sending
    max_linger_bytes: int = 64 << 20


class ConnectionTable:
    """The open connections, oldest first. Decides who is let in, and who makes room."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        self.bounds = bounds
        self.refused = 0  # since the start
        self._open: dict[BoundedConnection, None] = {}
        self._beyond: set[BoundedConnection] = set()
        self._by_address: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def protocol(self) -> Callable[..., asyncio.Protocol]:
        """Returns what uvicorn makes a connection with."""
        return partial(BoundedConnection, self)

    def add(self, connection: BoundedConnection) -> tuple[int, str] | None:
        """Lets a connection in, or returns the status and the sentence it is refused with."""
        self._open[connection] = None
        self._by_address[connection.address] += 1
        if self._by_address[connection.address] > self.bounds.max_per_address:
            if not self._make_room(connection, connection.address, 429, OF_ADDRESS):
                return self._refuse(connection, 429, OF_ADDRESS)
            return None
        is_full = len(self._open) > self.bounds.max_connections
        if is_full and not self._make_room(connection, None, 503, OF_ALL):
            return self._refuse(connection, 503, OF_ALL)
        return None

    def remove(self, connection: BoundedConnection) -> None:
        self._beyond.discard(connection)
        if connection in self._open:
            del self._open[connection]
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]

    def _make_room(self, new: BoundedConnection, address: str | None, status: int, error: str) -> bool:
        for old in self._open:  # oldest first
            if new.began - old.began < self.bounds.spared_s or old is new:
                return False
            if old.asks_nothing and address in (None, old.address):
                self.remove(old)
                old.give_up(status, error)
                return True
        return False

    def _refuse(self, connection: BoundedConnection, status: int, error: str) -> tuple[int, str]:
        self.refused += 1
        self.remove(connection)
        if len(self._beyond) >= self.bounds.max_refused:
            connection.end()
        else:
            self._beyond.add(connection)
        return status, error


class BoundedConnection(H11Protocol):
    """One connection with deadlines for headers, for answers that are not taken, and for its own end."""

    def __init__(self, table: ConnectionTable, **given: Any) -> None:
        super().__init__(**given)
        self.address = ""
        self.began = self.loop.time()
        self._table = table
        self._real: asyncio.Transport | None = None
        self._lingering: _LingeringTransport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None
        self._received = 0
        self._dropped: int | None = None  # bytes read since it was refused

    @property
    def asks_nothing(self) -> bool:
        """Whether no request is at work: its headers are unfinished, or it is kept alive."""
        return self._dropped is not None or self.cycle is None or self.cycle.response_complete

    # what asyncio and uvicorn call

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._real = transport
        self._lingering = _LingeringTransport(transport, self._close)
        super().connection_made(self._lingering)  # type: ignore[arg-type]
        self.address = client_network(self.client[0]) if self.client else ""
        refusal = self._table.add(self)
        if refusal is not None:
            self.give_up(*refusal)
        else:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.remove(self)
        for timer in (self._deadline, self._taking):
            if timer is not None:
                timer.cancel()
        self._dropped = self._dropped or 0
        super().connection_lost(exc)
        self._let_go()

    def data_received(self, data: bytes) -> None:
        if self._dropped is not None:
            self._dropped += len(data)
            if self._dropped > self._table.bounds.max_linger_bytes:
                self.end()
            return
        self._received += len(data)
        super().data_received(data)
        if not self.asks_nothing:
            self._cancel_deadline()
        elif self._deadline is None and self._dropped is None:
            self._set_deadline()

    def eof_received(self) -> None:
        if self._dropped is not None:
            self.end()

    def on_response_complete(self) -> None:
        self._received = 0
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taking = self.loop.call_later(self._table.bounds.answer_s, self.end)

    def resume_writing(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self.give_up(400, "This is no HTTP request.")

    # its end

    def _let_go(self) -> None:
        """Breaks circles, in which what is gone would wait for the next search for garbage."""
        self.cycle = None  # type: ignore[assignment]  # the request that is at work has it, too
        if self._lingering is not None:
            self._lingering.close = _nothing

    def give_up(self, status: int, error: str) -> None:
        """Closes it; says why, except to a client that is kept alive and has sent nothing more."""
        if self._real is None or self._real.is_closing() or self._dropped is not None:
            return
        if self._received or self.cycle is None:
            self._real.write(_answer(status, error))
        self._linger()

    def end(self) -> None:
        """Closes it at once."""
        if self._real is not None:
            self._real.abort()

    def _close(self) -> None:
        """What `transport.close()` does. uvicorn calls it when an answer is complete."""
        assert self._real is not None
        if self._dropped is None and self.conn.their_state not in QUIET and not self._real.is_closing():
            self._linger()
        elif self._dropped is None:
            self._real.close()

    def _linger(self) -> None:
        assert self._real is not None
        self._dropped = 0
        self._cancel_deadline()
        self._unset_keepalive_if_required()
        self._deadline = self.loop.call_later(self._table.bounds.linger_s, self.end)
        try:
            self._real.write_eof()
            self._real.resume_reading()
        except OSError:  # the client has gone
            self.end()

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(self._table.bounds.headers_s, self._too_late)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if self.asks_nothing:
            self.give_up(408, f"The headers did not arrive in {self._table.bounds.headers_s:g} s.")


class _LingeringTransport:
    """A transport whose `close` is ours; everything else is the real one's."""

    def __init__(self, real: asyncio.Transport, close: Callable[[], None]) -> None:
        self._real = real
        self.close = close

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _nothing() -> None:
    pass


def _answer(status: int, error: str) -> bytes:
    body = json.dumps({"error": error, "advice": "Try again in a moment."}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        **HEADERS,
        **({"retry-after": str(RETRY_S)} if status in (429, 503) else {}),
    }
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    return (
        "".join([head, *(f"{name}: {value}\r\n" for name, value in headers.items()), "\r\n"]).encode() + body
    )
