"""Ends a run in which nothing moves, and reports where it stopped.

Waiting for the caller is no stall: a full last channel means that the reader of the results is busy. Nor is
waiting for work: a run whose listing is a queue may have nothing to do for hours.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Protocol

from penstock.errors import NoProgress
from penstock.executors.channel import Channel
from penstock.item import Item


class Watched(Protocol):
    """What the guard needs of a run."""

    @property
    def channels(self) -> Sequence[Channel[Item]]: ...

    @property
    def is_idle(self) -> bool: ...

    def depths(self) -> Sequence[object]: ...

    def fail(self, error: BaseException) -> None: ...


class StallGuard:
    """Fails `run` when no channel moved for `stall_s` seconds."""

    def __init__(self, run: Watched, stall_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._stall_s = stall_s
        self._clock = clock
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stall-guard", daemon=True)

    def __enter__(self) -> StallGuard:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(5.0)

    def _watch(self) -> None:
        moves, since = -1, self._clock()
        while not self._ended.wait(min(1.0, self._stall_s / 4)):
            now = sum(channel.moves for channel in self._run.channels)
            if now != moves or len(self._run.channels[-1]) or self._run.is_idle:
                moves, since = now, self._clock()
            elif self._clock() - since > self._stall_s:
                self._run.fail(NoProgress(self._words(), "Rerun the same command: finished pages are kept."))
                return

    def _words(self) -> str:
        depths = "\n".join(f"  {depth}" for depth in self._run.depths())
        return f"Nothing moved for {self._stall_s:g} s.\n{depths}\n{stacks()}"


def stacks() -> str:
    """Returns the stack of every thread, for a log."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    parts = []
    for ident, frame in sys._current_frames().items():
        lines = "".join(traceback.format_stack(frame)[-6:])
        parts.append(f"thread {names.get(ident, ident)}:\n{lines}")
    return "\n".join(parts)
