"""Expands what a user named into files and datasets: files, folders, globs, addresses, lists, standard input.

Opens only folders and lists. Reads a folder when the listing reaches it, so a tree of a million files starts
at once; enters each real folder once, so a loop of links ends.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import glob
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO

from penstock.errors import BadInput, UsageError
from penstock.object_stores import ObjectName, is_hub_address, is_object_address, local_path
from penstock.sources import formats
from penstock.sources.folders import Dataset, group_shards, saved_datasets
from penstock.sources.ids import STDIN, natural_key, safe_document
from penstock.sources.names.unique import kept_parts
from penstock.sources.remote.download import Addressed, is_url
from penstock.sources.remote.file_notes import FileNote, note_of
from penstock.sources.remote.hub_files import HubFile, hub_files_at
from penstock.sources.remote.objects import StoredObject, objects_at

SPOOL_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to open, or, with `problem`, why there is none."""

    path: Path
    document: str
    named: bool = False  # by the user: a file that cannot be read is then reported, not skipped
    digest: str = ""  # of the content, where path and time mean nothing
    problem: str = ""
    stored: StoredObject | HubFile | Addressed | None = None  # to be fetched before it is opened
    is_mine: bool = False  # it falls to this rank, whatever it is called: it was brought for this rank
    page: int | None = None  # it is this page, from 0, of a document whose pages are files of their own
    source: str = ""  # the file that `path` was printed from, or that could not be printed
    advice: str = ""  # what to do about the problem
    depth: int = 0  # how many archives it lies in
    note: FileNote | None = None  # it was fetched, read and deleted: `path` is where it was

    @property
    def place(self) -> str:
        """What a row without a file names: the address, or the path."""
        return self.stored.shown if isinstance(self.stored, Addressed) else str(self.path)

    @property
    def object_name(self) -> ObjectName | None:
        """What other machines fetch the file by; None for one that was made of an object, or of none."""
        return self.stored.name if isinstance(self.stored, StoredObject) and not self.source else None

    def fetched(self) -> FoundFile:
        """Returns the file on this machine, or why it could not be brought here."""
        if self.stored is None:
            return self
        try:
            path = self.stored.fetch()
        except BadInput as exc:
            return replace(self, problem=exc.message, advice=exc.advice)
        return self._at(path)

    def remembered(self) -> FoundFile | None:
        """Returns the file as it was before it was deleted; None for one that was not, or left no note."""
        path = self.stored.kept if self.stored is not None else None
        note = note_of(path) if path is not None else None
        return None if path is None or note is None else replace(self._at(path), note=note)

    def _at(self, path: Path) -> FoundFile:
        is_table = self.document.lower().endswith(formats.TABLE_SUFFIXES)  # its rows fall one by one
        document = safe_document([path.name]) if isinstance(self.stored, Addressed) else self.document
        return replace(self, path=path, document=document, is_mine=not is_table)


@dataclass(frozen=True, slots=True)
class Begin:
    """A folder or pattern follows, up to its End."""


@dataclass(frozen=True, slots=True)
class End:
    """A folder or pattern ends. `problem` says what is wrong if it gave nothing."""

    path: Path
    document: str
    problem: str


Entry = FoundFile | Dataset | Begin | End


def expand(
    inputs: Sequence[str], stdin: IO[bytes] | None = None, downloads: Path | None = None
) -> Iterator[Entry]:
    """Yields files and datasets in the order of the inputs, folders in natural order of names.

    What is at an address is kept in `downloads`, or as long as this process lasts.
    """
    inputs = [local_path(text) for text in inputs]
    kept = _kept_parts(inputs)
    for text in inputs:
        if text == "-":
            yield from _from_stdin(stdin if stdin is not None else sys.stdin.buffer, downloads)
        elif text.startswith("@") and len(text) > 1 and not os.path.lexists(text):
            yield from _from_list(text[1:], downloads)
        elif not text:
            raise UsageError("An input is empty.", "Name a file, a folder, a glob, an address, @LIST or -.")
        else:
            parts = kept.get(text, ())
            yield from _named(text, downloads, parts, above=parts)


def refuse_inside(inputs: Sequence[str], out: Path) -> None:
    """Raises UsageError if an input is OUT or lies in it: results would lie among the user's files."""
    real = out.resolve()
    for text in map(local_path, inputs):
        if is_object_address(text):
            continue
        with contextlib.suppress(OSError, RuntimeError):  # the listing says why it cannot be looked at
            if os.path.lexists(text):
                place = _settled(text)
            elif glob.has_magic(text) and not is_url(text):
                place = _split_glob(text)[0]
            else:
                continue
            if place.is_relative_to(real):
                raise UsageError(
                    f"The input {text} lies in OUT, the folder {real}.",
                    "Choose another OUT, for instance -o out: what is read and what is written stay apart.",
                )


