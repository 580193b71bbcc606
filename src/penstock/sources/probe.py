"""Counts pages, frames and rows of foreign files, in a process that can be killed.

`Probe` pickles; its `open` runs in the child. One child serves a whole listing, and questions
about many files travel together: a round trip costs as much as opening a small file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import BadInput, DeadlinePassed, Failure, ItemError, WorkerDied
from penstock.processes.child import Child
from penstock.sources import formats
from penstock.sources.files import Candidate
from penstock.sources.formats import Kind

if TYPE_CHECKING:
    from penstock.sources.tables import Rows

STAGE = "list"  # where failures of a listing say they happened
MAX_AT_ONCE = 64  # files a question; 10,000 TIFFs are then 160 round trips
IDS_AT_ONCE = 4096
PROBE_DEADLINE_S = 60.0  # rebuilding the table of a damaged PDF reads all of it, maybe 1 GB from a slow disk
COUNTED = formats.MULTI_FRAME | {"pdf"}


@dataclass(frozen=True, slots=True)
class CountParts:
    """How many pages or frames has each file? Answered by numbers and BadInputs."""

    files: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True, slots=True)
class FindColumns:
    """Where does this shard keep its pictures and ids? Answered by Columns."""

    path: str
    image: str | None
    own_id: str | None


@dataclass(frozen=True, slots=True)
class ReadIds:
    """The ids of the next rows, None where a row has none; an empty list ends the shard."""

    path: str
    column: str | None
    start: int


Question = CountParts | FindColumns | ReadIds


@dataclass(frozen=True)
class Probe:
    """Opens the function that answers, with what it needs to know of the run."""

    password: str | None = field(default=None, repr=False)

    def open(self) -> Callable[[Question], object]:
        from penstock.engines.image import decode

        decode.trust_our_bound()  # counting frames decodes none of them
        return _Answers(self.password)


class _Answers:
    def __init__(self, password: str | None) -> None:
        self._password = password
        self._rows: tuple[tuple[str, str | None], Rows] | None = None

    def __call__(self, question: Question) -> object:
        if isinstance(question, CountParts):
            return [self._count(path, kind) for path, kind in question.files]
        if isinstance(question, FindColumns):
            from penstock.sources.tables import find_columns

            return find_columns(question.path, question.image, question.own_id)
        return self._ids(question)

    def _count(self, path: str, kind: Kind) -> int | BadInput:
        try:
            return _count_pages(path, self._password) if kind == "pdf" else _count_frames(path)
        except BadInput as exc:
            return exc

    def _ids(self, question: ReadIds) -> Sequence[str | None]:
        rows = self._open_rows(question.path, question.column)
        if question.column is None:
            return [None] * rows.count(question.start, IDS_AT_ONCE)
        values = rows.read(question.start, IDS_AT_ONCE)
        return [None if value is None else str(value) for value in values]

    def _open_rows(self, path: str, column: str | None) -> Rows:
        from penstock.sources.tables import Rows

        if self._rows is None or self._rows[0] != (path, column):
            self.close()
            self._rows = ((path, column), Rows(path, column))
        return self._rows[1]

    def close(self) -> None:
        if self._rows is not None:
            self._rows[1].close()
            self._rows = None


def _count_pages(path: str, password: str | None) -> int:
    from penstock.engines.pdf.file import count_pages

    return count_pages(path, password)


def _count_frames(path: str) -> int:
    from penstock.engines.image.decode import PictureFile

    with PictureFile(path, max_pixels=1 << 62) as frames:  # reading tells of frames too large
        return frames.num_frames


class Counter:
    """Asks the child how many parts files have. Holds the child; close it, or use it in a `with`."""

    def __init__(self, password: str | None = None) -> None:
        self.child: Child[Question, Any] = Child(Probe(password).open, name="the file probe")

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close()

    def counts(self, files: Sequence[Candidate]) -> dict[Path, int | Failure]:
        """By path, for those files that may have several parts."""
        asked = [file for file in files if file.kind in COUNTED]
        return dict(self._ask(asked)) if asked else {}

    def _ask(self, files: Sequence[Candidate]) -> Iterator[tuple[Path, int | Failure]]:
        question = CountParts(tuple((str(file.found.path), file.kind) for file in files if file.kind))
        try:
            answers = self.child.call(question, PROBE_DEADLINE_S)
        except (WorkerDied, DeadlinePassed) as exc:
            if len(files) > 1:  # one of them did it: asked one by one, it fails alone
                for file in files:
                    yield from self._ask([file])
                return
            answers = [exc]
        for file, answer in zip(files, answers, strict=True):
            failed = isinstance(answer, ItemError)
            yield file.found.path, as_failure(file.found.document, answer) if failed else answer


def as_failure(where: str, exc: ItemError) -> Failure:
    return Failure(stage=STAGE, kind=_kind(exc), message=f"{where}: {exc.message}", advice=exc.advice)


def _kind(exc: ItemError) -> str:
    return "BadInput" if isinstance(exc, BadInput) else type(exc).__name__
