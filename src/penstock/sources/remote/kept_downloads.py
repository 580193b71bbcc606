"""Bounds the bytes of fetched and unpacked files that are kept: what was read longest ago goes first.

A file stays while a page of it is not committed. What goes leaves a note (file_notes.py). Deleted is only
what this run fetched or unpacked itself, or found as it would have written it: below the folder of downloads,
through no link, and with the size and the time that it had when it was listed.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import Failure
from penstock.item import Item
from penstock.sources import formats
from penstock.sources.files import Candidate
from penstock.sources.probe_questions import PartCount
from penstock.sources.remote.file_notes import FileNote

log = logging.getLogger(__name__)
WITHOUT_NOTE = formats.TABLES | formats.ARCHIVES | formats.MAILS  # what they hold has to be listed again


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file as it was when it was listed."""

    path: Path
    size: int
    modified_ns: int

    @classmethod
    def at(cls, path: Path) -> ListedFile:
        status = path.stat()
        return cls(path, status.st_size, status.st_mtime_ns)


@dataclass(slots=True)
class _FetchedDocument:
    """The files of a document, and how many of its listed pages are not committed."""

    files: tuple[ListedFile, ...]
    note: FileNote | None
    waiting: int = 1  # the listing itself is one

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass
class KeptDownloads:
    """The files of one run below `folder`. `is_done` says of a page's id whether its row is committed and
    the run will not read it again. Tables stay where `ranks` share them. Thread-safe: listed on one thread,
    done on others."""

    folder: Path
    max_bytes: int
    is_done: Callable[[str], bool] = lambda _: False
    ranks: bool = False
    _size: int = field(default=0, init=False)
    _read: OrderedDict[Path, _FetchedDocument] = field(default_factory=OrderedDict, init=False)
    _of_page: dict[str, _FetchedDocument] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._real = self.folder.resolve()

    def listed(self, file: Candidate, count: PartCount | Failure, items: Iterator[Item]) -> Iterator[Item]:
        """Yields the items of a file. From now on it is kept until its own are committed."""
        document = self._document(file, count)
        if document is None:
            yield from items
            return
        with self._lock:
            self._size += document.size
        for item in items:
            # those of an archive's documents have files of their own
            if file.kind in formats.TABLES or item.id.startswith(f"{file.prefix}/"):
                with self._lock:
                    document.waiting += 1
                    self._of_page[item.id] = document
            yield item
        self._one_less(document)

    def done(self, id: str) -> None:
        """Says that the page's row is committed, or that it needs no reading."""
        with self._lock:
            document = self._of_page.pop(id, None)
        if document is not None:
            self._one_less(document)

    def _document(self, file: Candidate, count: PartCount | Failure) -> _FetchedDocument | None:
        """Returns the file with what belongs to it; None for one that is not ours, or gone."""
        found, path = file.found, file.found.path
        if found.note is not None or not file.prefix or not self._is_ours(file):
            return None
        try:
            kept = ListedFile.at(path)
            files = (kept, *(_pictures_of(kept) if found.depth else ()))
        except OSError:  # it could not be fetched
            return None
        if found.stored is None or file.kind in WITHOUT_NOTE:
            return _FetchedDocument(files, None)
        note = FileNote(kept.size, kept.modified_ns, file.kind, file.failure or count)
        return _FetchedDocument(files, note)

    def _is_ours(self, file: Candidate) -> bool:
        """Returns whether the file was fetched or unpacked for this run alone, and is read itself."""
        found = file.found
        is_made = (found.stored is not None or found.depth > 0) and not found.source
        is_shared = self.ranks and file.kind in formats.TABLES  # their rows fall to all ranks
        is_inside = found.path.is_relative_to(self.folder) or found.path.is_relative_to(self._real)
        return is_made and is_inside and not is_shared

    def _one_less(self, document: _FetchedDocument) -> None:
        with self._lock:
            document.waiting -= 1
            if document.waiting == 0:
                self._read[document.files[0].path] = document
            while self._read and self._size > self.max_bytes:
                _, oldest = self._read.popitem(last=False)
                self._size -= oldest.size
                self._delete(oldest)

    def _delete(self, document: _FetchedDocument) -> None:
        try:
            first, *rest = (file for file in document.files)
            if not self._is_unchanged(first):
                return
            if document.note is not None:
                document.note.write(first.path)
            for file in (*filter(self._is_unchanged, rest), first):
                file.path.unlink()
        except OSError as exc:
            log.warning("%s is kept: %s", document.files[0].path, exc.strerror or exc)

    def _is_unchanged(self, file: ListedFile) -> bool:
        """Returns whether it is the file that was listed, where it was listed: no link leads there."""
        place = self.folder if file.path.is_relative_to(self.folder) else self._real
        is_there = file.path.resolve() == self._real / file.path.relative_to(place)
        return is_there and file.path.is_file() and ListedFile.at(file.path) == file


def _pictures_of(page: ListedFile) -> Iterator[ListedFile]:
    """Yields the pictures of a saved web page that were unpacked with it: they have its time."""
    folder = page.path.with_name(f"{page.path.stem}{formats.SAVED[0]}")
    is_page = page.path.suffix.lower() in (".html", ".htm", ".xhtml") and folder.is_dir()
    if is_page and not folder.is_symlink():
        files = (ListedFile.at(one) for one in folder.iterdir() if one.is_file() and not one.is_symlink())
        yield from (file for file in files if file.modified_ns == page.modified_ns)
