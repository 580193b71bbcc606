"""Writing files so that no reader ever sees half of one.

Everything goes to a temporary name in OUT/.penstock/tmp, is synced, and takes its real name by a rename.
What somebody else wrote is never replaced (see ownership.py).
A full disk or a missing permission is a `StoreError` that says so.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from penstock.errors import StoreError
from penstock.processes.alive import is_alive
from penstock.store.ownership import TMP, claim, make_mark, part_name, refuse_links, remove_parts

NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)  # network drives sync only files
_WORDS = {
    errno.ENOSPC: (
        "the disk is full",
        "Free some space and rerun the same command: finished pages are kept.",
    ),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and rerun the same command."),
    errno.EFBIG: ("the file would grow beyond what is allowed here", "Check the limits of the file system."),
    errno.EROFS: ("the file system is read-only", "Choose another OUT."),
    errno.EACCES: ("there is no permission to write there", "Choose another OUT or change its owner."),
    errno.EPERM: ("there is no permission to write there", "Choose another OUT or change its owner."),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "Choose another OUT."),
    errno.ELOOP: ("a link is in its place", "Move the link away, or choose another OUT."),
    errno.ENAMETOOLONG: ("the name is too long for this file system", "Choose a shorter name."),
    **dict.fromkeys(
        (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK),
        ("this file system cannot rename or lock files", "Choose an OUT on a local disk."),
    ),
    errno.EEXIST: ("a part of the path is a file, not a folder", "Choose another OUT."),
}
_writing: set[Path] = set()  # temporary files of this process


@contextlib.contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turns an OSError into a StoreError that names `path` and what to do."""
    try:
        yield
    except OSError as exc:
        what, advice = _WORDS.get(exc.errno or 0, (exc.strerror or str(exc), ""))
        raise StoreError(f"Cannot write {path}: {what}.", advice) from exc


@contextlib.contextmanager
def replacing(
    path: Path, out: str | os.PathLike[str], *, sync: bool = True, mode: int = 0o666
) -> Iterator[IO[bytes]]:
    """A binary file that becomes `path` when the block ends well, and vanishes otherwise.

    Raises StoreError if somebody else made what is at `path`, or if a link below OUT leads there.
    """
    with store_errors(path):
        claim(out, path, sync=sync)
        make_folder(path.parent)
        make_mark(out)
        temporary = Path(out, TMP, part_name())
        refuse_links(out, temporary)
        _writing.add(temporary)
        try:
            with _new_file(temporary, mode) as file:
                yield file
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            temporary.replace(path)
            if sync:
                sync_folder(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            _writing.discard(temporary)


def _new_file(path: Path, mode: int) -> IO[bytes]:
    return os.fdopen(_descriptor(path, mode), "wb")


def _descriptor(path: Path, mode: int) -> int:
    """Opens an empty file; `mode` is who may read it, less what the umask takes away."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, mode)
    except FileNotFoundError:  # the first file, or someone has just emptied the folder and taken it away
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, mode)


def make_folder(folder: Path) -> None:
    """Makes the folder and those above it. After a power cut they are there: a synced file needs them."""
    if folder.is_dir():
        return
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def write_synced(path: Path, data: bytes) -> None:
    """Writes a short file; it is on the disk when this returns. A file object would ask thrice for itself."""
    descriptor = _descriptor(path, 0o666)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Makes renames in `folder` survive a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as exc:
        if exc.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def clear_tmp(out: str | os.PathLike[str]) -> None:
    """Removes what dead processes left half-written in OUT. A living one keeps its own."""
    with store_errors(Path(out, TMP)):
        remove_parts(out, _is_in_use)


def _is_in_use(path: Path, process: int) -> bool:
    """A process of ours that was killed may have had this one's number, as in a container."""
    return path in _writing if process == os.getpid() else is_alive(process)
