"""Makes random trees of a user's files and links around and inside OUT, and remembers every byte of them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.store.contents import FILES, FOLDERS
from penstock.store.ownership import MARK, is_ours

TOPS = (*FOLDERS, "tmp", "downloads", ".penstock", ".penstock/tmp", ".lock", "photos", "my notes", "2024")
LEAVES = (
    "notes.txt", "sample.md", "report.pdf", "index.json", "part.parquet", "made", "lock", ".hidden",
    "run.json", "123-abc.part", "tables-old", "0123456789abcdef", ".incoming-x", ".deleted-x",
    "sample.json", "한글.txt", "507f1f77bcf86cd799439011.json",
)  # fmt: skip


@dataclass
class Tree:
    """A folder `home` with OUT in it. `theirs` holds each path with its bytes, or a link's target."""

    home: Path
    out: Path
    theirs: dict[Path, bytes | str] = field(default_factory=dict)

    def changed(self) -> list[str]:
        """Returns which of the user's files and links are not what they were."""
        return self._named(path for path, was in self.theirs.items() if _content(path) != was)

    def strange(self) -> list[str]:
        """Returns what is neither the user's nor known to be ours, such as a file written through a link."""
        found = (path for path in _files(self.home) if path not in self.theirs)
        return self._named(path for path in found if not self._is_known(path))

    def _is_known(self, path: Path) -> bool:
        if not path.is_relative_to(self.out):
            return False
        return MARK in path.relative_to(self.out).parts or is_ours(self.out, path)

    def _named(self, paths: Iterable[Path]) -> list[str]:
        return [str(path.relative_to(self.home)) for path in paths]

    def add(self, path: Path, was: bytes | str) -> None:
        """Puts a file (bytes) or a link (its target) there, unless something is in its way."""
        try:
            if os.path.lexists(path):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(was, str):
                path.symlink_to(was)
            else:
                path.write_bytes(was)
        except (FileExistsError, NotADirectoryError):  # a file stands where a folder is needed
            return
        if path.resolve(strict=False).is_relative_to(self.home.resolve()):
            self.theirs[path] = was
            self.theirs[path.parent.resolve() / path.name] = was  # where a link of theirs led it


def _content(path: Path) -> bytes | str | None:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None


def _files(home: Path) -> Iterator[Path]:
    """Yields all files and links below a folder; follows none."""
    for root, folders, files in os.walk(home, followlinks=False):
        for name in (*files, *folders):
            path = Path(root, name)
            if path.is_symlink() or not path.is_dir():
                yield path


def random_tree(home: Path, seed: int) -> Tree:
    """Returns a new tree; the same seed gives the same."""
    chance = random.Random(seed)
    tree = Tree(home, home / "out")
    tree.out.mkdir(parents=True)
    for number in range(chance.randint(1, 4)):
        tree.add(home / "elsewhere" / f"file{number}", chance.randbytes(8))
        tree.add(home / "elsewhere" / LEAVES[number], chance.randbytes(8))
    plant(tree, chance, chance.randint(1, 8))
    return tree


def plant(tree: Tree, chance: random.Random, count: int) -> None:
    """Adds files and links at places that Penstock might take for its own, and in folders that it made."""
    for _ in range(count):
        kind = chance.random()
        top = chance.choice(TOPS)
        if kind < 0.15:
            target = chance.choice(("elsewhere", "elsewhere/file0", "elsewhere/nothing"))
            tree.add(tree.out / chance.choice((*TOPS, *FILES)), str(tree.home / target))
        elif kind < 0.25:
            tree.add(tree.out / chance.choice((*FILES, *TOPS)), chance.randbytes(16))
        elif kind < 0.5:
            tree.add(chance.choice(_folders(tree.out)) / chance.choice(LEAVES), chance.randbytes(16))
        else:
            deep = chance.choice(("", "a", "a/b"))
            tree.add(tree.out / top / deep / chance.choice(LEAVES), chance.randbytes(16))


def _folders(out: Path) -> list[Path]:
    found = [out]
    for root, folders, _ in os.walk(out, followlinks=False):
        found += [Path(root, name) for name in sorted(folders) if not Path(root, name).is_symlink()]
    return found
