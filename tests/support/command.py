"""The command line, run here or in a process of its own."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
from unittest import mock

from penstock.cli import main


def in_a_process(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    """What a user starts. For streams, signals, limits, environments."""
    command = [sys.executable, "-m", "penstock", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)  # type: ignore[call-overload,no-any-return]


def here(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The same command without the start of Python, which takes most of a short one's time."""
    words = ["penstock", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with (
            mock.patch.object(sys, "argv", words),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            status = _status()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def _status() -> int:
    try:
        main()
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    return 0
