"""Documents that were accepted and are not listed yet.

What is done once for a batch (a question to the process that counts pages, a model's call, a shard) is dear
for one document. So while others are being read, those that come within a moment of each other are handed
out together; the first after a pause is handed out at once.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from pathlib import Path

AT_ONCE = 64  # documents are listed together: asking about many costs as much as asking about one
GATHER_S = (
    0.2  # nobody sees it beside the pages that are read meanwhile; see docs/log.md, what the service costs
)


class Inbox:
    """One thread takes, any thread puts. `end` wakes the taker for good."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._clock = clock
        self._handed_out = float("-inf")

    def put(self, path: Path) -> None:
        self._queue.put(path)

    def end(self) -> None:
        self._queue.put(None)

    def take(self, wait_s: float | None, gathers: Callable[[], bool]) -> list[Path] | None:
        """Returns up to AT_ONCE documents, none after `wait_s` (None: waits on). None: this is the end.

        If `gathers` says so once the first is there, those that follow within a moment come with it. Who
        waits for none (`wait_s` is 0) has other work, and gathers none.
        """
        sent: list[Path] = []
        try:
            while len(sent) < AT_ONCE:
                path = self._queue.get(timeout=self._patience(sent, wait_s, gathers))
                if path is None:
                    return None
                sent.append(path)
        except queue.Empty:
            pass
        self._handed_out = self._clock()
        return sent

    def _patience(self, sent: list[Path], wait_s: float | None, gathers: Callable[[], bool]) -> float | None:
        if not sent or wait_s == 0:
            return wait_s
        return max(0.0, self._handed_out + GATHER_S - self._clock()) if gathers() else 0.0
