"""Font files without what we do not draw: WOFF opened, other glyphs emptied, hints and features left out.

TrueType outlines alone; a font is its tables by name.
"""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

import numpy as np

Tables = dict[bytes, bytes]
KEPT = (b"OS/2", b"cmap", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp", b"name", b"post")
# flags of a part of a composed glyph
WORDS, SCALED, MORE, TWO_SCALES, MATRIX = 0x1, 0x8, 0x20, 0x40, 0x80


def tables_of(content: bytes) -> Tables:
    """The tables of a TrueType or WOFF file."""
    count = struct.unpack_from(">H", content, 12 if content[:4] == b"wOFF" else 4)[0]
    if content[:4] != b"wOFF":
        entries = (struct.unpack_from(">4sIII", content, 12 + 16 * number) for number in range(count))
        return {name: content[at : at + size] for name, _, at, size in entries}
    found = {}
    for number in range(count):
        name, at, packed, size, _ = struct.unpack_from(">4sIIII", content, 44 + 20 * number)
        part = content[at : at + packed]
        found[name] = zlib.decompress(part) if packed < size else part
    return found


def slimmed(tables: Tables, wanted: set[int]) -> tuple[bytes, set[int]]:
    """A font file with the outlines of the wanted characters alone, and those of them that it has."""
    glyphs = _glyphs(tables)
    characters = {code: glyph for code, glyph in character_map(tables[b"cmap"]).items() if code in wanted}
    needed = {0, *characters.values()}
    while fresh := {part for glyph in needed for part in _parts(glyphs[glyph])} - needed:
        needed |= fresh
    kept = [glyph if number in needed else b"" for number, glyph in enumerate(glyphs)]
    ends = np.cumsum([0, *(len(glyph) + -len(glyph) % 4 for glyph in kept)]).astype(">u4")
    outlines = b"".join(glyph + bytes(-len(glyph) % 4) for glyph in kept)
    head = bytearray(tables[b"head"])
    struct.pack_into(">h", head, 50, 1)  # long offsets
    small = {name: tables[name] for name in KEPT if name in tables}
    small |= {b"glyf": outlines, b"loca": ends.tobytes(), b"head": bytes(head)}
    has = {code for code, glyph in characters.items() if glyphs[glyph] or chr(code).isspace()}
    return file_of(small), has


def file_of(tables: Tables) -> bytes:
    """A TrueType file. Checksums are left at zero: FreeType does not look at them."""
    header = struct.pack(">IHHHH", 0x00010000, len(tables), 0, 0, 0)
    at = len(header) + 16 * len(tables)
    entries, body = [], []
    for name in sorted(tables):
        content = tables[name] + bytes(-len(tables[name]) % 4)
        entries.append(struct.pack(">4sIII", name, 0, at, len(tables[name])))
        body.append(content)
        at += len(content)
    return b"".join((header, *entries, *body))


def _glyphs(tables: Tables) -> list[bytes]:
    long = struct.unpack_from(">h", tables[b"head"], 50)[0]
    places = np.frombuffer(tables[b"loca"], ">u4" if long else ">u2").astype(int) * (1 if long else 2)
    count = struct.unpack_from(">H", tables[b"maxp"], 4)[0]
    return [tables[b"glyf"][begin:end] for begin, end in pairwise(places[: count + 1].tolist())]


def _parts(glyph: bytes) -> list[int]:
    """The glyphs that one is composed of."""
    if len(glyph) < 10 or struct.unpack_from(">h", glyph)[0] >= 0:
        return []
    found, at, flags = [], 10, MORE
    while flags & MORE:
        flags, part = struct.unpack_from(">HH", glyph, at)
        found.append(part)
        at += 8 if flags & WORDS else 6
        at += 2 if flags & SCALED else 4 if flags & TWO_SCALES else 8 if flags & MATRIX else 0
    return found


def character_map(table: bytes) -> dict[int, int]:
    """Glyphs by character, of a font's long map (12) or else its short one (4)."""
    maps = {}
    for number in range(struct.unpack_from(">H", table, 2)[0]):
        platform, _, at = struct.unpack_from(">HHI", table, 4 + 8 * number)
        if platform in (0, 3):
            maps[struct.unpack_from(">H", table, at)[0]] = at
    if 12 in maps:
        return _long_map(table, maps[12])
    return _short_map(table, maps[4])


def _long_map(table: bytes, at: int) -> dict[int, int]:
    found = {}
    for number in range(struct.unpack_from(">I", table, at + 12)[0]):
        first, last, glyph = struct.unpack_from(">III", table, at + 16 + 12 * number)
        found.update(zip(range(first, last + 1), range(glyph, glyph + last - first + 1), strict=True))
    return found


def _short_map(table: bytes, at: int) -> dict[int, int]:
    count = struct.unpack_from(">H", table, at + 6)[0] // 2
    ends, starts, shifts, offsets = (
        struct.unpack_from(f">{count}H", table, at + 14 + 2 * count * part + (2 if part else 0))
        for part in range(4)
    )
    found = {}
    for number, (first, last, shift, offset) in enumerate(zip(starts, ends, shifts, offsets, strict=True)):
        for code in range(first, min(last, 0xFFFE) + 1):
            glyph = code
            if offset:
                place = at + 16 + 6 * count + 2 * number + offset + 2 * (code - first)
                glyph = struct.unpack_from(">H", table, place)[0]
            if glyph or not offset:
                found[code] = (glyph + shift) & 0xFFFF
    return {code: glyph for code, glyph in found.items() if glyph}
