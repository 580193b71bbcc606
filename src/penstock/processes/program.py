"""Runs a foreign program shut into one folder, and ends it with all that it started.

The program gets no key of the environment, writes below its folder and nowhere else, and makes no connection,
as far as the kernel can forbid it. `program_main` stands between: it shuts itself in, starts the program, and
ends it when this process is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from penstock.errors import DeadlinePassed
from penstock.processes.confinement import MEMORY_VARIABLE, poor_environment, reader_memory_mb

PROGRAM = "penstock.processes.program_main"
MAX_SAID = 2_000  # of what it prints, its end is shown


def run_shut_in(name: str, command: Sequence[str], folder: Path, deadline_s: float) -> tuple[int, str]:
    """Returns the program's exit code and the end of what it printed. Raises DeadlinePassed.

    `folder` is its home, its temporary folder, and all that it may write.
    """
    said = folder / "said.txt"
    with said.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", PROGRAM, str(folder), str(reader_memory_mb()), *command],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=_environment(folder), cwd=folder,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise DeadlinePassed(f"{name} took longer than {deadline_s:g} s and was ended.") from None
        finally:
            with contextlib.suppress(ProcessLookupError):  # also what it left running
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code, said.read_bytes()[-MAX_SAID:].decode("utf-8", "replace")


def _environment(folder: Path) -> dict[str, str]:
    home = str(folder)
    path = os.pathsep.join(filter(None, sys.path))
    own = {"PYTHONPATH": path, "HOME": home, "TMPDIR": home, MEMORY_VARIABLE: str(reader_memory_mb())}
    return {**poor_environment(os.environ), **own}
