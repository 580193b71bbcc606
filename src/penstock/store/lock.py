"""One driver at a time writes to OUT.

The lock belongs to the process, not to a file's existence: it is gone with its holder, however that
died, so there is never a stale one to remove by hand.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import OutLocked
from penstock.store.atomic_files import make_folder, store_errors
from penstock.store.ownership import MARK, make_mark

LOCK = f"{MARK}/lock"


@contextlib.contextmanager
def holding(out: Path) -> Iterator[None]:
    """Holds OUT's lock for the block. Raises OutLocked when another live process has it."""
    with store_errors(out):
        make_folder(out)
        make_mark(out)
        descriptor = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
