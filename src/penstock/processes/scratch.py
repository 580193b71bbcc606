"""Folders for files that pass between our processes: gone with the run, or when the next one starts."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from penstock.processes.alive import is_alive


def scratch_folder(what: str) -> Path:
    """Returns a new folder for this process; those of processes that were killed are removed."""
    prefix = f"penstock-{what}-"
    for old in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
        owner = old.name.removeprefix(prefix).split("-", 1)[0]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-"))
