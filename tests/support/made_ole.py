"""The smallest OLE files that hold streams, and records of the kind that PPT and drawings are made of."""

from __future__ import annotations

import struct

SECTOR = 512
MIN_STREAM = 4096  # a shorter one lies in a stream of small ones
FREE, END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
HOLDS_OTHERS = 0xF


def art(kind: int, body: bytes, head: int = 0) -> bytes:
    return struct.pack("<HHI", head, kind, len(body)) + body


def in_ole(**streams: bytes) -> bytes:
    """Returns an OLE file with up to three streams; `_` in a name stands for a space."""
    chain, entries, bodies = [TABLE, END], b"", b""
    for number, (name, stream) in enumerate(streams.items(), 1):
        body = stream.ljust(-(-max(len(stream), MIN_STREAM) // SECTOR) * SECTOR, b"\0")
        start, next_one = len(chain), number + 1 if number < len(streams) else FREE
        chain += [*range(start + 1, start + len(body) // SECTOR), END]
        entries += _entry(name.replace("_", " "), 2, start, len(body), right=next_one)
        bodies += body
    table = struct.pack(f"<{SECTOR // 4}I", *chain, *[FREE] * (SECTOR // 4 - len(chain)))
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    head += struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<9I", 0, 1, 1, 0, MIN_STREAM, END, 0, END, 0)
    head += struct.pack("<109I", 0, *[FREE] * 108)
    root = _entry("Root Entry", 5, END, 0, child=1)
    return head + table + (root + entries).ljust(SECTOR, b"\0") + bodies


def _entry(name: str, kind: int, start: int, size: int, child: int = FREE, right: int = FREE) -> bytes:
    letters = name.encode("utf-16-le") + b"\0\0"
    head = letters.ljust(64, b"\0") + struct.pack("<HBB3I", len(letters), kind, 1, FREE, right, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)
