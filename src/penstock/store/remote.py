"""An OUT on an object store: a local folder mirrors it, and what is committed is created there at once.

Object stores have neither renames nor locks. What a rename publishes on a disk is published there by creating
an object that must not exist yet: crops first, then the shard that names them. Names are of content, so ranks
that commit the same rows by mistake write the same object, and readers take each page once. A run that was
killed sends what only its mirror has when it is started again. Nothing is ever deleted there, and an object
without our mark is neither brought nor written over.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from penstock.errors import StoreError, UsageError
from penstock.object_stores import normal_address, object_errors, opened
from penstock.processes.user_cache import user_cache
from penstock.store.atomic_files import replacing
from penstock.store.contents import FILES, FOLDERS, OURS
from penstock.store.ownership import MARK, OWN_NAME, refuse_links
from penstock.store.shard_names import SHARD_NAME, may_hold
from penstock.store.source_order import DOCUMENTS, RANKS

# what a run must know of others; a rank brings only its own rows of them
LEDGER = ("items/", "failures/", "corrections/", "run.json", DOCUMENTS, f"{RANKS}/")
AT_ONCE = 16  # requests: a crop takes 30 ms, nearly all of it waiting
MIRRORS = "outs"  # below the user's cache
KEPT_HERE = "What is finished is kept on this machine; run the same command again."
MADE = {"penstock": "made"}  # the mark of an object that we wrote, in its metadata
MAX_RACES = 50  # of an object that ranks put at the same time
RACE_PAUSE_S = 0.1
Version = dict[str, str]  # of an object: what a put names that replaces this one and no other
_mirrors: dict[Path, Mirror] = {}


def mirror_of(out: str | os.PathLike[str]) -> Mirror | None:
    """Returns the mirror that was opened at this folder, if one was."""
    return _mirrors.get(Path(out).absolute())


@contextmanager
def mirrored(address: str, home: Path | None = None, *, everything: bool = True) -> Iterator[Path]:
    """Gives the local folder of an OUT at `address`, up to date, and sends what was made there at the end.

    `home` holds the mirrors of all addresses: a folder in the user's cache if none is given. Without
    `everything` nothing is brought yet: a run brings what it must know.
    """
    mirror = Mirror(address, home or user_cache() / MIRRORS)
    _mirrors[mirror.path.absolute()] = mirror
    try:
        if everything:
            mirror.pull()
        yield mirror.path
    finally:
        try:
            mirror.push()
        finally:
            del _mirrors[mirror.path.absolute()]


def bring_ledger(out: Path, rank: str = "") -> None:
    """Brings what a run must know of earlier ones if OUT is on a store; for a rank only rows of its own."""
    if mirror := mirror_of(out):
        mirror.pull_ledger(rank)


def bring_files(out: Path) -> None:
    """Brings what rows name, such as crops, if OUT is on a store: a run brings no more than rows."""
    if mirror := mirror_of(out):
        mirror.pull()


def refuse_fresh(out: Path, fresh: bool) -> None:
    """Raises UsageError for a run that would start over where nothing is ever deleted."""
    mirror = mirror_of(out)
    if fresh and mirror is not None:
        raise UsageError(
            f"--fresh deletes nothing at {mirror.address}.",
            "Choose another prefix, or delete its objects yourself.",
        )


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    name: str
    size: int
    tag: str


class Mirror:
    """What an address holds and a local folder mirrors. Thread-safe."""

    def __init__(self, address: str, home: Path) -> None:
        self.address = normal_address(address)
        self.path = (
            home / f"{_readable(self.address)}-{hashlib.sha256(self.address.encode()).hexdigest()[:8]}"
        )
        self._store = opened(self.address)
        self._known: set[str] = set()  # content-named files that are there
        self._written = self._times()  # of files as they were before this process changed any

    def pull(self) -> None:
        """Brings all that is not here yet. Sends rows that only the mirror has."""
        self._pull(self._listed(self._tops()))

    def pull_ledger(self, rank: str) -> None:
        """Brings what a run must know of others. Sends rows that only the mirror has."""
        self._pull(file for file in self._listed(LEDGER) if _concerns(file.name, rank))

    def _pull(self, found: Iterable[ObjectFacts]) -> None:
        there = list(found)
        with ThreadPoolExecutor(AT_ONCE, "pull") as pool:
            list(pool.map(self._bring, [file for file in there if not self._has(file)]))
        self._known.update(file.name for file in there if OWN_NAME.fullmatch(file.name))
        self._send_rows()

    def create(self, files: Iterable[Path]) -> None:
        """Publishes files that are named by their content: all but the last side by side, then the last."""
        names = list(dict.fromkeys(path.relative_to(self.path).as_posix() for path in files))
        wanted = [name for name in names if name not in self._known]
        with ThreadPoolExecutor(AT_ONCE, "publish") as pool:
            list(pool.map(self._create, wanted[:-1]))
        for name in wanted[-1:]:
            self._create(name)

    def begin(self, name: str) -> bool:
        """Publishes a file of the mirror if the store has none of that name; else brings the store's."""
        if self._create(name):
            return True
        if not self._is_ours(name):
            raise self._foreign(name)
        self._write(name, self._get(name)[0])
        return False

    def object(self, name: str) -> tuple[bytes, Version | None]:
        """Returns what an object holds, and its version: None if there is none."""
        try:
            return self._get(name)
        except FileNotFoundError:
            return b"", None

    def put_version(self, name: str, data: bytes, version: Version | None) -> Version | None:
        """Replaces this version of an object, or creates it. None if it has changed, or is there already."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._errors(name):
            mode = "create" if version is None else version
            try:
                put = obstore.put(self._store, name, data, mode=mode, attributes=MADE, use_multipart=False)  # type: ignore[arg-type]
            except (AlreadyExistsError, PreconditionError):
                return None
            return {fact: str(value) for fact, value in put.items() if value}

    def push(self) -> None:
        """Sends every file that is not there, and what a verb of this process made or changed.

        What others changed there since is left as it is.
        """
        there = {file.name: file for file in self._listed(self._tops())}
        now = self._times()
        old = {name for name, time in self._written.items() if name in there and now.get(name) == time}
        local = [
            name for name in self._local() if name not in old and not self._is_same(name, there.get(name))
        ]
        with ThreadPoolExecutor(AT_ONCE, "push") as pool:
            list(pool.map(lambda name: self._put(name, name in there), local))

    def _send_rows(self) -> None:
        """Sends rows of a run that was killed, and the files they name."""
        rows = [self.path / name for name in self._local() if OWN_NAME.fullmatch(name)]
        shards = [path for path in rows if path.suffix == ".parquet"]
        if any(shard.relative_to(self.path).as_posix() not in self._known for shard in shards):
            self.create(path for path in rows if path.suffix != ".parquet")
            self.create(shards)

    def _listed(self, prefixes: Iterable[str]) -> Iterator[ObjectFacts]:
        import obstore

        for prefix in prefixes:
            with self._errors(prefix):
                if not prefix.endswith("/"):
                    yield from self._one(prefix)
                    continue
                for batch in obstore.list(self._store, prefix.rstrip("/")):
                    for row in batch:
                        yield ObjectFacts(row["path"], row["size"], (row["e_tag"] or "").strip('"'))

    def _tops(self) -> list[str]:
        """Returns which of a run's files and folders are there. What else is there is not listed."""
        import obstore

        with self._errors(""):
            found = obstore.list_with_delimiter(self._store)
        folders = [f"{name}/" for name in found["common_prefixes"] if name in FOLDERS]
        return folders + [row["path"] for row in found["objects"] if row["path"] in FILES]

    def _one(self, name: str) -> Iterator[ObjectFacts]:
        import obstore

        try:
            row = obstore.head(self._store, name)
        except FileNotFoundError:
            return
        yield ObjectFacts(row["path"], row["size"], (row["e_tag"] or "").strip('"'))

    def _has(self, file: ObjectFacts) -> bool:
        path = self.place_of(file.name)
        if path is None:
            return True  # a name that is none of ours: left alone
        if OWN_NAME.fullmatch(file.name):
            return path.is_file() and path.stat().st_size == file.size
        return self._is_same(file.name, file)

    def _is_same(self, name: str, there: ObjectFacts | None) -> bool:
        path = self.path / name
        if there is None or not path.is_file() or path.stat().st_size != there.size:
            return False
        return bool(OWN_NAME.fullmatch(name)) or there.tag == _md5(path)

    def place_of(self, name: str) -> Path | None:
        """Returns where an object lies in the mirror; None for a name that no run gives."""
        parts = PurePosixPath(name).parts
        odd = any(part in ("..", ".", MARK) or "\0" in part for part in parts)
        if odd or not parts or parts[0] not in OURS or name in FOLDERS:
            return None
        return self.path.joinpath(*parts)

    def _local(self) -> Iterator[str]:
        for root, folders, files in os.walk(self.path, followlinks=False):
            folders[:] = [name for name in folders if name not in (MARK, "downloads")]
            for name in files:
                path = Path(root, name)
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(self.path).as_posix()

    def _bring(self, file: ObjectFacts) -> None:
        if OWN_NAME.fullmatch(file.name) or self._is_ours(file.name):
            self._write(file.name, self._get(file.name)[0])

    def _is_ours(self, name: str) -> bool:
        import obstore

        with self._errors(name):
            found = obstore.get(self._store, name, options={"head": True}).attributes
            return MADE.items() <= found.items()

    def _foreign(self, name: str) -> StoreError:
        return StoreError(
            f"{self.address}/{name} was not written by Penstock, so it is left alone.",
            "Choose another prefix.",
        )

    def _write(self, name: str, data: bytes) -> None:
        path = self.place_of(name)
        if path is None:
            return
        refuse_links(self.path, path)
        with replacing(path, self.path, sync=False) as target:
            target.write(data)
        self._written[name] = path.stat().st_mtime_ns

    def _times(self) -> dict[str, int]:
        names = (name for name in self._local() if not OWN_NAME.fullmatch(name))
        return {name: (self.path / name).stat().st_mtime_ns for name in names}

    def _get(self, name: str) -> tuple[bytes, Version]:
        import obstore

        with self._errors(name):
            answer = obstore.get(self._store, name)
            facts = {"e_tag": answer.meta["e_tag"], "version": answer.meta["version"]}
            return bytes(answer.bytes()), {name: value for name, value in facts.items() if value}

    def _create(self, name: str) -> bool:
        """Creates an object; False if one is there already."""
        with self._errors(name):
            data = (self.path / name).read_bytes()
            for _ in range(MAX_RACES):
                created = self.put_version(name, data, None) is not None
                # 409: another puts it at this moment, which may still fail, so it is not yet there
                if created or any(self._one(name)):
                    self._known.add(name)
                    return created
                time.sleep(RACE_PAUSE_S)
        raise StoreError(f"{self.address}/{name} is put by others all the time.", "Run the command again.")

    def _put(self, name: str, is_there: bool) -> None:
        import obstore

        if is_there and not self._is_ours(name):
            raise self._foreign(name)
        with self._errors(name):
            obstore.put(
                self._store, name, (self.path / name).read_bytes(), attributes=MADE, use_multipart=False
            )

    def _errors(self, name: str) -> AbstractContextManager[None]:
        return object_errors(f"{self.address}/{name}".rstrip("/"), KEPT_HERE)


def _concerns(name: str, rank: str) -> bool:
    """Returns whether a rank's run must know a file: of others it needs the names of documents."""
    folder, last = PurePosixPath(name).parts[0], PurePosixPath(name).name
    if folder == RANKS:
        return last == DOCUMENTS or name.startswith(f"{RANKS}/{rank}/")
    return SHARD_NAME.fullmatch(last) is None or may_hold(last, rank)


def _readable(address: str) -> str:
    return re.sub(r"[^\w.-]+", "-", address.partition("://")[2])[-60:].strip("-.") or "out"


def _md5(path: Path) -> str:
    """Returns what stores call the tag of an object that was sent in one piece."""
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
