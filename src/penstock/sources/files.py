"""Inspects files: tells their kind by their first bytes, and names their pages."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from penstock.errors import Failure
from penstock.item import Item
from penstock.sources import formats
from penstock.sources.formats import READABLE, Kind
from penstock.sources.ids import Version, file_prefix, hashed, safe_document, safe_stem, version_of
from penstock.sources.inputs import FoundFile
from penstock.sources.names.seen import SeenNames
from penstock.sources.remote.download import Addressed
from penstock.sources.remote.objects import counts_on

# a folder of scans has notes among them: these are read where a user names them
UNNAMED = frozenset({"text", "markdown", "csv", "eml", "html", "ooxml", "ole"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """An inspected file. Without kind and failure, it was listed before."""

    found: FoundFile
    prefix: str  # of its items' ids
    kind: Kind | None = None
    failure: Failure | None = None
    missing: bool = False  # there is no file at all
    first: str = ""  # begins the ids of another file's pages, which has the same bytes

    @property
    def table_name(self) -> str:
        return self.found.document.rpartition(".")[0] or self.found.document

    def item(self, part: int) -> Item:
        part = part if self.found.page is None else self.found.page
        media = self.kind if self.kind in formats.STRUCTURES | {"pdf"} else "image"
        uri, document = str(self.found.path), self.found.document
        id, copy_of = f"{self.prefix}/{part:05d}", f"{self.first}/{part:05d}" if self.first else ""
        return Item(
            id=id, uri=uri, document=document, part=part, media=str(media), source=self.found.source,
            copy_of=copy_of, stored=self.found.object_name,
        )  # fmt: skip

    def failed(self, failure: Failure, part: int = 0) -> Item:
        """Returns the one item of what cannot be read: the file, or its pages from `part` on."""
        uri = self.found.place if _is_text(self.found.path) else self.found.document
        id, document = f"{self.prefix}/{part:05d}", self.found.document
        source = self.found.source
        return Item(id=id, uri=uri, document=document, part=part, failure=failure, source=source)


class FileInspector:
    """Inspects one file after another, and gives no two of them the same document name.

    `known` holds the files that earlier runs read, by document name: no other file gets such a name.
    """

    def __init__(self, known: Mapping[str, Collection[str]] | None = None) -> None:
        self._known = known or {}
        self._names = {path: document for document, paths in self._known.items() for path in paths}
        self._paths, self._documents = SeenNames(), SeenNames()
        self._last = ""  # what the last file was named

    def __call__(self, found: FoundFile) -> Candidate | None:
        """Inspects a file. Returns None if no user named it and its suffix is not of a readable kind."""
        if found.problem:
            return _refused(found, found.problem, found.advice, missing=not found.source)
        claims = found.named or found.path.suffix.lower() in formats.SUFFIXES
        try:
            looked = _looked_at(found)
        except OSError as exc:
            return _refused(found, f"cannot be opened: {exc.strerror}.") if claims else None
        if not claims and (looked.kind is None or looked.kind in UNNAMED):
            return None
        if str(found.path) in self._paths:
            return Candidate(found, "")
        return looked.candidate(self._named(found))

    def again(self, found: FoundFile) -> Candidate:
        """Inspects a file that was deleted, that has its name since, and that was fetched again."""
        if found.problem:
            return _refused(found, found.problem, found.advice)
        try:
            return _looked_at(found).candidate(found)
        except OSError as exc:
            return _refused(found, f"cannot be opened: {exc.strerror}.")

    def _named(self, found: FoundFile) -> FoundFile:
        """Gives the file its own document name: with its folder's name if another file has the same.

        A file that an earlier run read keeps the name it had: its pages are known by it.
        """
        self._paths.add(str(found.path))
        if found.page:  # the same document as the file before
            return replace(found, document=self._last)
        document = found.document if found.digest else self._names.get(str(found.path), found.document)
        parts, depth = found.path.parts[1:], 2
        while self._is_taken(document, found) and depth <= len(parts):
            document, depth = safe_document(parts[-depth:]), depth + 1
        stem, dot, suffix = document.rpartition(".")
        number = 2
        while self._is_taken(document, found):
            document, number = f"{stem if dot else suffix}-{number}{dot}{suffix if dot else ''}", number + 1
        self._documents.add(document)
        self._last = document
        return replace(found, document=document)

    def _is_taken(self, document: str, found: FoundFile) -> bool:
        """Whether another file has the name, now or in an earlier run. A file that is gone has none."""
        others = self._known.get(document, ())
        if found.digest or str(found.path) in others:
            others = ()
        return document in self._documents or any(counts_on(one, [str(found.path)]) for one in others)


@dataclass(frozen=True, slots=True)
class _Looked:
    """What a file is, or why it cannot be read."""

    version: Version
    kind: Kind | None
    problem: str = ""
    advice: str = ""
    failure: Failure | None = None  # of a file that is gone

    def candidate(self, found: FoundFile) -> Candidate:
        if self.problem:
            return _refused(found, self.problem, self.advice, version=self.version)
        return Candidate(found, _prefix(found, self.version), self.kind, self.failure)


def _looked_at(found: FoundFile) -> _Looked:
    if (note := found.note) is not None:
        failure = note.count if isinstance(note.count, Failure) else None
        return _Looked((note.size, note.modified_ns), note.kind, failure=failure)
    status = found.path.stat()
    return _Looked(version_of(status), *_inspect(found.path, status))


def _inspect(path: Path, status: os.stat_result) -> tuple[Kind | None, str, str]:
    """Returns the file's kind, or a problem as words that follow its name, and advice."""
    if not stat.S_ISREG(status.st_mode):
        return None, "is not a regular file.", ""
    if not _is_text(path):
        return None, "has a name that is not valid UTF-8.", "Rename it."
    if status.st_size == 0:
        return None, "is empty.", "Copy or download it again."
    with path.open("rb") as file:
        head = file.read(formats.HEAD_BYTES)
    kind, problem = kind_of(head, path.suffix.lower())
    return kind, problem, READABLE if problem else ""


