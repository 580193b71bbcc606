"""Keeps the memory of one decoded page for the next, instead of handing it back to the system.

glibc maps arrays as large as a page anew each time, and the system clears them as they are touched: 6,500
page faults, 20 ms of the 55 that a JPEG page of 2480 x 3508 takes to decode. For processes that decode
page after page and do nothing else.
"""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
KEPT = 64 << 20  # bytes: an RGB page of 22 million pixels; larger ones still go back at once


def keep_pages() -> None:
    """For this process, from now on. Does nothing where the C library is not glibc."""
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    mallopt(M_MMAP_THRESHOLD, KEPT)
    mallopt(M_TRIM_THRESHOLD, 2 * KEPT)  # a page and the crops made of it
