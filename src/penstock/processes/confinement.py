"""What a process that reads strangers' bytes may have: so much memory, no secrets, nothing to write or call.

A file that takes the decoder over finds no key to steal, no socket to send it by, no file to change, no
program to start. Memory is bounded by RLIMIT_DATA and not by RLIMIT_AS: the shards of a dataset are mapped,
not loaded, and may be larger than the machine. CPU time has no bound of its own: every answer has a deadline.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
import sys
from collections.abc import Mapping

from penstock.errors import UsageError
from penstock.processes.resources import environment, machine_memory_mb

MEMORY_VARIABLE = "PENSTOCK_READER_MEMORY_MB"
SANDBOX_VARIABLE = "PENSTOCK_READER_SANDBOX"  # 0: may write, as coverage of a child's lines must
# the largest picture that is allowed takes 0.6 GB as JPEG, 2.3 GB with transparency, 2.9 GB as floats
MIN_MEMORY_MB, MAX_MEMORY_MB = 1024, 4096
MAX_FILE_BYTES = 16 << 20  # what libraries print goes to a file: noise without end must not fill the disk
# a list of what is kept forgets no secret; decoders need no more than this
KEPT = frozenset(
    {"PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", SANDBOX_VARIABLE}
)
KEPT_PREFIXES = (
    "LC_",
    "LD_",
    "DYLD_",
    "PYTHON",
    "COVERAGE_",
    "COV_CORE_",
    "MALLOC_",
    "GLIBC_",
    "CONDA_PREFIX",
)

# Linux: <linux/landlock.h>, the same numbers on every processor
CREATE_RULESET, RESTRICT_SELF = 444, 446
NO_NEW_PRIVILEGES = 38
EXECUTE_AND_WRITE = 0b1_1111_1111_0011  # execute, write, remove and make files of every kind
TRUNCATE = 1 << 14  # since version 3
TCP = 0b11  # listen and connect, since version 4


def reader_memory_mb() -> int:
    """Returns what a process that reads files may use: a quarter of the machine, or what the user says."""
    limit = os.environ.get(MEMORY_VARIABLE, "")
    if not limit:
        return min(MAX_MEMORY_MB, max(MIN_MEMORY_MB, machine_memory_mb() // 4))
    if not limit.isdigit() or not int(limit):
        raise UsageError(f"{MEMORY_VARIABLE} is {limit!r}.", "Give it a number of megabytes, such as 4096.")
    return int(limit)


def poor_environment(rich: Mapping[str, str]) -> dict[str, str]:
    """Returns what a decoder needs of an environment: no keys, no tokens, one thread for each library."""
    kept = {name: value for name, value in rich.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    # Arrow's own allocator takes a gigabyte of addresses to begin with, which the bound would count
    return {**kept, **environment(1, None), "ARROW_DEFAULT_MEMORY_POOL": "system"}


def bound_memory(memory_mb: int) -> None:
    """Bounds this process. Beyond it Python raises MemoryError, and PDFium ends the process."""
    _lower(resource.RLIMIT_CORE, 0)  # a dump would hold the document, and fill the disk
    _lower(resource.RLIMIT_FSIZE, MAX_FILE_BYTES)
    _lower(resource.RLIMIT_DATA, memory_mb << 20)


def shut_in() -> None:
    """Forbids this thread and those it starts to write, run programs and use TCP, where the kernel can."""
    version = landlock_version()
    if version < 1 or os.environ.get(SANDBOX_VARIABLE) == "0":
        return
    files = EXECUTE_AND_WRITE | (TRUNCATE if version >= 3 else 0)
    rules = struct.pack("=QQ", files, TCP if version >= 4 else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = libc.syscall(CREATE_RULESET, rules, len(rules) if version >= 4 else 8, 0)
    if ruleset < 0:
        return
    # no rule follows: nothing of the above is allowed anywhere
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def landlock_version() -> int:
    """Returns what this kernel knows of Landlock; 0 for nothing. From 4 on it can forbid TCP, too."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1)))


def _lower(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):  # not every system bounds everything
        resource.setrlimit(what, (value, value))
