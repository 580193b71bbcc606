"""Writes a request's body to disk as it arrives: never all of it in memory, never without a deadline."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO

from fastapi.concurrency import run_in_threadpool

from penstock.errors import UsageError

BLOCK = 256 * 1024  # bytes that are written together
BLOCK_S = 60.0  # for a block to come: 35 kbit/s, slower than any line that people send scans over
MAX_DISCARDED = 16 << 20  # bytes of a refused body


class TooLarge(UsageError):
    """The body is longer than allowed."""


class TooSlow(UsageError):
    """The body does not arrive in time."""


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


async def discard(headers: Mapping[str, str], stream: AsyncIterator[bytes]) -> None:
    """Reads and drops the body of a refused request: most clients read no answer before they have sent all.

    Skips clients that ask first (`Expect`: curl above 1 MB), and bodies that are too long to be worth it.
    """
    if "expect" in headers or int(headers.get("content-length", 0)) > MAX_DISCARDED:
        return
    size = 0
    try:
        while size < MAX_DISCARDED and (block := await _block(stream)):
            size += len(block)
    except TooSlow:
        return


async def _block(stream: AsyncIterator[bytes]) -> bytes:
    """Returns about BLOCK bytes, fewer at the end, none after it."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BLOCK_S):
            async for piece in stream:
                pieces.append(piece)
                size += len(piece)
                if size >= BLOCK:
                    break
    except TimeoutError:
        raise TooSlow(f"Only {size} bytes arrived in {BLOCK_S:g} s.", "Use a faster connection.") from None
    return b"".join(pieces)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
