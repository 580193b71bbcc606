"""Tells whether a process still runs."""

from __future__ import annotations

import os


def is_alive(pid: int) -> bool:
    """Whether a process with this id exists, ours or another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it exists and belongs to someone else
    return True
