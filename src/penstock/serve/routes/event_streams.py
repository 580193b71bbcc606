"""Streams of a job's progress: a bounded number, shared out so that one client cannot hold all of them.

A client that does not read what it is sent is closed by its connection's deadline (`ConnectionBounds`).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from fastapi.concurrency import run_in_threadpool

from penstock.serve.jobs.job_state import JobState

MAX_STREAMS = 256
LOOK_S = 0.2  # between two looks at a job
MAX_LOOKS_A_S = 250  # of all streams together
HEARTBEAT_S = 15.0  # a proxy closes what is silent for a minute


@dataclass(eq=False, slots=True)
class OpenStream:
    """One stream. `holder` is the key or address that opened it."""

    holder: str
    is_ended: bool = False


class EventStreams:
    """The open streams, oldest first. For one event loop.

    When all are taken, the holder of most of them loses its oldest: it may ask for the job's state instead.
    """

    def __init__(
        self,
        state: Callable[[str], JobState | None],
        row: Callable[[JobState], dict[str, Any]],
        max_streams: int = MAX_STREAMS,
    ) -> None:
        self._state = state
        self._row = row
        self._max_streams = max_streams
        self._open: dict[OpenStream, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, holder: str) -> OpenStream:
        """Returns a new stream, which counts until `close`."""
        new = OpenStream(holder)
        self._open[new] = None
        if len(self._open) > self._max_streams:
            [(greediest, _)] = Counter(one.holder for one in self._open).most_common(1)
            self.close(next(one for one in self._open if one.holder == greediest))
        return new

    async def events(self, holder: str, id: str) -> AsyncIterator[str]:
        """Yields the job whenever it has moved, up to its end or the stream's."""
        stream = self.opened(holder)  # here: what is never begun is never closed
        shown, silent = "", 0.0
        try:
            while (state := await run_in_threadpool(self._state, id)) is not None:
                row = json.dumps(self._row(state), ensure_ascii=False)
                if row != shown or state.is_over:
                    shown, silent = row, 0.0
                    yield f"event: {'end' if state.is_over else 'progress'}\ndata: {row}\n\n"
                pause = max(LOOK_S, len(self._open) / MAX_LOOKS_A_S)
                if not state.is_over:
                    await asyncio.sleep(pause)
                if state.is_over or stream.is_ended:
                    return
                silent += pause
                if silent >= HEARTBEAT_S:
                    silent = 0.0
                    yield ": still here\n\n"
            yield 'event: end\ndata: {"state": "deleted"}\n\n'
        finally:
            self.close(stream)

    def close(self, stream: OpenStream) -> None:
        stream.is_ended = True
        self._open.pop(stream, None)
