"""Writes a request's body to disk as it arrives: never all of it in memory.

Its pace is kept by `guard.arrivals`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from fastapi.concurrency import run_in_threadpool

from penstock.errors import UsageError

BLOCK = 256 * 1024  # bytes that are written together


class TooLarge(UsageError):
    """The body is longer than allowed."""


async def receive(stream: AsyncIterator[bytes], path: Path, max_bytes: int) -> tuple[str, int]:
    """Writes the body to `path` and syncs it. Returns its SHA-256 and its size."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        while block := await _block(stream):
            size += len(block)
            if size > max_bytes:
                raise TooLarge(f"A document may have {max_bytes >> 20} MB at most.")
            digest.update(block)
            await run_in_threadpool(file.write, block)
        await run_in_threadpool(_sync, file)
    return digest.hexdigest(), size


async def _block(stream: AsyncIterator[bytes]) -> bytes:
    """Returns about BLOCK bytes, fewer at the end, none after it."""
    pieces: list[bytes] = []
    size = 0
    async for piece in stream:
        pieces.append(piece)
        size += len(piece)
        if size >= BLOCK:
            break
    return b"".join(pieces)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
