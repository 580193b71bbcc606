"""Waiting for what another thread or process does. The bound is against hanging: a busy machine keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable

HANGS_S = 100.0


def wait_until(true: Callable[[], object], seconds: float = HANGS_S, pause_s: float = 0.005) -> None:
    """Returns when `true` says so. What costs a process or a request to find out needs a longer pause."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(pause_s)
