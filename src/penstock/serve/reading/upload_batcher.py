"""Documents that were accepted and are not listed yet.

What is done once for a batch (a question to the process that counts pages, a model's call, a shard) is dear
for one document. So those that come within a moment of each other are handed out together, and the moment is
longer while others are being read; the first after a pause is handed out at once.
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
GATHER_ALONE_S = 0.1  # beside nothing else: shorter than sending a page and having it read by a model


class UploadBatcher:
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

        Those that follow within a moment come with the first, a longer one if `gathers` says so then. Who
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
        moment = GATHER_S if gathers() else GATHER_ALONE_S
        return max(0.0, self._handed_out + moment - self._clock())
