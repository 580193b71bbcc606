"""Bytes that were right once, with a few things wrong."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Sequence

# what programmers forget: limits of the usual numbers, in both byte orders
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
PIECES = (
    b"\0" * 64,
    b"\xff" * 64,
    b"%s%n",
    b"[" * 300,
    b"{" * 300,
    b"9" * 300,
    b"<" * 300,
    b"\r\n\r\n",
    b"../../",
)


def mutated(chance: random.Random, seeds: Sequence[bytes], max_bytes: int) -> bytes:
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 2, 3, 6, 12))):
        chance.choice((_flip, _number, _insert, _cut, _double, _splice, _end))(chance, data, seeds)
    return bytes(data[:max_bytes])


def mutated_inside(chance: random.Random, seeds: Sequence[bytes], max_bytes: int) -> bytes:
    """Changes one part of a ZIP and packs it again, so that what reads the part meets it; else all bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(chance.choice(seeds))) as package:
            parts = {info.filename: package.read(info) for info in package.infolist()}
    except (zipfile.BadZipFile, OSError):
        return mutated(chance, seeds, max_bytes)
    if not parts:
        return mutated(chance, seeds, max_bytes)
    name = chance.choice(list(parts))
    parts[name] = mutated(chance, [parts[name] or b"x"], max_bytes)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for part, data in parts.items():
            package.writestr(part, data)
    return made.getvalue()


def _place(chance: random.Random, data: bytearray) -> int:
    """Half of the time near the beginning: headers are there."""
    return chance.randint(0, min(len(data), 512) if chance.random() < 0.5 else len(data))


def _flip(chance: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[_place(chance, data) % len(data)] ^= 1 << chance.randrange(8)


def _number(chance: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at, size = _place(chance, data), chance.choice("BHI")
    number = chance.choice(NUMBERS) & ((1 << 8 * struct.calcsize(size)) - 1)
    data[at : at + struct.calcsize(size)] = struct.pack(chance.choice("<>") + size, number)


def _insert(chance: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(chance, data)
    data[at:at] = chance.choice(PIECES)


def _cut(chance: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(chance, data)
    del data[at : at + chance.randint(1, 256)]


def _double(chance: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(chance, data)
    data[at:at] = data[at : at + chance.randint(1, 4096)] * chance.randint(1, 3)


def _splice(chance: random.Random, data: bytearray, seeds: Sequence[bytes]) -> None:
    other = chance.choice(seeds)
    at = chance.randint(0, len(data))
    data[at:] = other[chance.randint(0, len(other)) :]


def _end(chance: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[_place(chance, data) :]
