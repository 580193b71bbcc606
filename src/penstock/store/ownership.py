"""What Penstock made in OUT, so that it never overwrites or deletes what somebody else put there.

OUT/.penstock/made names every file before it is written, a line each. Files whose names only Penstock gives,
such as a hash of their content, are not listed. A folder below OUT with a record of its own (a later pass, a
job of the service) is a line that ends with a slash. No link below OUT is followed or removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.errors import StoreError

MARK = ".penstock"  # the folder below OUT that says it is one; it holds the record, the lock and tmp
TMP = f"{MARK}/tmp"  # files on their way to their names
RECORD = f"{MARK}/made"
HEADER = b"# the files that Penstock made here, a line each\n"
# names below OUT that nobody else gives: by content (see region.content_name) or by chance
OWN_NAMES = (
    r"(\S+/)?(items|failures|corrections)/([0-9]{1,6}-of-[0-9]{1,6}-)?[0-9a-f]{24}\.parquet",
    r"(\S+/)?(crops|raw|masks|clouds|splats|meshes)/[0-9a-f]{24}\.[a-z0-9]+",
    r"unfinished/\S+/([0-9a-f]{32}\.npz|tmp\w{8}\.shape\.part)",
    # the files of an index: ours, then LanceDB's
    r"index/tables-[0-9a-f]{8}/(\.reading|small\.json|small-\w+-\w+\.npy|\w+\.lance/("
    r"data/\w+\.lance|_versions/(\w+\.manifest|\w+\.json)|_transactions/[\w-]+\.txn"
    r"|_deletions/[\w-]+\.(arrow|bin)|_indices/[\w-]{32,36}/[\w.-]+\.(lance|idx)))",
)
OWN_NAME = re.compile("|".join(OWN_NAMES))
# such names are given by databases too
HASH_NAME = re.compile(r"(?:[0-9]{1,6}-of-[0-9]{1,6}-)?([0-9a-f]{24})\.[a-z0-9]+")
SHARD_MARK = b"format"  # in the metadata of every shard's schema, with its number
PART_NAME = re.compile(r"(\d+)-[0-9a-f]{8}\.part")  # process, random

OutPath = str | os.PathLike[str]


def claim(out: OutPath, path: Path, *, sync: bool = True) -> None:
    """Notes that `path` below OUT is about to be written.

    Raises StoreError if somebody else's file is there, or if a link below OUT leads there.
    """
    name = _checked_name(out, path)
    if OWN_NAME.fullmatch(name):
        return
    record = _record(out)
    if name in record.names():
        return
    if os.path.lexists(path) and not is_ours(out, path):
        raise StoreError(
            f"{path} was not written by Penstock, so it is left alone.",
            f"Move it away, or choose another OUT. In a copy of a run, copy its folder {MARK} too.",
        )
    record.add(name, sync)


def claim_folder(out: OutPath, folder: Path) -> None:
    """Notes that `folder` below OUT has a record of its own. Raises StoreError if a link leads there."""
    name = f"{_checked_name(out, folder)}/"
    record = _record(out)
    if name not in record.names():
        record.add(name, sync=True)


def refuse_links(out: OutPath, path: Path) -> None:
    """Raises StoreError if `path`, or a folder between OUT and it, is a link."""
    place = Path(out)
    for part in path.relative_to(place).parts:
        place = place / part
        if place.is_symlink():
            raise _is_a_link(place)


def refuse_linked_folders(folder: Path) -> None:
    """Raises StoreError if a folder anywhere below `folder` is a link."""
    for place, names, _ in os.walk(folder):
        for name in names:
            if Path(place, name).is_symlink():
                raise _is_a_link(Path(place, name))


def _is_a_link(place: Path) -> StoreError:
    return StoreError(
        f"{place} is a link, and Penstock writes through no link below OUT.",
        "Move the link away, or choose another OUT.",
    )


def is_marked(out: OutPath) -> bool:
    """Returns whether OUT bears our mark: a run of ours was begun there."""
    record = Path(out, RECORD)
    if record.parent.is_symlink() or not is_plain_file(record):
        return False
    with record.open("rb") as file:
        return file.read(len(HEADER)) == HEADER


def is_ours(out: OutPath, path: Path) -> bool:
    """Returns whether a file below OUT is known to be made by Penstock.

    The record of an OUT that this one lies in counts, too: what is brought from a store is listed there.
    """
    if not is_plain_file(path):
        return False
    above = (place for place in Path(out).absolute().parents if is_marked(place))
    return _is_recorded(out, path) or any(_is_recorded(place, path.absolute()) for place in above)


def _is_recorded(out: OutPath, path: Path) -> bool:
    try:
        name = _checked_name(out, path)
    except StoreError:
        return False
    if OWN_NAME.fullmatch(name):
        return _holds_its_name(path)
    names = _record(out).names()
    homes = (home for home in names if home.endswith("/") and name.startswith(home))
    return name in names or any(_is_recorded(Path(out, home), path) for home in homes)


def remove(out: OutPath, path: Path) -> bool:
    """Deletes a file that Penstock made. Returns False, and deletes nothing, if it is not one."""
    if not is_ours(out, path):
        return False
    path.unlink(missing_ok=True)
    return True


def remove_all(out: OutPath, names: tuple[str, ...]) -> None:
    """Deletes what Penstock made below OUT, with the folders that are empty then; only OUT's lock stays.

    `names` are the folders that may hold files which are not listed.
    """
    root = Path(out)
    listed = sorted(_record(out).names()) if is_marked(out) else []
    for name in listed:
        with contextlib.suppress(StoreError):  # a link leads there: whatever it is, it is not ours
            place = root / name
            refuse_links(out, place)
            if name.endswith("/"):
                remove_tree(place, names)
            elif is_plain_file(place):
                place.unlink(missing_ok=True)
                remove_empty(place.parent, root)
    for name in names:
        for file in _own_named(root, root / name):
            file.unlink(missing_ok=True)
            remove_empty(file.parent, root)
    _record(out).clear()


def remove_tree(folder: Path, names: tuple[str, ...]) -> None:
    """Deletes what Penstock made in a folder with a record of its own, and the folder if it is empty then."""
    if folder.is_symlink() or not is_marked(folder):
        return
    remove_all(folder, names)
    for part in _parts(folder):
        part.unlink(missing_ok=True)
    for name in (RECORD, f"{MARK}/lock", f"{MARK}/joining"):
        (folder / name).unlink(missing_ok=True)
    for lock in _rank_locks(folder):
        lock.unlink(missing_ok=True)
    _forget(folder)
    for empty in (folder / TMP, folder / MARK):
        with contextlib.suppress(OSError):
            empty.rmdir()
    remove_empty(folder, folder.parent)


def remove_parts(out: OutPath, is_in_use: Callable[[Path, int], bool]) -> None:
    """Deletes what was left half-written, but for what `is_in_use`, which gets path and process."""
    for path in _parts(Path(out)):
        found = PART_NAME.fullmatch(path.name)
        if found and not is_in_use(path, int(found[1])):
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not there, or someone is writing
        Path(out, TMP).rmdir()


def remove_empty(folder: Path, top: Path) -> None:
    """Deletes `folder` and those above it, below `top`, as far as they are empty."""
    while folder != top and folder.is_relative_to(top) and not folder.is_symlink():
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


class _Record:
    """The lines of one OUT's record, read as other processes add to them."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._names: set[str] = set()
        self._read = 0  # bytes
        self._lock = threading.Lock()

    def names(self) -> set[str]:
        with self._lock:
            self._refresh()
            return self._names

    def add(self, name: str, sync: bool) -> None:
        line = f"{json.dumps(name)}\n".encode()
        make_mark(self._out)
        with self._lock, _opened(self._out, os.O_WRONLY | os.O_APPEND) as file:
            if os.fstat(file).st_size > len(HEADER) and not _ends_with_line(self._out):
                line = b"\n" + line  # after half a line of a process that was killed
            while line:  # nearly always one call: lines of two processes do not mix
                line = line[os.write(file, line) :]
            if sync:
                os.fsync(file)

    def clear(self) -> None:
        with self._lock, contextlib.suppress(FileNotFoundError):
            with _opened(self._out, os.O_WRONLY) as file:
                os.ftruncate(file, len(HEADER))
            self._names, self._read = set(), 0

    def _refresh(self) -> None:
        with contextlib.suppress(FileNotFoundError), _opened(self._out, os.O_RDONLY) as file:
            size = os.fstat(file).st_size
            if size < self._read:  # another process started over
                self._names, self._read = set(), 0
            if size > self._read:
                self._add_lines(os.pread(file, size - self._read, self._read))

    def _add_lines(self, data: bytes) -> None:
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):  # half a line of a process that was killed
                self._names.add(str(json.loads(line)))
        self._read += len(whole)


