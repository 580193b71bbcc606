"""Takes a body onto the disk as it comes: never all of it in memory, never without a deadline."""

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
HEARD_OUT = 16 << 20  # bytes of a refused body


class TooLarge(UsageError):
    """The body is longer than is allowed."""


class TooSlow(UsageError):
    """The body does not come."""


async def receive(stream: AsyncIterator[bytes], path: Path, max_bytes: int) -> tuple[str, int]:
    """Writes the body to `path`, where it lies safely on return; its SHA-256 and its size."""
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


async def hear_out(headers: Mapping[str, str], stream: AsyncIterator[bytes]) -> None:
    """Lets a refused body pass: most clients do not listen before they have sent all.

    One that asks first (curl, above 1 MB) listens, and one that is too long is not worth it.
    """
    if "expect" in headers or int(headers.get("content-length", 0)) > HEARD_OUT:
        return
    size = 0
    try:
        while size < HEARD_OUT and (block := await _block(stream)):
            size += len(block)
    except TooSlow:
        return


async def _block(stream: AsyncIterator[bytes]) -> bytes:
    """About BLOCK bytes, less at the end, none after it."""
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
        raise TooSlow(f"{size} bytes came in {BLOCK_S:g} s.", "Send it again over a better line.") from None
    return b"".join(pieces)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
