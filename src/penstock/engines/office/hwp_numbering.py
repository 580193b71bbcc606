"""How an HWP 5 numbers its paragraphs and its outline: the forms of its numberings, as HWPX names them.

rhwp gives paragraphs their numbering and level, and not what a number looks like, nor which numbering the
outline of a section has: records of the file say so. Where they cannot be read, paragraphs have no number.
"""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

NUMBERING, CONTROL = 0x17, 0x47  # tags of records
SECTION = b"dces"  # of a control, backwards: what it says of its section
OUTLINE_AT = 18  # in it
LEVELS, MORE_LEVELS = 7, 3  # of a numbering; the last three came later
COMPRESSED = 1  # a flag of the file
FLAGS_AT = 36  # in its header
HEAD_BYTES = 12  # before the form of a level: flags, width, distance, letters' shape
LONG = 0xFFF  # a record that is as long has its length behind its head
MAX_BYTES = 64 << 20
MAX_FIRST_BYTES = 1 << 20  # of a section: its first paragraph
MAX_NUMBERINGS = 10_000
MAX_SECTIONS = 1_000
KINDS = (
    "DIGIT", "CIRCLED_DIGIT", "ROMAN_CAPITAL", "ROMAN_SMALL", "LATIN_CAPITAL", "LATIN_SMALL",
    "CIRCLED_LATIN_CAPITAL", "CIRCLED_LATIN_SMALL", "HANGUL_SYLLABLE", "CIRCLED_HANGUL_SYLLABLE",
    "HANGUL_JAMO",
)  # fmt: skip


class NumberLevel(NamedTuple):
    """A level of a numbering: `^1` in its form is the number of the first level."""

    kind: str
    form: str
    start: int = 1


@dataclass(frozen=True, slots=True)
class HwpNumbers:
    """Numberings by their ids, and the id that the outline of each section has."""

    numberings: Mapping[str, list[NumberLevel]] = field(default_factory=dict)
    outlines: tuple[str, ...] = ()


def hwp_numbers(path: str) -> HwpNumbers:
    """Returns what the file says of its numbers; nothing where that cannot be read."""
    try:
        olefile: Any = importlib.import_module("olefile")
        with olefile.OleFileIO(path) as file:
            header = file.openstream("FileHeader").read(FLAGS_AT + 4)
            is_packed = bool(int.from_bytes(header[FLAGS_AT:], "little") & COMPRESSED)
            records = _records(_opened(file, "DocInfo", is_packed, MAX_BYTES))
            found = islice((body for tag, body in records if tag == NUMBERING), MAX_NUMBERINGS)
            numberings = {str(number): _levels(body) for number, body in enumerate(found, 1)}
            return HwpNumbers(numberings, tuple(_outlines(file, is_packed)))
    except Exception:  # foreign code on foreign bytes; the words of the file are read without it
        return HwpNumbers()


def _opened(file: Any, name: str, is_packed: bool, max_bytes: int) -> bytes:
    data: bytes = file.openstream(name).read(max_bytes)
    return zlib.decompressobj(-15).decompress(data, max_bytes) if is_packed else data


def _outlines(file: Any, is_packed: bool) -> Iterator[str]:
    """Yields the numbering of each section's outline, which its first paragraph says."""
    for number in range(MAX_SECTIONS):
        name = f"BodyText/Section{number}"
        if not file.exists(name):
            return
        for tag, body in _records(_opened(file, name, is_packed, MAX_FIRST_BYTES)):
            if tag == CONTROL and body[:4] == SECTION and len(body) >= OUTLINE_AT + 2:
                yield str(int.from_bytes(body[OUTLINE_AT : OUTLINE_AT + 2], "little"))
                break
        else:
            yield ""


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        (head,) = struct.unpack_from("<I", data, at)
        at, size = at + 4, head >> 20
        if size == LONG:
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
        yield head & 0x3FF, data[at : at + size]
        at += size


def _levels(body: bytes) -> list[NumberLevel]:
    levels, at = _forms(body, 0, LEVELS)
    at += 2  # the number that the numbering as a whole begins with
    levels = _started(levels, body, at)
    at += 4 * LEVELS
    if at < len(body):
        more, at = _forms(body, at, MORE_LEVELS)
        levels += _started(more, body, at)
    return levels


def _forms(body: bytes, at: int, count: int) -> tuple[list[NumberLevel], int]:
    levels: list[NumberLevel] = []
    for _ in range(count):
        (flags,) = struct.unpack_from("<I", body, at)
        (size,) = struct.unpack_from("<H", body, at + HEAD_BYTES)
        at += HEAD_BYTES + 2
        kind = flags >> 5 & 0x1F
        form = body[at : at + 2 * size].decode("utf-16-le", "replace")
        levels.append(NumberLevel(KINDS[kind] if kind < len(KINDS) else KINDS[0], form))
        at += 2 * size
    return levels, at


def _started(levels: list[NumberLevel], body: bytes, at: int) -> list[NumberLevel]:
    """Returns the levels with the numbers that they begin with; older files have none."""
    if at + 4 * len(levels) > len(body):
        return levels
    starts = struct.unpack_from(f"<{len(levels)}I", body, at)
    return [level._replace(start=start) for level, start in zip(levels, starts, strict=True)]
