"""Request bodies on their way: each keeps a pace, one client's make room for others', none fills memory.

The pace is counted only while we wait for the client: a disk of ours that is slow is not the client's fault.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.serve.errors import Displaced, TooSlow
from penstock.serve.guard.client_network import client_network
from penstock.sizes import MB, file_size

ARRIVAL = "penstock.arrival"  # where a request's scope holds it


@dataclass(frozen=True, slots=True)
class ArrivalBounds:
    """How bodies may arrive."""

    max_arriving: int = 64  # at once; each has a file open
    max_per_address: int = 32
    grace_s: float = 30.0  # that a client may pause in all
    min_bytes_s: float = 4096.0  # slower than any line that people send scans over
    slow_bytes_s: float = 65536.0  # below this pace a body makes room for others
    slow_after_s: float = 1.0
    crowded_bytes_s: float = (
        262144.0  # below this pace one that took long makes room when all places are taken
    )
    crowded_after_s: float = 10.0
    max_question_bytes: int = MB  # of a body that is no upload: it is read into memory
    max_question_values: int = 20_000  # lists, objects and commas in it: each takes 100 bytes and more
    free_bytes: int = 64 << 10  # of each body in memory; what is more counts
    max_held_bytes: int = 48 << 20  # of all bodies in memory beyond that


class HeldBytes:
    """What all bodies together have in memory."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held = 0

    def take(self, count: int) -> None:
        """Raises HTTPException when there is no room."""
        if self._held + count > self._max_bytes:
            raise HTTPException(503, "Too many large requests are being answered. Try again in a moment.")
        self._held += count

    def give(self, count: int) -> None:
        self._held -= count


class Arrival:
    """One body: how much came, and how long we waited for it."""

    def __init__(self, bounds: ArrivalBounds, address: str, held: HeldBytes | None = None) -> None:
        self.address = address
        self.received = 0
        self.is_whole = False
        self.is_upload = False  # those have bounds of their own
        self._bounds = bounds
        self._waited = 0.0
        self._timeout: asyncio.Timeout | None = None
        self._all_held = held or HeldBytes(bounds.max_held_bytes)
        self._held = self._charged = 0
        self._num_values = 0
        self._displaced = False

    @property
    def pace(self) -> float:
        return self.received / max(self.waited, 1e-9)

    @property
    def waited(self) -> float:
        """Returns the seconds that we waited for the client, with those of now."""
        if self._timeout is None:
            return self._waited
        return self._waited + asyncio.get_running_loop().time() - self._began

    @property
    def is_slow(self) -> bool:
        return (
            self._timeout is not None
            and self.waited >= self._bounds.slow_after_s
            and self.pace < self._bounds.slow_bytes_s
        )

    @property
    def is_in_the_way(self) -> bool:
        """Whether it is slow for a time when all places are taken."""
        return self.waited >= self._bounds.crowded_after_s and self.pace < self._bounds.crowded_bytes_s

    async def message(self, receive: Receive) -> Message:
        """Returns what `receive` does. Raises TooSlow if the client has not kept the pace, or Displaced."""
        loop = asyncio.get_running_loop()
        patience = self._bounds.grace_s + self.received / self._bounds.min_bytes_s - self._waited
        self._began = loop.time()
        try:
            async with asyncio.timeout(max(0.0, patience)) as self._timeout:
                message = await receive()
        except TimeoutError:
            self._check_displaced()
            raise TooSlow(
                f"Only {self.received} bytes arrived in {self.waited:.0f} s.", "Use a faster connection."
            ) from None
        finally:
            self._waited += loop.time() - self._began
            self._timeout = None
        self._check_displaced()
        body = message.get("body", b"")
        self.received += len(body)
        if not self.is_upload:
            self._check_question(body)
        self.is_whole = not message.get("more_body", False)
        return message

    def hold(self, count: int) -> None:
        """Notes that so many more bytes are in memory until the answer. Raises HTTPException for too many."""
        self._held += count
        more = self._held - self._bounds.free_bytes - self._charged
        if more > 0:
            self._all_held.take(more)
            self._charged += more

    def let_go(self) -> None:
        """Gives back what it held, when it is answered."""
        self._all_held.give(self._charged)
        self._held = self._charged = 0

    def _check_question(self, body: bytes) -> None:
        bounds = self._bounds
        self._num_values += len(body) - len(body.translate(None, b",[{"))
        if self.received > bounds.max_question_bytes:
            raise HTTPException(413, f"This may have {file_size(bounds.max_question_bytes)} at most.")
        if self._num_values > bounds.max_question_values:
            raise HTTPException(413, f"This may hold {bounds.max_question_values:,} values at most.")
        self.hold(len(body))

    def _check_displaced(self) -> None:
        if self._displaced:
            raise Displaced("This made room for other clients: too much is arriving.", "Send it again later.")

    def stop(self, displaced: bool = False) -> None:
        """Ends the waiting now, as if the time were over. One that is displaced ends with its next bytes."""
        self._displaced = displaced
        if self._timeout is not None:
            self._timeout.reschedule(asyncio.get_running_loop().time())


