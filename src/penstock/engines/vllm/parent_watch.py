"""Runs a model server as its child, so that the server never outlives us.

    python guard.py LIFELINE REPORT COMMAND...

Runs the command in a session of its own and reports its process id on the descriptor REPORT. When the
descriptor LIFELINE closes (the process at its other end is gone, even by SIGKILL), when its parent
changes, on SIGTERM, or when the command ends, it ends all that the command has started: by SIGTERM first,
then by SIGKILL.
If the guard itself is killed, the kernel kills the command.

Imports nothing of Penstock: it is run by its path and starts in 45 ms.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

GRACE_S = 15.0  # a tiny server on the CPU ended within 2 s of SIGTERM; a hung one never does
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # of Linux's prctl


def main() -> int:
    lifeline, report, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans of the command come to us, wherever they hid
    parent = os.getppid()
    wake = _wake_on(signal.SIGTERM, signal.SIGCHLD)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(command, start_new_session=True, preexec_fn=_die_with_guard)
    os.write(report, f"{child.pid}\n".encode())
    os.close(report)
    while child.poll() is None and os.getppid() == parent:
        ready, _, _ = select.select([lifeline, wake], [], [], 1.0)
        if lifeline in ready or (wake in ready and signal.SIGTERM in os.read(wake, 64)):
            break
    _end(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def prctl(option: int, value: int) -> None:
    """Calls Linux's prctl; does nothing elsewhere, where SIGTERM must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _die_with_guard() -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _wake_on(*numbers: int) -> int:
    """A descriptor that becomes readable, with the signal's number, when one of these arrives."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return reader


def _end(child: subprocess.Popen[bytes]) -> None:
    _signal_group(child.pid, signal.SIGTERM)
    _signal_group(child.pid, signal.SIGCONT)  # a stopped process would not receive it
    end = time.monotonic() + GRACE_S
    while time.monotonic() < end and (child.poll() is None or _descendants()):
        time.sleep(0.05)
    _signal_group(child.pid, signal.SIGKILL)
    for pid in _descendants():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.wait()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _descendants() -> list[int]:
    """Our child processes; on Linux orphans too. The command's own children end with it."""
    try:
        words = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    except OSError:
        return []
    return [int(word) for word in words if not _is_zombie(word)]


def _is_zombie(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main())
