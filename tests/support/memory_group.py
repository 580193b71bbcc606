"""A control group with a limit of memory: when it is reached, the kernel ends one of its processes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

ROOT = Path("/sys/fs/cgroup")


@contextmanager
def memory_group(limit_mb: int) -> Iterator[Path]:
    """Yields the file in which a process writes its number to join. Skips where no group can be made."""
    is_old = (ROOT / "memory").is_dir()
    group = (ROOT / "memory" if is_old else ROOT) / f"penstock-test-{uuid.uuid4().hex}"
    try:
        group.mkdir()
        limit = group / ("memory.limit_in_bytes" if is_old else "memory.max")
        limit.write_text(str(limit_mb << 20))
    except OSError as exc:
        if group.is_dir():
            group.rmdir()
        pytest.skip(f"no control group with a limit of memory can be made here: {exc.strerror}")
    try:
        yield group / "cgroup.procs"
    finally:
        wait_until(lambda: _is_removed(group))


def ends(group: Path) -> int:
    """How many processes of a group the kernel ended for want of memory."""
    folder = group.parent
    told = folder / ("memory.oom_control" if "memory/" in str(folder) else "memory.events")
    counts = dict(line.split() for line in told.read_text().splitlines())
    return int(counts.get("oom_kill", 0))


def _is_removed(group: Path) -> bool:
    try:
        group.rmdir()
    except OSError:  # a process that was ended is still being put away
        return False
    return True
