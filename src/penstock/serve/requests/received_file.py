"""Takes a request's body as it arrives: to disk, never all of a long one in memory.

Its pace is kept by `guard.arrivals`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from fastapi.concurrency import run_in_threadpool

from penstock.serve.errors import NotADocument, TooLarge
from penstock.sizes import file_size
from penstock.sources.files import kind_of
from penstock.sources.formats import HEAD_BYTES, READABLE
from penstock.store.atomic_files import store_errors, write_synced

BLOCK = 256 * 1024  # bytes that are written together


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that has arrived, at `path` below OUT until a job takes it; a small one may be in memory.

    A hop to another thread costs more than a small file's bytes: the one that makes the job writes them.
    """

    path: Path
    name: str
    digest: str
    size: int = 0
    unwritten: bytes | None = field(default=None, repr=False)

    def kind(self) -> str | None:
        """Returns what it is. Raises NotADocument for what the listing would refuse by its first bytes."""
        if self.unwritten is not None:
            head = self.unwritten[:HEAD_BYTES]
        else:
            with store_errors(self.path), self.path.open("rb") as file:
                head = file.read(HEAD_BYTES)
        kind, problem = kind_of(head, PurePosixPath(self.name).suffix.lower())
        if problem:
            raise NotADocument(f"{self.name} {problem}", READABLE)
        return kind

    def put_on_disk(self) -> None:
        """Writes and syncs it unless it is on the disk already."""
        if self.unwritten is not None:
            write_synced(self.path, self.unwritten)


async def receive(
    stream: AsyncIterator[bytes],
    path: Path,
    name: str,
    max_bytes: int,
    max_in_memory: int = 0,
    is_whole: Callable[[], bool] = lambda: False,
) -> ReceivedFile:
    """Receives one file; it is on the disk and synced unless it has at most `max_in_memory` bytes.

    `is_whole` says whether all of it has come with its first piece, as a small one does.
    """
    first = await anext(stream, b"")
    if not is_whole():
        path.touch()  # a full disk is told of before the client sends more, and who looks sees what arrives
    block = await _block(stream, first)
    _check_size(len(block), max_bytes)
    if len(block) <= min(max_in_memory, BLOCK - 1):  # a full block may have others behind it
        return ReceivedFile(path, name, hashlib.sha256(block).hexdigest(), len(block), block)
    digest, size = await _receive_long(block, stream, path, max_bytes)
    return ReceivedFile(path, name, digest, size)


async def _receive_long(
    block: bytes, stream: AsyncIterator[bytes], path: Path, max_bytes: int
) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        while block:
            size += len(block)
            _check_size(size, max_bytes)
            digest.update(block)
            await run_in_threadpool(file.write, block)
            block = await _block(stream)
        await run_in_threadpool(_sync, file)
    return digest.hexdigest(), size


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise TooLarge(f"A document may have {file_size(max_bytes)} at most.")


async def _block(stream: AsyncIterator[bytes], first: bytes = b"") -> bytes:
    """Returns about BLOCK bytes that begin with the first piece, fewer at the end, none after it."""
    pieces, size = [first], len(first)
    if size >= BLOCK:
        return first
    async for piece in stream:
        pieces.append(piece)
        size += len(piece)
        if size >= BLOCK:
            break
    return b"".join(pieces)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