_records: dict[Path, _Record] = {}
_records_lock = threading.Lock()


def _record(out: OutPath) -> _Record:
    place = Path(out).absolute()
    with _records_lock:
        return _records.setdefault(place, _Record(place))


def _forget(out: Path) -> None:
    with _records_lock:
        _records.pop(out.absolute(), None)


@contextlib.contextmanager
def _opened(out: Path, flags: int) -> Iterator[int]:
    """Opens the record; follows no link. Raises FileNotFoundError if there is none of ours."""
    if not is_marked(out):
        raise FileNotFoundError(errno.ENOENT, "no record", str(out / RECORD))
    file = os.open(out / RECORD, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        yield file
    finally:
        os.close(file)


def make_mark(out: OutPath) -> None:
    """Marks OUT as ours. Raises StoreError if somebody else's .penstock is there."""
    if is_marked(out):
        return
    mark = Path(out, MARK)
    if mark.is_symlink() or (os.path.lexists(mark) and not _is_unfinished(mark)):
        raise StoreError(f"{mark} is not a folder that Penstock made.", "Choose another OUT.")
    mark.mkdir(parents=True, exist_ok=True)
    try:
        _write_header(Path(out, RECORD), os.O_EXCL)
    except FileExistsError:
        if is_marked(out):  # another process made it just now
            return
        _write_header(Path(out, RECORD), os.O_TRUNC)  # it was cut short by a power cut
    _sync(mark)
    _sync(mark.parent)


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):  # a file system that syncs no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _ends_with_line(out: Path) -> bool:
    with (out / RECORD).open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _is_unfinished(mark: Path) -> bool:
    """Returns whether the folder is as `make_mark` leaves it when it is killed or the power goes."""
    return mark.is_dir() and all(map(_is_of_a_beginning, mark.iterdir()))


