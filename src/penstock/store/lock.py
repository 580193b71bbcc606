"""One driver at a time writes to OUT, or several ranks, each with documents of its own.

A lock belongs to the process, not to a file's existence: it is gone with its holder, however that died, so
there is never a stale one to remove by hand. Ranks share OUT's lock and hold one of their own each; what they
all look at first (run.json) they write one after another, within `joining`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import OutLocked
from penstock.store.atomic_files import make_folder, store_errors
from penstock.store.ownership import MARK, make_mark

LOCK = f"{MARK}/lock"


JOINING = f"{MARK}/joining"
MAX_JOINING_S = 60.0  # a rank holds it for as long as a small file takes to write
POLL_S = 0.05


@contextlib.contextmanager
def holding(out: Path, rank: str = "") -> Iterator[None]:
    """Holds OUT's lock for the block. Raises OutLocked when another live process has it.

    With the name of a `rank`, other ranks may hold it too; this rank's own lock is held alone.
    """
    if not rank:
        with _locked(out, LOCK, fcntl.LOCK_EX):
            yield
        return
    with _locked(out, LOCK, fcntl.LOCK_SH), _locked(out, f"{MARK}/rank-{rank}", fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def joining(out: Path) -> Iterator[None]:
    """Holds a lock that ranks take one after another. Raises OutLocked if that takes too long."""
    deadline = time.monotonic() + MAX_JOINING_S
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(_locked(out, JOINING, fcntl.LOCK_EX))
                break
            except OutLocked:
                if time.monotonic() > deadline:
                    raise
                time.sleep(POLL_S)
        yield


@contextlib.contextmanager
def _locked(out: Path, name: str, kind: int) -> Iterator[None]:
    with store_errors(out):
        make_folder(out)
        make_mark(out)
        descriptor = os.open(out / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            holder = file.read().strip() or "unknown"
            raise OutLocked(
                f"Another run (process {holder}) is writing to {out}.",
                "Wait for it, stop it, or choose another OUT.",
            ) from exc
        except OSError as exc:  # a network drive without locks
            with store_errors(out):
                raise exc from None
        with store_errors(out):  # a full disk shows here first
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield
