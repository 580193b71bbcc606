"""Shares partitions among ranks: each rank takes one that no other rank reads, or whose rank died.

A lease is an object of the store. It is created only if absent, and changed while its partition is read. A
rank that sees it unchanged for LEASE_S on its own clock takes it over by compare and swap, so clocks need not
agree.
Leases only save work: if two ranks read the same partition, each page is still there once.
"""

from __future__ import annotations

import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import StoreError, UsageError
from penstock.store.remote import Mirror, Version, mirror_of

LEASE_S = 120.0
RENEW_S = 30.0
POLL_S = 5.0  # between two looks at leases that others hold
FREE, DONE = b"free", b"done"
_SHARED = re.compile(r"any/([1-9][0-9]{0,4})", re.ASCII)


def shared_ranks(partition: str | None) -> int | None:
    """Returns 64 for "any/64", None for a partition that names its rank."""
    match = _SHARED.fullmatch(partition or "")
    return int(match[1]) if match else None


def leased(out: Path, ranks: int) -> Generator[str, None, None]:
    """Yields partitions to read, each leased until the next is asked for. Raises UsageError on a disk."""
    mirror = mirror_of(out)
    if mirror is None:
        raise UsageError(
            f"--partition any/{ranks} needs OUT on an object store.", "On a disk, name the rank: 3/8."
        )
    with closing(Leases(mirror, ranks).taken()) as numbers:
        for number in numbers:
            yield f"{number}/{ranks}"


@dataclass
class Leases:
    """The partitions of one OUT, as one rank sees them."""

    mirror: Mirror
    ranks: int
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    _me: bytes = field(default_factory=lambda: uuid.uuid4().hex.encode(), repr=False)
    _seen: dict[int, tuple[Version, float]] = field(default_factory=dict)

    def taken(self) -> Generator[int, None, None]:
        """Yields numbers of partitions until all are done, by this rank or by others."""
        left = list(range(1, self.ranks + 1))
        random.shuffle(left)  # ranks that start together do not all try the first
        while left:
            for number in list(left):
                data, version = self.mirror.object(self._name(number))
                if data == DONE:
                    left.remove(number)
                elif (mine := self._claimed(number, data, version)) is not None:
                    with self._held(number, mine):
                        yield number
                    left.remove(number)
                    break
            else:
                if left:
                    self.pause(POLL_S)

    def _name(self, number: int) -> str:
        return f"leases/{number}-of-{self.ranks}"

    def _claimed(self, number: int, data: bytes, version: Version | None) -> Version | None:
        """Returns the version of a lease that is ours now; None while another holds it."""
        if version is None or data == FREE or data.startswith(self._me):  # ours: the store's answer was torn
            return self._put(number, version)
        seen, since = self._seen.get(number, (None, 0.0))
        if seen != version:
            self._seen[number] = (version, self.clock())
            return None
        return self._put(number, version) if self.clock() - since >= LEASE_S else None

    def _put(self, number: int, version: Version | None) -> Version | None:
        beat = self._me + b" " + uuid.uuid4().hex.encode()  # another version each time
        return self.mirror.put_version(self._name(number), beat, version)

    @contextmanager
    def _held(self, number: int, version: Version) -> Iterator[None]:
        """Renews a lease for the block. It is done when the block ends well, else free at once."""
        ended, current = threading.Event(), [version]

        def renew() -> None:
            while not ended.wait(RENEW_S):
                with suppress(StoreError):  # the next time, or another takes it over
                    if (found := self._put(number, current[0])) is not None:
                        current[0] = found

        thread = threading.Thread(target=renew, name="lease", daemon=True)
        thread.start()
        left_as = FREE
        try:
            yield
            left_as = DONE
        finally:
            ended.set()
            thread.join(RENEW_S)
            with suppress(StoreError):
                self.mirror.put_version(self._name(number), left_as, current[0])
