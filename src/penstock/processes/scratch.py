"""Folders for files that pass between our processes: gone with the run, or when the next one starts."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from penstock.processes.alive import is_alive

_CHANCE = "[a-z0-9_]{8}"  # what `mkdtemp` puts after the prefix


def scratch_folder(what: str) -> Path:
    """Returns a new folder for this process; those of processes that were killed are removed."""
    prefix = f"penstock-{what}-"
    name = re.compile(rf"{re.escape(prefix)}(\d{{1,10}})-{_CHANCE}")
    for old in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
        found = name.fullmatch(old.name)
        if found and not is_alive(int(found[1])) and _is_made_by_us(old):
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-"))


def _is_made_by_us(folder: Path) -> bool:
    """Returns whether it is a folder, no link, of and for this user alone, as `mkdtemp` makes it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    if os.name == "nt":  # has neither owners by number nor modes
        return stat.S_ISDIR(status.st_mode)
    return status.st_uid == os.getuid() and status.st_mode == stat.S_IFDIR | 0o700
