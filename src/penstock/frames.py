"""Pickled values over a socket, each behind its length, with a deadline on either side.

Made for pages: a message of megabytes arrives in pieces of what the socket holds, and is read straight
into its place. Both ends must trust each other, as a process and its child do.
"""

from __future__ import annotations

import pickle
import socket
import struct
import time
from typing import Any

LENGTH = struct.Struct("!Q")
TOGETHER = 64 * 1024  # bytes: a message this short goes out in one piece with its length


class Frames:
    """One end. A value may be sent by one thread while another receives."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, value: object, until: float | None = None) -> None:
        """Raises TimeoutError when the other end has not read it by `until` (time.monotonic)."""
        message = pickle.dumps(value, protocol=5)
        header = LENGTH.pack(len(message))
        self._end.settimeout(_left(until))
        if len(message) <= TOGETHER:
            self._end.sendall(header + message)
            return
        self._end.sendall(header)
        self._end.settimeout(_left(until))
        self._end.sendall(message)

    def receive(self, until: float | None = None, begun_until: float | None = None) -> Any:
        """The next value, whole by `until` and begun by `begun_until` if that is sooner.

        Raises TimeoutError, and EOFError when the other end is gone.
        """
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, until if begun_until is None else begun_until))
        return pickle.loads(self._exactly(length, until))

    def close(self) -> None:
        self._end.close()

    def _exactly(self, length: int, until: float | None) -> bytearray:
        message = bytearray(length)
        rest = memoryview(message)
        while rest:
            self._end.settimeout(_left(until))
            got = self._end.recv_into(rest)
            if not got:
                raise EOFError("the other end is closed")
            rest = rest[got:]
        return message


def _left(until: float | None) -> float | None:
    """Seconds that are left; never zero, which a socket takes for not waiting at all."""
    return None if until is None else max(1e-3, until - time.monotonic())
