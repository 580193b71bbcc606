"""A process is alive from its start until it was waited for."""

from __future__ import annotations

import os
import subprocess
import sys

from penstock.processes.alive import is_alive


def test_we_are_alive_and_so_is_the_first_process() -> None:
    assert is_alive(os.getpid())
    assert is_alive(1)


def test_a_process_that_has_ended_is_not_alive() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert not is_alive(done.pid)