class Arrivals:
    """The uploads that are arriving."""

    def __init__(self, bounds: ArrivalBounds) -> None:
        self.bounds = bounds
        self._now: dict[Arrival, None] = {}
        self._by_address: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._now)

    @contextmanager
    def counted(self, arrival: Arrival) -> Iterator[str | None]:
        """Counts an upload while the block works. Gives the reason if there are too many."""
        arrival.is_upload = True
        refused = self._refusal(arrival)
        if refused is not None:
            yield refused
            return
        self._now[arrival] = None
        self._by_address[arrival.address] += 1
        try:
            yield None
        finally:
            self._leave(arrival)

    def _refusal(self, arrival: Arrival) -> str | None:
        if self._by_address[arrival.address] >= self.bounds.max_per_address:
            if not self._stop_slowest(arrival.address):
                return f"{self.bounds.max_per_address} documents of your address are arriving already."
        elif len(self._now) >= self.bounds.max_arriving and not (
            self._stop_slowest(None) or self._displace_for(arrival.address)
        ):
            return f"{self.bounds.max_arriving} documents are arriving already."
        return None

    def _displace_for(self, address: str) -> bool:
        """Stops the slowest body of a client that has more than this one would, or one that is in the way."""
        most = max(self._by_address.values(), default=0)
        if most > self._by_address[address] + 1:
            stopped = [one for one in self._now if self._by_address[one.address] == most]
        else:
            stopped = [one for one in self._now if one.is_in_the_way]
        if not stopped:
            return False
        slowest = min(stopped, key=lambda one: one.pace)
        self._leave(slowest)
        slowest.stop(displaced=True)
        return True

    def _stop_slowest(self, address: str | None) -> bool:
        slow = [one for one in self._now if one.is_slow and address in (None, one.address)]
        if not slow:
            return False
        slowest = min(slow, key=lambda one: one.pace)
        self._leave(slowest)
        slowest.stop()
        return True

    def _leave(self, arrival: Arrival) -> None:
        if arrival in self._now:
            del self._now[arrival]
            self._by_address[arrival.address] -= 1
            self._by_address += Counter()  # drops those that have none


class ArrivalMiddleware:
    """Gives every request's body its pace, and closes the connection of a client that still sends."""

    def __init__(self, app: ASGIApp, bounds: ArrivalBounds) -> None:
        self._app = app
        self._bounds = bounds
        self._held = HeldBytes(bounds.max_held_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        arrival = Arrival(self._bounds, _client(scope), self._held)
        scope[ARRIVAL] = arrival

        async def receiving() -> Message:
            # after its end it only tells of a client that goes, which may take as long as it likes
            return await (receive() if arrival.is_whole else arrival.message(receive))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and not arrival.is_whole:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        try:
            await self._app(scope, receiving, sending)
        finally:
            arrival.let_go()


def arrival_of(scope: Scope, bounds: ArrivalBounds) -> Arrival:
    """Returns the request's arrival; an empty one for a request without a body."""
    found: Arrival = scope.get(ARRIVAL) or Arrival(bounds, _client(scope))
    return found


def hold_for(scope: Scope) -> Callable[[int], None]:
    """Returns what notes bytes of the request that are held in memory."""
    arrival: Arrival | None = scope.get(ARRIVAL)
    return arrival.hold if arrival is not None else lambda count: None


def has_arrived(scope: Scope) -> bool:
    """Whether all of the request's body is here."""
    arrival: Arrival | None = scope.get(ARRIVAL)
    return arrival is not None and arrival.is_whole


def _client(scope: Scope) -> str:
    return client_network((scope.get("client") or ("",))[0])


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
