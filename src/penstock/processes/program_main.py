"""The process that `program` starts: shuts itself in, runs the program, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from penstock.processes.confinement import bound_memory, shut_into

MAX_FILE_BYTES = 1 << 30  # of one that it writes; a book of scans as PDF has 300 MB
LOOK_S = 0.5  # for the parent


def main() -> None:
    """Ends with the program's own code."""
    parent, folder, memory_mb = os.getppid(), Path(sys.argv[1]), int(sys.argv[2])
    bound_memory(memory_mb, MAX_FILE_BYTES)
    shut_into(folder, Path(sys.argv[3]))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    process = subprocess.Popen(sys.argv[3:], env=environment)
    while os.getppid() == parent:
        try:
            sys.exit(min(255, abs(process.wait(LOOK_S))))
        except subprocess.TimeoutExpired:
            continue
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main()
