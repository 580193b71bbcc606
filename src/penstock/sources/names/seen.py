"""Remembers which names were seen, in some ten bytes each however long they are: a list may have billions.

A name is kept as 80 bits of its hash. Among two billion names the chance that any is taken for another is two
in a million. The same on every machine: names of documents depend on it.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable


class SeenNames:
    """Names that were seen. Two bytes of a hash choose a drawer, eight are kept there in order."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._drawers: dict[bytes, array[int]] = {}
        for name in names:
            self.add(name)

    def __contains__(self, name: str) -> bool:
        drawer, key, place = self._place(name)
        return place < len(drawer) and drawer[place] == key

    def add(self, name: str) -> None:
        drawer, key, place = self._place(name)
        if place == len(drawer) or drawer[place] != key:
            drawer.insert(place, key)

    def _place(self, name: str) -> tuple[array[int], int, int]:
        """Returns the name's drawer, its number, and where that stands in the drawer or would."""
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=10).digest()
        drawer = self._drawers.setdefault(digest[:2], array("Q"))
        key = int.from_bytes(digest[2:])
        return drawer, key, bisect_left(drawer, key)
