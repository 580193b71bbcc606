"""Python's side of faulty_files.c."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DIE, SHORT = -1, -2  # beside error numbers: die after the call; write half of it
DIED = 137
SOURCE = Path(__file__).with_name("faulty_files.c")
ROOT = Path(__file__).parents[2]


def built(folder: Path) -> Path:
    """Compiles the library. Skips the test where that cannot be."""
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        pytest.skip("faults are made by a library for Linux that a C compiler builds")
    library = folder / "faulty_files.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


def run_under(library: Path, module: str, *arguments: str) -> list[str]:
    """Runs a module of the tests with the library loaded. Returns the lines it printed."""
    env = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=570)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def arm(folder: Path, nth: int = 0, fault: int = 0, record: int = -1) -> None:
    """The nth file call below `folder` from now on goes wrong (0: none); calls go to `record`."""
    _library().faults_arm(str(folder).encode(), ctypes.c_long(nth), fault, record)


def seen() -> int:
    """Returns how many file calls there were since arm()."""
    count: int = _library().faults_seen()
    return count


def note(number: int) -> None:
    """Puts a number of ours into the record."""
    _library().faults_note(ctypes.c_long(number))


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ["LD_PRELOAD"])
