"""Finds shards by their names, which say who wrote them, without Arrow: a short command does not load it."""

from __future__ import annotations

import re
from pathlib import Path

SHARD_NAME = re.compile(r"(?:[0-9]+-of-([0-9]+)-)?[0-9a-f]{24}\.parquet", re.ASCII)


def shards_in(folder: Path, rank: str = "") -> list[Path]:
    """Returns the shards of a folder by name, for a `rank` those that may hold rows of its own; other files
    there are somebody else's."""
    return sorted(path for path in folder.glob("*.parquet") if may_hold(path.name, rank))


def may_hold(name: str, rank: str = "") -> bool:
    """Returns whether a file is a shard with rows for a rank ("3-of-8"), or for anyone who is none.

    What another of as many ranks wrote holds none of its documents.
    """
    match = SHARD_NAME.fullmatch(name)
    if match is None:
        return False
    of_as_many = bool(rank) and match[1] == rank.rpartition("-")[2]
    return not of_as_many or name.startswith(f"{rank}-")
