"""A stage's worker in a process of its own, which can be killed and comes back.

To its Runner it is a worker like any other: a death or a missed deadline is an error of that call,
and the next call finds a fresh process.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.child import Child
from penstock.errors import OpenError
from penstock.item import Item
from penstock.stage import Stage


class ProcessWorker:
    """Opens `stage` in a child; `restarted` is told of every start after the first."""

    def __init__(
        self, stage: Stage, name: str, gpu: int | None, restarted: Callable[[], None] = lambda: None
    ) -> None:
        self._deadline_s = stage.deadline_s
        self._restarted = restarted
        self._ended = False
        self._child: Child[list[Item], list[Item]] = Child(stage.open, name=name, env=_env(stage, gpu))
        self._child.start()

    def __call__(self, items: list[Item]) -> list[Item]:
        if self._ended:
            raise OpenError(f"{self._child.name} was ended with its run.")
        starts = self._child.starts
        try:
            return self._child.call(items, self._deadline_s * len(items))
        finally:
            if self._child.starts > starts:
                self._restarted()

    def close(self) -> None:
        self._child.close()

    def kill(self) -> None:
        """Ends the process from any thread, for good."""
        self._ended = True
        self._child.interrupt()


def _env(stage: Stage, gpu: int | None) -> dict[str, str]:
    # one process a worker: native libraries that each take all cores would trample one another
    threads = str(max(1, math.ceil(stage.needs.cpus)))
    env: dict[str, Any] = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT"), threads
    )
    if gpu is not None:
        env["CUDA_VISIBLE_DEVICES"] = str(gpu)
    return env
