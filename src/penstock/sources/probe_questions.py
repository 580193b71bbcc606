"""The questions of a listing about foreign files, and what opens in the children that answer.

The children load this module and no more of a listing: each of our own that they load is waited for. What
answers is named and not imported: it needs this module, and PDFium, OpenCV or pyarrow, for the child alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

from penstock.errors import BadInput, DeadlinePassed
from penstock.sources.formats import Kind


@dataclass(frozen=True, slots=True)
class CountParts:
    """How many pages or frames has each file? Answered by PartCounts and BadInputs.

    `in_slices`: a file that takes long is left, and its answer is DeadlinePassed.
    """

    files: tuple[tuple[str, Kind], ...]
    in_slices: bool = False


@dataclass(frozen=True, slots=True)
class PartCount:
    """The pages or frames that a file has, and the number that it claims."""

    there: int
    claimed: int


@dataclass(frozen=True, slots=True)
class FindColumns:
    """Where does this shard keep its pictures and ids? Answered by Columns."""

    path: str
    image: str | None
    own_id: str | None


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a table keeps its pictures and its ids."""

    image: str
    id: str | None
    is_parquet: bool


@dataclass(frozen=True, slots=True)
class ReadIds:
    """The ids of the next rows, None where a row has none; an empty list ends the shard."""

    path: str
    column: str | None
    start: int


TableQuestion = FindColumns | ReadIds


@dataclass(frozen=True)
class FileProbe:
    """Opens, in the child, what counts pages and frames."""

    password: str | None = field(default=None, repr=False)

    def open(self) -> Callable[[CountParts], list[PartCount | BadInput | DeadlinePassed]]:
        answers: Callable[[CountParts], list[PartCount | BadInput | DeadlinePassed]] = import_module(
            "penstock.sources.file_answers"
        ).FileAnswers(self.password)
        return answers


def open_tables() -> Callable[[TableQuestion], object]:
    answers: Callable[[TableQuestion], object] = import_module(
        "penstock.sources.table_answers"
    ).TableAnswers()
    return answers
