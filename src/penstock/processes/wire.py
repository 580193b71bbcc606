"""Pickled values over a socket, with a deadline on either side.

Made for pages: arrays and long bytes (encoded pictures) are sent from where they lie and received where they
stay, copied by nobody but the socket. Both ends must trust each other, as a process and its child do; one
that does not is `wary`: it takes data and errors, and calls nothing that the other end names.
"""

from __future__ import annotations

import pickle
import socket
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

from penstock.errors import PenstockError

LENGTH = struct.Struct("!Q")
# how numpy pickles its arrays and numbers
NUMPY = frozenset({"_frombuffer", "_reconstruct", "scalar", "ndarray", "dtype"})
TOGETHER = 64 * 1024  # bytes: shorter parts go out in one piece
AHEAD = 4096  # bytes: what is read beyond what is asked for is copied once more

Part = bytes | memoryview


class Frames:
    """One end, used by one thread at a time: its deadlines are the socket's.

    On the wire: how many arrays, the length of each, the arrays, then the pickle, which knows its end.
    """

    def __init__(self, end: socket.socket, *, wary: bool = False) -> None:
        self._end = end
        self._unpickler = _WaryUnpickler if wary else pickle.Unpickler
        self._incoming = _Incoming(end)
        self._lost = False

    def send(self, value: object, until: float | None = None) -> None:
        """Raises TimeoutError when the other end has not read it by `until` (time.monotonic)."""
        arrays: list[pickle.PickleBuffer] = []
        pickled = _Parts()
        pickle.Pickler(pickled, protocol=5, buffer_callback=arrays.append).dump(value)
        raw = [array.raw() for array in arrays]
        header = b"".join(map(LENGTH.pack, (len(raw), *(part.nbytes for part in raw))))
        for part in _together([header, *raw, *pickled.parts]):
            self._end.settimeout(_left(until))
            self._end.sendall(part)

    def receive(self, until: float | None = None, begun_until: float | None = None) -> Any:
        """The next value, whole by `until` and begun by `begun_until` if that is sooner.

        Raises TimeoutError, and EOFError when the other end is gone.
        """
        if self._lost:
            raise EOFError("the other end cannot be understood any more")
        incoming = self._incoming
        incoming.until = until if begun_until is None else begun_until
        (count,) = LENGTH.unpack(incoming.read(LENGTH.size))
        incoming.until = until
        lengths = [length for (length,) in LENGTH.iter_unpack(incoming.read(count * LENGTH.size))]
        arrays = [incoming.array(length) for length in lengths]
        try:
            return self._unpickler(incoming, buffers=arrays).load()
        except (TimeoutError, EOFError):
            raise
        except Exception:  # half a message is left on the wire: what comes after it would mean nothing
            self._lost = True
            self._end.shutdown(socket.SHUT_RDWR)
            raise

    def close(self) -> None:
        self._end.close()


class _WaryUnpickler(pickle.Unpickler):
    """Makes only what is known here and holds data: a pickle may name any function there is, to be called."""

    def find_class(self, module: str, name: str, /) -> Any:
        package = module.partition(".")[0]
        if package == "numpy" and name in NUMPY:
            return super().find_class(module, name)
        if package == "penstock" or module in sys.modules:
            known = super().find_class(module, name)
            if isinstance(known, type) and (is_dataclass(known) or issubclass(known, PenstockError)):
                return known
        raise pickle.UnpicklingError(f"{module}.{name} is no data")


class _Parts:
    """What a pickler writes, kept as it comes: bytes longer than its frames come as they are, uncopied."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def write(self, part: bytes) -> None:
        self.parts.append(part)


class _Incoming:
    """A socket as a file for an unpickler, which reads long bytes right into their place.

    What is short is read ahead: an unpickler asks for a byte here and eight there, and each would be a call.
    """

    def __init__(self, end: socket.socket) -> None:
        self.until: float | None = None
        self._end = end
        self._ahead = memoryview(b"")  # read already, and not asked for yet
        self._place = bytearray(AHEAD)

    def read(self, length: int, /) -> bytes:
        return bytes(self.array(length))

    def array(self, length: int) -> bytearray:
        place = bytearray(length)
        self.readinto(place)
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
