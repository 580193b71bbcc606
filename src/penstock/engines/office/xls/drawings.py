"""Pictures of a workbook: kept once for all sheets, and named by number where a sheet shows them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from penstock.engines.office.older.art_records import ArtRecord, art_records

ENTRY, PROPERTIES = 0xF007, 0xF00B
ENTRY_BYTES, NAME_BYTES_AT = 36, 33  # of an entry before its picture; where the length of a name stands
BITMAPS = frozenset({0xF01D, 0xF01E, 0xF01F, 0xF029, 0xF02A})  # JPEG, PNG, DIB, TIFF, JPEG
HASH_BYTES = 16  # before a bitmap, and one byte
TWO_HASHES = frozenset({0x46B, 0x6E3, 0x6E1, 0x7A9, 0x6E5})
PICTURE, PROPERTY, PROPERTY_BYTES = 0x104, 0x3FFF, 6  # the property that names a picture
MAX_PICTURES = 10_000


def kept_pictures(data: bytes) -> list[bytes]:
    """Returns the pictures of the workbook in the order of their numbers; b"" for one that is not there."""
    return [_of_entry(found.body) for found in art_records(data) if found.kind == ENTRY][:MAX_PICTURES]


def shown_pictures(data: bytes) -> list[int]:
    """Returns the numbers of the pictures that a sheet shows, from 1, in their order."""
    found = (found for found in art_records(data) if found.kind == PROPERTIES)
    return [number for each in found for number in _pictures_named(each)][:MAX_PICTURES]


def _of_entry(body: bytes) -> bytes:
    if len(body) <= ENTRY_BYTES:
        return b""
    kept = next(art_records(body[ENTRY_BYTES + body[NAME_BYTES_AT] :]), None)
    if kept is None or kept.kind not in BITMAPS:
        return kept.body if kept is not None else b""
    return kept.body[HASH_BYTES * (1 + (kept.instance in TWO_HASHES)) + 1 :]


def _pictures_named(found: ArtRecord) -> Iterator[int]:
    for at in range(0, min(found.instance * PROPERTY_BYTES, len(found.body)) - 5, PROPERTY_BYTES):
        name, value = struct.unpack_from("<HI", found.body, at)
        if name & PROPERTY == PICTURE:
            yield value
