"""The disks that a power cut may leave, made from the record of a run's file calls.

What was synced is there: a file's bytes by fsync of the file, a name by fsync of its folder. Of everything
else a disk keeps what it likes. Three disks stand for all: nothing else is kept; all is kept; all names are
kept, and no bytes (a rename that overtakes its data).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

HEAD = struct.Struct("=c3xiqIIIi")  # as faulty_files.c writes it
CREATED, EMPTIED = 1, 2


@dataclass(frozen=True)
class Call:
    """One call that changed the disk, or a note."""

    op: str
    serial: int
    at: int
    path: str
    target: str
    data: bytes


def read_record(path: Path) -> Iterator[Call]:
    raw, place = path.read_bytes(), 0
    while place < len(raw):
        op, serial, at, a, b, size, _ = HEAD.unpack_from(raw, place)
        place += HEAD.size
        parts = []
        for length in (a, b, size):
            parts.append(raw[place : place + length])
            place += length
        yield Call(op.decode(), serial, at, parts[0].decode(), parts[1].decode(), parts[2])


@dataclass(eq=False)
class Node:
    """A file's bytes as programs see them, and as they are safe. `data` is None for a folder."""

    data: bytearray | None = None
    safe: bytes = b""


@dataclass
class Disk:
    """Names and bytes, each as programs see them and as they would survive."""

    live: dict[str, Node] = field(default_factory=dict)
    safe: dict[str, Node] = field(default_factory=dict)
    open: dict[int, Node] = field(default_factory=dict)
    noted: int = 0

    def apply(self, call: Call) -> None:
        match call.op:
            case "o":
                self._open(call)
            case "w":
                self._write(self.open[call.serial], call)
            case "t":
                node = self.open[call.serial]
                assert node.data is not None
                del node.data[call.at :]
            case "s":
                self._sync(call)
            case "r":
                self.live[call.target] = self.live.pop(call.path)
            case "m":
                self.live[call.path] = Node()
            case "u":
                self.live.pop(call.path)
            case "!":
                self.noted = call.at

    def _open(self, call: Call) -> None:
        if call.at == CREATED:
            self.live[call.path] = Node(bytearray())
        node = self.open[call.serial] = self.live[call.path]
        if call.at == EMPTIED and node.data is not None:
            node.data.clear()

    @staticmethod
    def _write(node: Node, call: Call) -> None:
        assert node.data is not None
        node.data[call.at : call.at + len(call.data)] = call.data

    def _sync(self, call: Call) -> None:
        node = self.open.get(call.serial)
        if node is not None and node.data is not None:
            node.safe = bytes(node.data)
            return
        folder = PurePosixPath(call.path)
        names = [name for name in {**self.live, **self.safe} if PurePosixPath(name).parent == folder]
        for name in names:
            if name in self.live:
                self.safe[name] = self.live[name]
            else:
                del self.safe[name]

    def after_power_cut(self) -> dict[str, dict[str, bytes | None]]:
        """Returns the disks that may be found: names with bytes, None for a folder."""
        return {
            "only what was synced": {
                name: None if node.data is None else node.safe
                for name, node in self.safe.items()
                if self._is_reachable(name)
            },
            "all of it": {
                name: None if node.data is None else bytes(node.data) for name, node in self.live.items()
            },
            "names without bytes": {
                name: None if node.data is None else node.safe for name, node in self.live.items()
            },
        }

    def _is_reachable(self, name: str) -> bool:
        """Returns whether each folder above is safe too, up to the one that was there before."""
        parents = [str(parent) for parent in PurePosixPath(name).parents]
        made = [parent for parent in parents if parent in self.live or parent in self.safe]
        return all(parent in self.safe for parent in made)


def written(files: dict[str, bytes | None], old: Path, new: Path) -> None:
    """Makes such a disk below `new`, where the record was of `old`."""
    new.mkdir(parents=True)
    for name, data in sorted(files.items()):
        path = new / Path(name).relative_to(old)
        if data is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
