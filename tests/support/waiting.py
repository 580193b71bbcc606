"""Waiting for what another thread or process does. The bound is against hanging: a busy machine keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable

HANGS_S = 100.0


def wait_until(true: Callable[[], object], seconds: float = HANGS_S) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)
