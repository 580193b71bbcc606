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
from pathlib import Path

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
ADD_RULE, BENEATH = 445, 1
EXECUTE, WRITE_FILE, READ_FILE, MAKE_SOCKET = 1, 1 << 1, 1 << 2, 1 << 9
WRITE = 0b1_1111_1111_0010  # write, remove and make files of every kind
REFER = 1 << 13  # rename from one folder to another, since version 2
TRUNCATE = 1 << 14  # since version 3
ALL_KNOWN = 0b1_1111_1111_1111  # since version 1
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
SOCKETS = Path("/tmp")  # LibreOffice makes its own there, whatever its temporary folder is
# what a program reads of its system: nobody's documents and keys
SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc", "/opt", "/proc", "/sys", "/dev", "/nix",
    "/var/cache/fontconfig", "/var/lib/libreoffice",
)  # fmt: skip
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


def bound_memory(memory_mb: int, max_file_bytes: int = MAX_FILE_BYTES) -> None:
    """Bounds this process. Beyond it Python raises MemoryError, and PDFium ends the process."""
    _lower(resource.RLIMIT_CORE, 0)  # a dump would hold the document, and fill the disk
    _lower(resource.RLIMIT_FSIZE, max_file_bytes)
    _lower(resource.RLIMIT_DATA, memory_mb << 20)


def shut_in() -> None:
    """Forbids this thread and those it starts to write, run programs and use TCP, where the kernel can."""
    if os.environ.get(SANDBOX_VARIABLE) != "0":
        _restrict(EXECUTE | WRITE, {})


def shut_into(home: Path, program: Path) -> None:
    """Forbids a foreign program to write outside of its home, to read what is not the system's, and TCP."""
    allowed = {home: READ_FILE | WRITE | REFER | TRUNCATE, Path(os.devnull): WRITE_FILE, SOCKETS: MAKE_SOCKET}
    folders = [Path(name) for name in SYSTEM] + [program.resolve().parent]
    _restrict(READ_FILE | WRITE | REFER, {**dict.fromkeys(folders, READ_FILE), **allowed})


def _restrict(rights: int, allowed: Mapping[Path, int]) -> None:
    """Takes the rights away, but for what is allowed below a place."""
    version = landlock_version()
    if version < 1:
        return
    known = ALL_KNOWN | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    rights = (rights | TRUNCATE) & known
    rules = struct.pack("=QQ", rights, TCP if version >= 4 else 0)
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = libc.syscall(CREATE_RULESET, rules, len(rules) if version >= 4 else 8, 0)
    if ruleset < 0:
        return
    for place, rest in allowed.items():
        _allow(libc, ruleset, place, rest & rights)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, place: Path, rights: int) -> None:
    with contextlib.suppress(OSError):  # not every system has every place
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
        if not place.is_dir():
            rights &= OF_FILES
        libc.syscall(ADD_RULE, ruleset, BENEATH, struct.pack("=Qi", rights, opened), 0)
        os.close(opened)


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
