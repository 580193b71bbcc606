"""Writes what is kept on this machine of something elsewhere: whole and with its own time, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECOND = 1_000_000_000  # in nanoseconds


def is_kept(path: Path, size: int | None = None) -> bool:
    """Returns whether the file is there, no link, and of this size."""
    return path.is_file() and not path.is_symlink() and size in (None, path.stat().st_size)


@contextmanager
def kept_file(path: Path, modified_ns: int) -> Iterator[Path]:
    """Gives the path to write to, which becomes `path` after the block; half a file is never seen."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    part.open("xb").close()  # nobody's file or link is written through, and what is deleted is ours
    try:
        yield part
        os.utime(part, ns=(modified_ns, modified_ns))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
