"""Two settings of glibc's memory that page processing wants otherwise; elsewhere they do nothing.

Ten threads that each decode pages and run models leave ten heaps at their high-water mark: 1.2 GB against
1.0 GB with two shared heaps for the built-in recipe, at the same speed (docs/log.md).

And glibc maps arrays as large as a page anew each time, which the system clears as they are touched:
6,500 page faults, 20 ms of the 55 that a JPEG page of 2480 x 3508 takes to decode.
"""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # glibc's malloc.h
HEAPS = 2
KEPT = 64 << 20  # bytes: an RGB page of 22 million pixels; larger ones still go back at once


def share_heaps() -> None:
    """Threads of this process share heaps. Takes effect for heaps not made yet."""
    _set(M_ARENA_MAX, HEAPS)


def keep_pages() -> None:
    """The memory of one decoded page serves the next. For processes that decode and do nothing else."""
    _set(M_MMAP_THRESHOLD, KEPT)
    _set(M_TRIM_THRESHOLD, 2 * KEPT)  # a page and the crops made of it


def _set(parameter: int, value: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    try:
        ctypes.CDLL("libc.so.6").mallopt(parameter, value)
    except (OSError, AttributeError):
        return  # another C library