def kind_of(head: bytes, suffix: str) -> tuple[Kind | None, str]:
    """Returns what a file with these first HEAD_BYTES is, or a problem as words that follow its name."""
    kind = formats.sniff(head, suffix)
    if kind is None:
        return None, _mismatch(suffix)
    if kind == "pdf" and not head.startswith(b"%PDF-") and suffix != ".pdf":
        return None, "is not a PDF, though it mentions one."
    return kind, ""


def _mismatch(suffix: str) -> str:
    if suffix in formats.SUFFIXES:
        return f"is not what its name says: it does not begin like a {suffix[1:].upper()} file."
    return "is not of a kind that Penstock reads."


def _refused(
    found: FoundFile,
    problem: str,
    advice: str = "",
    *,
    missing: bool = False,
    version: Version | None = None,
) -> Candidate:
    message = f"{_said(found) if missing else found.document} {problem}"
    failure = Failure(stage="list", kind="BadInput", message=message, advice=advice)
    return Candidate(found, _prefix(found, version), failure=failure, missing=missing)


def _said(found: FoundFile) -> str:
    """Returns the input as the user wrote it: a document's name has no pattern's stars."""
    is_copy = found.is_mine or found.stored is not None  # its file has a name of ours
    name = found.document if is_copy else found.path.name
    return name if _is_text(found.path) and name.isprintable() else found.document


def _prefix(found: FoundFile, version: Version | None) -> str:
    """Begins the ids of the file's pages, or of the one item of what is not there."""
    stem = safe_stem(PurePosixPath(found.document).stem)
    if found.digest:
        return f"{stem}-{found.digest}"
    if version is None:
        facts = (found.document, found.place) if isinstance(found.stored, Addressed) else (found.document,)
        return f"{stem}-{hashed(*facts, 'missing')}"
    return file_prefix(found.document, version)


def _is_text(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
