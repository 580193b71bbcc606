"""A child that does as it is told. Light, because every restart of a test imports it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from penstock.page import Page
from penstock.processes.child_main import beat
from penstock.stage import Worker


def open_scripted() -> Callable[[str], str]:
    """A child that does as it is told."""
    kept: list[bytes] = []

    def answer(told: str) -> str:
        word, _, value = told.partition(" ")
        if word == "die":
            os.kill(os.getpid(), signal.SIGABRT)
        if word == "die-once":
            mark = Path(value)
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        if word == "hang":
            time.sleep(3600)
        if word == "breathe":  # a thread that lives beside hung work proves nothing
            threading.Thread(target=lambda: [time.sleep(0.05) for _ in range(200)], daemon=True).start()
            time.sleep(3600)
        if word == "work":
            end = time.monotonic() + float(value)
            while time.monotonic() < end:
                beat()
                time.sleep(0.02)
        if word == "grow":
            kept.append(b"x" * (int(value) << 20))
        if word == "print":
            print("noise\x00 that is no protocol", flush=True)
        return f"{os.getpid()}"

    return answer


def open_after_deaths(counted: Path, deaths: int) -> Callable[[str], str]:
    """Dies while it opens, so many times; the file counts them."""
    before = counted.stat().st_size if counted.exists() else 0
    if before < deaths:
        counted.write_bytes(b"x" * (before + 1))
        print("half of the weights are loaded", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return open_scripted()


class TellPid(Worker[Page]):
    """A stage's worker that says in which process it is."""

    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(item, markdown=str(os.getpid())) for item in items]
