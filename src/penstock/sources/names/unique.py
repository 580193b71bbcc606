"""Names of documents that would meet keep as much of their folders as tells them apart.

Decided from what the user wrote before anything is opened, so that a name depends neither on the order of the
inputs nor on what lies in a folder: of `a/x.pdf b/x.png` both keep their folder, and so do two folders.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path


def kept_parts(files: Iterable[Path], folders: Iterable[Path]) -> Mapping[Path, tuple[str, ...]]:
    """Returns the parts of its path that begin a document's name, for files and folders that need any.

    Of a file they include its own name. Paths are absolute, each for one file.
    """
    groups: dict[str, set[Path]] = defaultdict(set)
    for path in files:
        groups[_folded(path.stem)].add(path)
    inside = {folder / "any" for folder in folders}  # what lies in them they tell apart
    kept = {path.parent: parts[:-1] for path, parts in _apart(inside).items()} if len(inside) > 1 else {}
    for group in groups.values():
        if len({path.parent for path in group}) > 1:
            kept |= _apart(group)
    return kept


def _apart(paths: set[Path]) -> dict[Path, tuple[str, ...]]:
    """Returns the shortest ends of the paths, all of one length, by which their folders differ."""
    parents = {path: _folded_parts(path.parent) for path in paths}
    longest = max(map(len, parents.values()))
    for depth in range(1, longest + 1):
        ends = {path: parents[path][-depth:] for path in paths}
        if len(set(ends.values())) == len(set(parents.values())):
            break
    return {path: path.parts[1:][-depth - 1 :] for path in paths}


def _folded(name: str) -> str:
    """As a file system may see it that does not tell capitals apart."""
    return unicodedata.normalize("NFC", name).casefold()


def _folded_parts(path: Path) -> tuple[str, ...]:
    return tuple(map(_folded, path.parts))
