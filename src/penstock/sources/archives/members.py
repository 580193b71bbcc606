"""The question of a listing about an archive, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from penstock.sources import formats
from penstock.sources.formats import HEAD_BYTES, SUFFIXES

MAX_MEMBER_BYTES = 256 << 20
TEXTS = frozenset({"text", "markdown", "csv", "eml"})  # beside pictures they are labels and notes
LEFT_OUT = formats.TABLES | {"warc", "wacz"}


@dataclass(frozen=True, slots=True)
class Member:
    """A document of an archive, or, with `problem`, why it cannot be read.

    `page` counts, from 0, the pages of a document whose pages are files of their own. The last field
    holds the pictures of a saved web page, by their names below its folder.
    """

    name: str  # below the archive's own
    modified: float
    data: bytes = field(default=b"", repr=False)
    problem: str = ""
    advice: str = ""
    page: int | None = None
    beside: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)

    @property
    def num_bytes(self) -> int:
        return len(self.data) + sum(len(data) for _, data in self.beside)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something else than a document: the ending or the type of what was passed by."""

    kind: str


@dataclass(frozen=True, slots=True)
class NextMembers:
    """The next documents of the archive at `path`, after the first `start`."""

    path: str
    kind: str
    start: int


@dataclass(frozen=True, slots=True)
class Members:
    """Some of an archive's documents, in its order, and how much of what else was passed by."""

    found: tuple[Member, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    is_last: bool = False


def is_document(data: bytes, name: str, with_text: bool = False) -> bool:
    """Returns whether it is read, or its name says that it should be; plain text only `with_text`."""
    suffix = PurePosixPath(name).suffix.lower()
    kind = formats.sniff(data[:HEAD_BYTES], suffix)
    claims = suffix in SUFFIXES and suffix not in formats.TABLE_SUFFIXES
    left_out = LEFT_OUT if with_text else LEFT_OUT | TEXTS
    return (claims and kind is None) or (kind is not None and kind not in left_out)
