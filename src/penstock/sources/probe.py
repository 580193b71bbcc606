"""Counts the pages of foreign files in a process that can be killed.

One child counts the pages of a whole listing; it starts with the first question. Questions about many
files travel together: a round trip costs as much as opening a small file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from penstock.errors import BadInput, DeadlinePassed, Failure, ItemError, WorkerDied
from penstock.processes.child import Child
from penstock.sources import formats
from penstock.sources.files import Candidate
from penstock.sources.probe_questions import CountParts, FileProbe, PartCount

STAGE = "list"  # where failures of a listing say they happened
MAX_AT_ONCE = 64  # files a question; 10,000 TIFFs are then 160 round trips
PROBE_DEADLINE_S = 60.0  # rebuilding the table of a damaged PDF reads all of it, maybe 1 GB from a slow disk
COUNTED = formats.MULTI_FRAME | {"pdf"}


class PageCounter:
    """Asks the child how many parts files have. Holds the child; close it, or use it in a `with`."""

    def __init__(self, password: str | None = None) -> None:
        self._child: Child[CountParts, Sequence[PartCount | ItemError]] = Child(
            FileProbe(password).open, name="the file probe", confined=True
        )

    def __enter__(self) -> PageCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    def counts(self, files: Sequence[Candidate]) -> dict[Path, PartCount | Failure]:
        """Returns counts by path, for the files that may have several parts."""
        asked = [file for file in files if file.kind in COUNTED]
        return dict(self._ask(asked)) if asked else {}

    def _ask(self, files: Sequence[Candidate]) -> Iterator[tuple[Path, PartCount | Failure]]:
        question = CountParts(tuple((str(file.found.path), file.kind) for file in files if file.kind))
        try:
            answers = self._child.call(question, PROBE_DEADLINE_S)
        except (WorkerDied, DeadlinePassed) as exc:
            if len(files) > 1:  # one of them caused it: asked one by one, it fails alone
                for file in files:
                    yield from self._ask([file])
                return
            answers = [exc]
        for file, answer in zip(files, answers, strict=True):
            document = file.found.document
            yield file.found.path, answer if isinstance(answer, PartCount) else as_failure(document, answer)


def as_failure(where: str, exc: ItemError) -> Failure:
    return Failure(stage=STAGE, kind=_kind(exc), message=f"{where}: {exc.message}", advice=exc.advice)


def _kind(exc: ItemError) -> str:
    return "BadInput" if isinstance(exc, BadInput) else type(exc).__name__
