"""Values over a socket, with a deadline on either side.

Made for pages: arrays and long bytes (encoded pictures) are sent from where they lie and received where they
stay, copied only by the socket. Values are pickled where the receiver trusts the sender, as a child
does its parent. What a child says that reads strangers' bytes goes as plain data: see plain.py.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

from penstock.processes.plain import Buffer, NotPlain, decoded, encoded

LENGTH = struct.Struct("!Q")
TOGETHER = 64 * 1024  # bytes: shorter parts go out in one piece
STEP = 64 << 20  # bytes: more than nearly all pages have
AHEAD = 4096  # bytes: what is read beyond what is asked for is copied once more

MAX_ARRAYS = 1 << 16  # of a plain value: a page of a thousand crops has as many

Part = Buffer


class Frames:
    """One end, used by one thread at a time: its deadlines are the socket's.

    On the wire: how many arrays, the length of each, the arrays, then the pickle, which knows its end. An end
    that `sends_plain` sends plain data instead, whose text is the last of the arrays; one with `max_bytes`
    takes nothing else, and not more.
    """

    def __init__(self, end: socket.socket, *, sends_plain: bool = False, max_bytes: int = 0) -> None:
        self._end = end
        self._sends_plain = sends_plain
        self._max_bytes = max_bytes
        self._incoming = _Incoming(end)
        self._lost = False

    def send(self, value: object, until: float | None = None) -> None:
        """Raises TimeoutError when the other end has not read it by `until` (time.monotonic)."""
        raw, pickled = _plain_parts(value) if self._sends_plain else _pickled_parts(value)
        header = b"".join(map(LENGTH.pack, (len(raw), *(memoryview(part).nbytes for part in raw))))
        for part in _together([header, *raw, *pickled]):
            self._end.settimeout(_left(until))
            self._end.sendall(part)

    def receive(self, until: float | None = None, begun_until: float | None = None) -> Any:
        """The next value, whole by `until` and begun by `begun_until` if that is sooner.

        Raises TimeoutError, EOFError when the other end is gone, and NotPlain for what is no plain data.
        """
        if self._lost:
            raise EOFError("the other end cannot be understood any more")
        incoming = self._incoming
        incoming.until = until if begun_until is None else begun_until
        (count,) = LENGTH.unpack(incoming.read(LENGTH.size))
        incoming.until = until
        try:
            if self._max_bytes:
                return self._plain(count)
            return pickle.Unpickler(incoming, buffers=self._arrays(count)).load()
        except (TimeoutError, EOFError):
            raise
        except Exception:  # half a message is left on the wire: what comes after it would mean nothing
            self._lost = True
            with contextlib.suppress(OSError):  # the other end may be gone
                self._end.shutdown(socket.SHUT_RDWR)
            raise

    def _arrays(self, count: int) -> list[bytearray]:
        lengths = [length for (length,) in LENGTH.iter_unpack(self._incoming.read(count * LENGTH.size))]
        if self._max_bytes and sum(lengths) > self._max_bytes:
            raise NotPlain(f"it is larger than {self._max_bytes:,} bytes")
        return [self._incoming.array(length) for length in lengths]

    def _plain(self, count: int) -> Any:
        if not 0 < count <= MAX_ARRAYS:
            raise NotPlain(f"it claims {count:,} arrays")
        *arrays, text = self._arrays(count)
        return decoded(text, arrays)

    def close(self) -> None:
        self._end.close()


class _Parts:
    """What a pickler writes, kept as it comes: bytes longer than its frames come as they are, uncopied."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def write(self, part: bytes) -> None:
        self.parts.append(part)


class _Incoming:
    """A socket as a file for an unpickler, which reads long bytes right into their place.

    What is short is read ahead: an unpickler reads a byte here and eight there, and each would be a call.
    """

    def __init__(self, end: socket.socket) -> None:
        self.until: float | None = None
        self._end = end
        self._ahead = memoryview(b"")  # read already, and not asked for yet
        self._place = bytearray(AHEAD)

    def read(self, length: int, /) -> bytes:
        return bytes(self.array(length))

    def array(self, length: int) -> bytearray:
        """Returns so many bytes. Memory is taken as they come: a claim alone costs no more than STEP."""
        place = bytearray(min(length, STEP))
        self.readinto(place)
        while (begun := len(place)) < length:
            place += bytes(min(STEP, length - begun))
            with memoryview(place) as whole:
                self.readinto(whole[begun:])
        return place

    def readinto(self, place: bytearray | memoryview) -> int:
        rest = memoryview(place)
        while rest:
            if self._ahead:
                got = min(len(rest), len(self._ahead))
                rest[:got], self._ahead = self._ahead[:got], self._ahead[got:]
            elif len(rest) >= AHEAD:
                got = self._received(rest)
            else:
                self._ahead = memoryview(self._place)[: self._received(self._place)]
                continue
            rest = rest[got:]
        return len(place)

    def _received(self, place: bytearray | memoryview) -> int:
        self._end.settimeout(_left(self.until))
        got = self._end.recv_into(place)
        if not got:
            raise EOFError("the other end is closed")
        return got

    def readline(self) -> bytes:
        raise pickle.UnpicklingError("a pickle of today has no lines")


def _pickled_parts(value: object) -> tuple[list[memoryview], list[Part]]:
    arrays: list[pickle.PickleBuffer] = []
    pickled = _Parts()
    pickle.Pickler(pickled, protocol=5, buffer_callback=arrays.append).dump(value)
    return [array.raw() for array in arrays], pickled.parts


def _plain_parts(value: object) -> tuple[list[Buffer], list[Part]]:
    text, buffers = encoded(value)
    return [*buffers, text], []


def _together(parts: list[Part]) -> Iterator[Part]:
    """Yields the parts in their order, short ones joined: each costs a system call."""
    short: list[Part] = []
    for part in parts:
        if len(part) < TOGETHER:
            short.append(part)
            continue
        yield from (b"".join(short), part) if short else (part,)
        short = []
    if short:
        yield b"".join(short)


def _left(until: float | None) -> float | None:
    """Seconds that are left; never zero, which a socket takes for not waiting at all."""
    return None if until is None else max(1e-3, until - time.monotonic())