def _kept_parts(inputs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns by input what of its path its documents' names begin with, where names could meet."""
    places: dict[str, Path] = {}
    for text in inputs:
        with contextlib.suppress(OSError, RuntimeError, ValueError):  # opening it later gives the reason
            if text and os.path.lexists(text):
                places[text] = _settled(text)
    folders = {path for path in places.values() if os.path.isdir(path)}  # noqa: PTH112
    kept = kept_parts(set(places.values()) - folders, folders)
    return {text: kept[path] for text, path in places.items() if path in kept}


def _named(
    text: str, downloads: Path | None, document: Sequence[str] = (), above: Sequence[str] = ()
) -> Iterator[Entry]:
    """Yields what an address or a path is."""
    if is_object_address(text) or is_hub_address(text):
        yield from _in_a_store(text, downloads or temporary_folder())
    elif is_url(text) and not os.path.lexists(text):
        yield _at_address(text, downloads or temporary_folder())
    else:
        yield from _one(text, document, above)


def _in_a_store(text: str, downloads: Path) -> Iterator[Entry]:
    yield Begin()
    found = hub_files_at(text, downloads) if is_hub_address(text) else objects_at(text, downloads)
    for stored in found:
        yield FoundFile(stored.kept, stored.document, named=True, stored=stored)
    yield End(Path(text), safe_document([text]), "holds no PDF, picture or dataset.")


def _at_address(url: str, downloads: Path) -> FoundFile:
    """Returns what is to be downloaded. An address that gives nothing fails alone."""
    name = PurePosixPath(url.partition("?")[0]).name
    return FoundFile(Path(name), safe_document([name]), named=True, stored=Addressed(url, downloads))


@functools.cache
def temporary_folder() -> Path:
    """Returns a folder for what is fetched and unpacked, that goes with this process."""
    folder = tempfile.mkdtemp(prefix="penstock-downloads-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _one(text: str, document: Sequence[str] = (), above: Sequence[str] = ()) -> Iterator[Entry]:
    """Yields what an input is. A file is named `document`; names of a folder's files begin with `above`."""
    try:
        path = _settled(text)
    except (OSError, RuntimeError) as exc:  # a loop of links, a disk that does not answer
        problem = f"cannot be looked at: {_reason(exc)}."
        yield FoundFile(Path(text), safe_document([Path(text).name]), named=True, problem=problem)
        return
    if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises where there is no permission
        yield Begin()
        yield from _walk(path, above)
        yield End(path, safe_document([path.name]), "holds no PDF, picture or dataset.")
    elif os.path.lexists(path):
        yield FoundFile(path, safe_document(document or [path.name]), named=True)
    elif glob.has_magic(text):
        yield from _from_glob(text)
    else:
        yield FoundFile(path, safe_document([path.name]), named=True, problem="does not exist.")


def _settled(text: str) -> Path:
    """Returns the absolute path without `..`, one for each file. Resolves folders, not the file itself."""
    path = Path(text)
    if path.name in ("", "..") or os.path.isdir(path):  # noqa: PTH112
        return path.resolve()
    return path.parent.resolve() / path.name


def _reason(exc: OSError | RuntimeError) -> str:
    return (exc.strerror if isinstance(exc, OSError) else None) or str(exc)


def _from_list(name: str, downloads: Path | None) -> Iterator[Entry]:
    """Reads one path a line, relative to the working folder, as `find` and `ls` print them."""
    path = _settled(name)
    try:
        with path.open("rb") as lines:
            yield from _from_lines(lines, downloads)
    except OSError as exc:
        problem = f"cannot be read: {exc.strerror}."
        yield FoundFile(path, safe_document([path.name]), named=True, problem=problem)


def _from_lines(lines: Iterator[bytes] | IO[bytes], downloads: Path | None) -> Iterator[Entry]:
    for number, line in enumerate(lines):
        text = line.removeprefix(b"\xef\xbb\xbf" if number == 0 else b"").rstrip(b"\r\n")
        if text.strip():
            yield from _listed(local_path(os.fsdecode(text)), downloads)


def _listed(text: str, downloads: Path | None) -> Iterator[Entry]:
    path = Path(text)
    outside = path.is_absolute() or ".." in path.parts
    # a list's relative paths are its documents' names
    yield from _named(text, downloads, () if outside else path.parts)


def _from_stdin(stream: IO[bytes], downloads: Path | None) -> Iterator[Entry]:
    """Reads a document if the bytes begin like one, else a list of paths."""
    head = stream.read(formats.HEAD_BYTES)
    if formats.sniff(head) is None:
        yield from _from_lines(_lines(head, stream), downloads)
        return
    path, digest = _spool(head, stream)
    yield FoundFile(path, STDIN, named=True, digest=digest)


def _lines(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    *whole, last = head.splitlines(keepends=True) or [b""]
    yield from whole
    yield last + (b"" if last.endswith(b"\n") else stream.readline())
    yield from stream


def _spool(head: bytes, stream: IO[bytes]) -> tuple[Path, str]:
    """Copies the stream to a temporary file that lasts as long as this process. Returns path and hash."""
    digest = hashlib.sha256(head)
    handle, name = tempfile.mkstemp(prefix="penstock-stdin-")
    path = Path(name)
    atexit.register(path.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        file.write(head)
        while chunk := stream.read(SPOOL_BYTES):
            digest.update(chunk)
            file.write(chunk)
    return path, digest.hexdigest()[:10]


def _from_glob(text: str) -> Iterator[Entry]:
    """Yields matches in natural order. Hidden files match only if the pattern names a dot."""
    root, pattern = _split_glob(text)
    try:
        matches = [match for match in root.glob(pattern) if _is_shown(match.relative_to(root), pattern)]
    except (ValueError, NotImplementedError) as exc:
        raise UsageError(f"'{text}' is not a pattern: {exc}.", "Write ** only between slashes.") from exc
    yield Begin()
    for match in sorted(matches, key=lambda path: [natural_key(part) for part in path.parts]):
        if os.path.isdir(match):  # noqa: PTH112
            yield from _walk(match, match.relative_to(root).parts)
        else:
            yield FoundFile(match, safe_document(match.relative_to(root).parts))
    yield End(root / pattern, safe_document([Path(text).name]), "matches no PDF, picture or dataset.")


def _split_glob(text: str) -> tuple[Path, str]:
    """Returns the folder before the first wildcard, and the pattern below it."""
    parts = Path(text).parts
    first = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    # shells let people write **.pdf for "at any depth"; pathlib wants **/*.pdf
    loose = (re.sub(r"^\*\*(?=.)", "**/*", part) for part in parts[first:])
    return Path(*parts[:first]).resolve(), "/".join(loose)


def _is_shown(path: Path, pattern: str) -> bool:
    return "/." in f"/{pattern}" or not any(part.startswith(".") for part in path.parts)


def _walk(root: Path, above: Sequence[str] = ()) -> Iterator[Entry]:
    """Yields all files below a folder. Uses a stack: folders can nest deeper than Python calls."""
    visited: set[Path] = set()
    stack: list[Iterator[Entry | tuple[str, ...]]] = [_list_folder(root, (), above, visited)]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
        elif isinstance(entry, tuple):
            stack.append(_list_folder(root, entry, above, visited))
        else:
            yield entry


def _list_folder(
    root: Path, below: tuple[str, ...], above: Sequence[str], visited: set[Path]
) -> Iterator[Entry | tuple[str, ...]]:
    """Yields a folder's files and datasets, and each folder in it as its parts below the root, by name."""
    folder = root.joinpath(*below)
    names = (*above, *below)
    try:
        real = folder.resolve()
        if real in visited:
            return
        visited.add(real)
        entries = sorted(_visible(folder), key=lambda entry: natural_key(entry.name))
    except (OSError, RuntimeError) as exc:
        document = safe_document(names or ["folder"])
        yield FoundFile(folder, document, problem=f"cannot be read: {_reason(exc)}.")
        return
    if below and _is_penstock_output({entry.name for entry in entries}):
        return
    label = (root.name, *(part for part in below if part != "data"))
    if saved := saved_datasets(folder, "/".join(label)):
        yield from saved
        return
    yield from _sorted_entries(entries, below, names, label)


def _sorted_entries(
    entries: list[os.DirEntry[str]], below: tuple[str, ...], names: tuple[str, ...], label: tuple[str, ...]
) -> Iterator[Entry | tuple[str, ...]]:
    shards = [Path(entry.path) for entry in entries if _is_table(entry.name)]
    stems = [entry.name.rpartition(".")[0] for entry in entries if _is_page(entry.name)]
    of_pages = {f"{stem}{word}" for stem in stems for word in formats.SAVED}
    groups = {group.shards[0].name: group for group in group_shards(shards, "/".join(label))}
    for entry in entries:
        is_folder = _is_folder(entry)
        if is_folder is None:  # not left out: inspecting it gives the reason
            yield FoundFile(Path(entry.path), safe_document((*names, entry.name)), named=True)
        elif is_folder:
            if entry.name not in of_pages:
                yield (*below, entry.name)
        elif entry.name in groups:
            yield groups[entry.name]
        elif not _is_table(entry.name):
            yield FoundFile(Path(entry.path), safe_document((*names, entry.name)))


def _is_folder(entry: os.DirEntry[str]) -> bool | None:
    """Returns whether it is a folder; None if unknown: a link to itself, a disk that does not answer."""
    try:
        return entry.is_dir()
    except OSError:
        return None


def _is_page(name: str) -> bool:
    return name.lower().endswith((".html", ".htm", ".xhtml"))


def _is_table(name: str) -> bool:
    return name.lower().endswith(formats.TABLE_SUFFIXES)


def _visible(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if not entry.name.startswith(".") and entry.name != "__MACOSX"]


def _is_penstock_output(names: set[str]) -> bool:
    """Whether a folder is an OUT inside the folder it was made from: its crops are not pages."""
    return {"run.json", "items"} <= names
