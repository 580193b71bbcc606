"""Finds files with the same bytes among those that are listed.

A file is hashed only when another of its size was seen. Remembers a hash and how its ids begin of each file
that was hashed, and the paths of those whose size is new.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from penstock.sources.formats import Kind

CHUNK = 1 << 20
Digest = bytes


class Duplicates:
    """Remembers the files of one listing. With `at_once` each is hashed as it comes: it may be deleted."""

    def __init__(self, at_once: bool = False) -> None:
        self._at_once = at_once
        self._alone: dict[tuple[Kind, int], tuple[Path, str]] = {}  # the first of its kind and size
        self._hashed: dict[tuple[Kind, Digest], str] = {}

    def first_of(self, path: Path, kind: Kind, prefix: str) -> str:
        """Returns the prefix of the first file with these bytes, "" if this is the first.

        A file that cannot be read is like no other: opening it later gives the reason.
        """
        try:
            if self._at_once:
                first = self._hashed.setdefault((kind, _digest(path)), prefix)
                return "" if first == prefix else first
            size = path.stat().st_size
            known = self._alone.setdefault((kind, size), (path, prefix))
            if known[1] == prefix:
                return ""
            self._hashed.setdefault((kind, _digest(known[0])), known[1])
            first = self._hashed.setdefault((kind, _digest(path)), prefix)
        except OSError:
            return ""
        return "" if first == prefix else first


def _digest(path: Path) -> Digest:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
