"""Where an index lies on the disk: every build has a folder of its own, so that readers are never disturbed.

OUT/index/index.json names the folder that counts. A build begins with links to the files of the last one
and is published by replacing index.json; one that was killed has changed nothing that counts. A reader
holds a shared lock on the folder it opened. Folders that neither count nor are read go with the next build.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.errors import StoreError, UsageError
from penstock.store.atomic_files import replacing, store_errors
from penstock.store.ownership import refuse_links, remove

FOLDER, ABOUT = "index", "index.json"
VERSION = 3  # of what is kept; another one is built anew
TABLES = "tables"  # in index.json: the name of the folder
READING = ".reading"  # in that folder: what readers lock
BUILD = re.compile(rf"{TABLES}-[0-9a-f]{{8}}")


@contextlib.contextmanager
def index_errors(folder: Path) -> Iterator[None]:
    """Turns what the library raises, of damaged files or a full disk, into a sentence of ours."""
    try:
        yield
    except (RuntimeError, OSError) as exc:
        said = (str(exc).splitlines() or [type(exc).__name__])[0].partition(", /")[0]
        raise StoreError(
            f"The index {folder} cannot be used: {said}.",
            "If its files are damaged, run: penstock index OUT --rebuild",
        ) from exc


def begin(folder: Path, last: dict[str, Any] | None) -> Path:
    """Returns a folder to build in: as `last` left it, or empty."""
    home = folder / f"{TABLES}-{secrets.token_hex(4)}"
    refuse_links(folder.parent, home)
    with store_errors(folder):
        if last is None:
            home.mkdir(parents=True)
        else:
            shutil.copytree(
                folder / last[TABLES], home, copy_function=_link, ignore=shutil.ignore_patterns(READING)
            )
        (home / READING).touch()
    return home


def publish(home: Path, about: dict[str, Any]) -> None:
    """From here on `home` is the index."""
    with replacing(home.parent / ABOUT, home.parent.parent) as file:
        file.write(json.dumps({**about, TABLES: home.name}).encode())


def sweep(folder: Path) -> None:
    """Removes what neither counts nor is read: builds before the last, and those that were killed."""
    about = read_about(folder)
    kept = {ABOUT, about[TABLES]} if about else {ABOUT}
    with store_errors(folder):
        for path in folder.iterdir():
            if (
                path.name not in kept
                and BUILD.fullmatch(path.name)
                and path.is_dir()
                and not path.is_symlink()
            ):
                _remove_unread(path)


def read_about(folder: Path) -> dict[str, Any] | None:
    """Returns what the index holds; None where there is none, or one of another version."""
    try:
        found: dict[str, Any] = json.loads((folder / ABOUT).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return found if found.get("version") == VERSION else None


class OpenedIndex:
    """A folder that is read, and what the index holds. Close it; it closes itself when it is forgotten."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.home, self.about = folder / about[TABLES], about
        descriptor = os.open(self.home / READING, os.O_RDONLY)
        self.close = weakref.finalize(self, os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_SH)


def open_index(folder: Path) -> OpenedIndex:
    """Returns the index that counts now. Raises UsageError where there is none."""
    while (about := read_about(folder)) is not None:
        try:
            reading = OpenedIndex(folder, about)
        except FileNotFoundError:  # another build was published just now; else it is no index
            if read_about(folder) == about:
                break
            continue
        if read_about(folder) == about:
            return reading
        reading.close()
    raise UsageError(f"{folder.parent} has no finished index.", "Run: penstock index OUT")


def _remove_unread(home: Path) -> None:
    try:
        with (home / READING).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_build(home)
    except FileNotFoundError:
        _remove_build(home)
    except BlockingIOError:
        return  # someone reads it: the next build will look again


def _remove_build(home: Path) -> None:
    """Removes the files that a build makes, and what is empty then: a file of somebody else stays."""
    out = home.parent.parent
    for root, _, files in os.walk(home, topdown=False, followlinks=False):
        for name in files:
            path = Path(root, name)
            remove(out, path)
        with contextlib.suppress(OSError):
            Path(root).rmdir()


def _link(source: str, target: str) -> None:
    """Files of tables never change, so a link is a copy; what names the latest version may be rewritten."""
    if Path(source).parent.name != "_versions":
        try:
            os.link(source, target)
            return
        except OSError:  # a file system without links
            pass
    shutil.copy2(source, target)
