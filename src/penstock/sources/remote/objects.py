"""Lists what lies below an address of an object store; each object is fetched when its pages are counted.

A rank fetches only documents that fall to it. A fetched file keeps the object's time, so its pages have the
same ids on every machine.
"""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from penstock.errors import BadInput, StoreError
from penstock.object_stores import ObjectName, normal_address, object_errors, opened
from penstock.redaction import SafeRepr
from penstock.sources.formats import SUFFIXES
from penstock.sources.ids import safe_document
from penstock.sources.kept_files import SECOND, is_kept, kept_file
from penstock.sources.names.safe import safe_name
from penstock.sources.remote.file_notes import is_known

if TYPE_CHECKING:
    from obstore.store import ObjectStore

MAX_OBJECT_BYTES = 8 << 30  # a web archive of a large crawl has 1 GB
LISTED_AT_ONCE = 50  # obstore's own default
OPEN_STORES = 16  # opening one takes 13 ms of a core
OF_STORES = ("AWS_", "AZURE_", "GOOGLE_")  # variables that say how one is opened
# a version of an object, by `kept_name`
KEPT = re.compile(r"(?P<object>.*[/\\][0-9a-f]{8})-[0-9a-f]{8}-(?P<name>[^/\\]+)", re.DOTALL)
ADVICE = "Run the same command again."
TOO_LARGE = "Split it, or copy it to a disk of this machine and name the file."


@dataclass(frozen=True, slots=True)
class StoredObject(SafeRepr):
    """An object that can be read, and where it is kept on this machine once it is fetched."""

    store: ObjectStore
    address: str  # of the store
    key: str
    size: int
    modified: datetime
    kept: Path
    tag: str

    @property
    def name(self) -> ObjectName:
        return ObjectName(self.address, self.key, self.tag)

    @property
    def document(self) -> str:
        return safe_document(PurePosixPath(self.key).parts)

    def fetch(self) -> Path:
        """Brings the object, unless it is here. Raises BadInput with the reason where that fails."""
        if is_kept(self.kept, self.size):
            return self.kept
        if self.size > MAX_OBJECT_BYTES:
            raise BadInput(f"is larger than {MAX_OBJECT_BYTES:,} bytes.", TOO_LARGE)
        try:
            with kept_file(self.kept, int(self.modified.timestamp() * SECOND)) as part:
                self._copy(part)
        except (StoreError, FileNotFoundError) as exc:
            raise BadInput(f"cannot be fetched: {exc}") from exc
        return self.kept

    def _copy(self, part: Path) -> None:
        import obstore

        with object_errors(f"{self.address}/{self.key}", ADVICE), part.open("wb") as file:
            for chunk in obstore.get(self.store, self.key):
                file.write(chunk)


def objects_at(text: str, downloads: Path) -> Iterator[StoredObject]:
    """Yields what can be read below an address, or by a pattern, in the order of the store: by name."""
    address, pattern = _split(normal_address(text))
    settings = frozenset(item for item in os.environ.items() if item[0].startswith(OF_STORES))
    store = _kept_open(address, settings)
    import obstore  # it is there: opened() says how to get it where it is not

    home = downloads / safe_name(f"{address.rpartition('/')[2]}-{_hash(address)}")
    is_one = bool(pattern) and not glob.has_magic(pattern)
    # a list may name each of a million objects of one folder: none of them may cost the folder's listing
    offset = pattern[:-1] if is_one else None
    with object_errors(address, ADVICE):
        for batch in obstore.list(store, offset=offset, chunk_size=1 if is_one else LISTED_AT_ONCE):
            for row in batch:
                key = row["path"]
                if key.lower().endswith(SUFFIXES) and (not pattern or fnmatch.fnmatchcase(key, pattern)):
                    tag = row["e_tag"] or ""
                    kept = home / kept_name(ObjectName(address, key, tag))
                    yield StoredObject(store, address, key, row["size"], row["last_modified"], kept, tag)
                    if is_one:
                        return


@lru_cache(maxsize=OPEN_STORES)
def _kept_open(address: str, settings: frozenset[tuple[str, str]]) -> ObjectStore:
    """Returns the store at an address. Rows of a list that name one folder share it, with its connections."""
    return opened(address)


def kept_name(stored: ObjectName) -> str:
    """Returns the name of the file that this version of the object is kept in."""
    name = safe_name(PurePosixPath(stored.key).name)
    return f"{_hash(f'{stored.address}|{stored.key}')}-{_hash(stored.tag)}-{name}"


def counts_on(path: str, now: Collection[str]) -> bool:
    """Returns whether a document's file of an earlier run is known, and no other version of it is listed."""
    if path in now:
        return True
    own = _object_of(path)
    return is_known(path) and not (own and any(_object_of(one) == own for one in now))


def _object_of(path: str) -> str:
    """Returns what all versions of an object that are kept in a folder share. Empty for other files."""
    found = KEPT.fullmatch(path)
    return f"{found['object']}-{found['name']}" if found else ""


def _split(address: str) -> tuple[str, str]:
    """Returns the address above the first wildcard or above a file's name, and the pattern below it."""
    scheme, _, rest = address.partition("://")
    parts = rest.split("/")
    magic = [index for index, part in enumerate(parts) if glob.has_magic(part)]
    if not magic and len(parts) > 1 and parts[-1].lower().endswith(SUFFIXES):
        magic = [len(parts) - 1]  # one object, named
    first = magic[0] if magic else len(parts)
    return f"{scheme}://{'/'.join(parts[:first])}", "/".join(parts[first:])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
