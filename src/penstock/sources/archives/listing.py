"""Gives the documents of archives as files of this machine.

They are kept below the downloads, with the times that they have in the archive, so that their pages have the
same ids on every machine. What is there is not written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from penstock.errors import BadInput
from penstock.processes.child import Child
from penstock.sources import formats
from penstock.sources.archives.answers import open_archives
from penstock.sources.archives.members import Member, Members, NextMembers
from penstock.sources.ids import hashed, safe_document
from penstock.sources.inputs import FoundFile, temporary_folder
from penstock.sources.kept_files import SECOND, is_kept, kept_file
from penstock.sources.names.safe import safe_name

if TYPE_CHECKING:
    from typing import Self

MAX_DEPTH = 3  # an archive in a mail in an archive
DEADLINE_S = 120.0  # for an answer, of which the child fills 10 s
MAX_RATIO = 100  # unpacked to packed; texts pack 1:10, and what is beyond and above MAX_FREE_BYTES is a bomb
MAX_FREE_BYTES = 1 << 30  # that any archive may unpack to
FILE_BYTES = 1024  # what the smallest file takes


class ArchiveListing:
    """Lists archives. Holds the process that reads them; close it, or use it in a `with`."""

    def __init__(self, downloads: Path | None, left_out: Counter[str]) -> None:
        self._child: Child[NextMembers, Members] = Child(
            open_archives, name="the archive reader", confined=True
        )
        self._downloads = downloads
        self._left_out = left_out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    def batches(self, path: Path, kind: str, document: str, depth: int) -> Iterator[list[FoundFile]]:
        """Yields the documents of an archive, some at a time. Raises ItemError where it cannot be read.

        One that unpacks to far more than it is cannot. `depth` counts the archives that it lies in.
        """
        if depth >= MAX_DEPTH:
            raise BadInput(f"it lies in more than {MAX_DEPTH} archives.", "Unpack them, and give the files.")
        status = path.stat()
        version = hashed(document, status.st_size, status.st_mtime_ns)
        home = (self._downloads or temporary_folder()) / f"{safe_name(path.name)}-{version}"
        allowed = max(MAX_FREE_BYTES, MAX_RATIO * status.st_size)
        given = 0
        while True:
            answer = self._child.call(NextMembers(str(path), kind, given), DEADLINE_S)
            allowed -= sum(FILE_BYTES * (1 + len(one.beside)) + one.num_bytes for one in answer.found)
            if allowed < 0:
                raise BadInput("it unpacks to far more than it is: no documents are packed so well.")
            self._left_out.update(answer.left_out)
            files = [_kept(one, home, document, given + index) for index, one in enumerate(answer.found)]
            yield [replace(file, depth=depth + 1) for file in files]
            given += len(answer.found)
            if answer.is_last:
                return


def _kept(member: Member, home: Path, above: str, number: int) -> FoundFile:
    document = safe_document([*above.split("/"), *PurePosixPath(member.name).parts])
    path = home / f"{number:07d}-{safe_name(PurePosixPath(document).name)}"
    problem = member.problem
    if not problem:
        try:
            _keep(member.data, member.modified, path)
            for name, data in member.beside:
                _keep(data, member.modified, path.with_name(f"{path.stem}{formats.SAVED[0]}") / name)
        except OSError as exc:
            problem = f"cannot be kept in {home}: {exc.strerror}."
    return FoundFile(
        path, document, named=True, problem=problem, advice=member.advice, page=member.page, is_mine=True
    )


def _keep(data: bytes, modified: float, path: Path) -> None:
    """Writes a file, unless it is there."""
    if not is_kept(path, len(data)):
        with kept_file(path, int(modified * SECOND)) as part:
            part.write_bytes(data)
