"""One of several ranks that read the same inputs into the same OUT, without a master between them.

Every rank lists all inputs and keeps the documents whose name's hash falls to it, so ranks need to know
nothing of each other: a Slurm array, Kubernetes jobs or shells over ssh will do.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from penstock.errors import UsageError

MAX_RANKS = 100_000
_WRITTEN = re.compile(r"([0-9]{1,6})/([0-9]{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Partition:
    """
    >>> third = Partition.parse("3/8")
    >>> [name for name in ("a.pdf", "b.pdf", "c.pdf", "d.pdf") if Partition(1, 1).holds(name)]
    ['a.pdf', 'b.pdf', 'c.pdf', 'd.pdf']
    """

    rank: int  # from 1
    ranks: int

    @classmethod
    def parse(cls, text: str) -> Partition:
        """Raises UsageError for anything but RANK/RANKS with 1 <= RANK <= RANKS."""
        match = _WRITTEN.fullmatch(text.strip())
        rank, ranks = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= rank <= ranks <= MAX_RANKS:
            raise UsageError(
                f"{text!r} is no partition.", "Write RANK/RANKS, counted from 1: 3/8 is the third of eight."
            )
        return cls(rank, ranks)

    @property
    def name(self) -> str:
        """The name of this rank's folder below OUT/ranks."""
        return f"{self.rank}-of-{self.ranks}"

    def holds(self, key: str) -> bool:
        """Returns whether a document, or a row of a data set, falls to this rank; to exactly one of all."""
        digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8]) % self.ranks == self.rank - 1

    def __str__(self) -> str:
        return f"{self.rank}/{self.ranks}"


ALL = Partition(1, 1)  # one rank that reads everything
