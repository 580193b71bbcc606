"""Pickled values over a socket, each behind its lengths, with a deadline on either side.

Made for pages: arrays are sent from where they lie and received where they stay, copied by nobody but the
socket. Both ends must trust each other, as a process and its child do.
"""

from __future__ import annotations

import pickle
import socket
import struct
import time
from typing import Any

LENGTH = struct.Struct("!Q")
TOGETHER = 64 * 1024  # bytes: a message this short goes out in one piece with its lengths


class Frames:
    """One end, used by one thread at a time: its deadlines are the socket's.

    On the wire: how many parts, the length of each, then the parts: the pickle and its arrays.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, value: object, until: float | None = None) -> None:
        """Raises TimeoutError when the other end has not read it by `until` (time.monotonic)."""
        arrays: list[pickle.PickleBuffer] = []
        message = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        raw = [array.raw() for array in arrays]
        lengths = (1 + len(raw), len(message), *(part.nbytes for part in raw))
        header = b"".join(map(LENGTH.pack, lengths))
        first = [header + message] if len(message) <= TOGETHER else [header, message]
        parts: list[bytes | memoryview] = [*first, *raw]
        for part in parts:
            self._end.settimeout(_left(until))
            self._end.sendall(part)

    def receive(self, until: float | None = None, begun_until: float | None = None) -> Any:
        """The next value, whole by `until` and begun by `begun_until` if that is sooner.

        Raises TimeoutError, and EOFError when the other end is gone.
        """
        (count,) = LENGTH.unpack(self._exactly(LENGTH.size, until if begun_until is None else begun_until))
        lengths = LENGTH.iter_unpack(self._exactly(count * LENGTH.size, until))
        message, *arrays = [self._exactly(length, until) for (length,) in lengths]
        return pickle.loads(message, buffers=arrays)

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