def _is_of_a_beginning(path: Path) -> bool:
    if path.is_symlink():
        return False
    if path.is_dir():
        return path.name == "tmp" and all(PART_NAME.fullmatch(one.name) for one in path.iterdir())
    if PART_NAME.fullmatch(path.name):
        return True
    data = path.read_bytes()[: len(HEADER)].rstrip(b"\0")
    return (path.name == "made" and HEADER.startswith(data)) or (
        path.name == "lock" and (not data or data.isdigit())
    )


def _write_header(record: Path, flag: int) -> None:
    file = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flag, 0o666)
    try:
        left = HEADER
        while left:
            left = left[os.write(file, left) :]
        os.fsync(file)
    finally:
        os.close(file)


def part_name() -> str:
    """Returns a new name for a file that is being written."""
    return f"{os.getpid()}-{secrets.token_hex(4)}.part"


def _checked_name(out: OutPath, path: Path) -> str:
    refuse_links(out, path)
    return path.relative_to(Path(out)).as_posix()


def is_plain_file(path: Path) -> bool:
    """Returns whether it is a file, and no link to one."""
    return path.is_file() and not path.is_symlink()


def _own_named(out: Path, folder: Path) -> Iterator[Path]:
    """Yields the files below a folder that only Penstock names so. Follows no link."""
    if folder.is_symlink():
        return
    for root, folders, files in os.walk(folder, followlinks=False):
        folders[:] = [name for name in folders if name != MARK]
        for name in files:
            path = Path(root, name)
            name = path.relative_to(out).as_posix()
            if OWN_NAME.fullmatch(name) and is_plain_file(path) and _holds_its_name(path):
                yield path


def _holds_its_name(path: Path) -> bool:
    """Returns whether a file that is named by a hash is what Penstock gives such names to."""
    found = HASH_NAME.fullmatch(path.name)
    if found is None:
        return True
    if path.suffix == ".parquet":
        return _is_shard(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest().startswith(found[1])


def _is_shard(path: Path) -> bool:
    """Returns whether a file is a shard of ours, of whatever format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return SHARD_MARK in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False


def _rank_locks(out: Path) -> list[Path]:
    return [path for path in (out / MARK).glob("rank-*-of-*") if is_plain_file(path)]


def _parts(out: Path) -> list[Path]:
    folder = out / TMP
    if folder.is_symlink() or folder.parent.is_symlink() or not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if PART_NAME.fullmatch(path.name) and is_plain_file(path)]
