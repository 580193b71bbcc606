"""What rhwp leaves out of an HWP 5, by the file's own records.

It gives paragraphs their numbering and level, and not what a number looks like, nor which numbering the
outline of a section has; and neither hidden comments nor words that have others above them. Where the records
cannot be read, these are missing.
"""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

NUMBERING, PARAGRAPH, CONTROL = 0x17, 0x43, 0x47  # tags of records
# of a control, backwards: what it says of its section, a hidden comment, words with others above them
SECTION, HIDDEN_COMMENT, RAISED = b"dces", b"tmct", b"tudt"
WIDE_CONTROLS = frozenset({*range(1, 10), *range(11, 13), *range(14, 24)})  # signs in a text of eight places
OUTLINE_AT = 18  # in it
LEVELS, MORE_LEVELS = 7, 3  # of a numbering; the last three came later
COMPRESSED = 1  # a flag of the file
FLAGS_AT = 36  # in its header
HEAD_BYTES = 12  # before the form of a level: flags, width, distance, letters' shape
LONG = 0xFFF  # a record that is as long has its length behind its head
MAX_BYTES = 64 << 20
MAX_LEVEL = 0x3FF  # how deep records lie, at most
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


class SectionRecords(NamedTuple):
    """The numbering of a section's outline, and texts that are left out, with whether each is a comment."""

    outline: str = ""
    texts: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class HwpRecords:
    """Numberings by their ids, and what the records of each section say."""

    numberings: Mapping[str, list[NumberLevel]] = field(default_factory=dict)
    sections: tuple[SectionRecords, ...] = ()


def hwp_records(path: str) -> HwpRecords:
    """Returns what the records of a file say; nothing where they cannot be read."""
    try:
        olefile: Any = importlib.import_module("olefile")
        with olefile.OleFileIO(path) as file:
            header = file.openstream("FileHeader").read(FLAGS_AT + 4)
            is_packed = bool(int.from_bytes(header[FLAGS_AT:], "little") & COMPRESSED)
            records = _records(_opened(file, "DocInfo", is_packed))
            found = islice((body for tag, _, body in records if tag == NUMBERING), MAX_NUMBERINGS)
            numberings = {str(number): _levels(body) for number, body in enumerate(found, 1)}
            return HwpRecords(numberings, tuple(_sections(file, is_packed)))
    except Exception:  # foreign code on foreign bytes; the words of the file are read without it
        return HwpRecords()


def _opened(file: Any, name: str, is_packed: bool) -> bytes:
    data: bytes = file.openstream(name).read(MAX_BYTES)
    return zlib.decompressobj(-15).decompress(data, MAX_BYTES) if is_packed else data


def _sections(file: Any, is_packed: bool) -> Iterator[SectionRecords]:
    for number in range(MAX_SECTIONS):
        name = f"BodyText/Section{number}"
        if not file.exists(name):
            return
        yield _section(_opened(file, name, is_packed))


def _section(data: bytes) -> SectionRecords:
    outline, texts, comment_at = "", list[tuple[str, bool]](), MAX_LEVEL
    for tag, level, body in _records(data):
        if level <= comment_at:  # what is in a comment lies deeper
            comment_at = MAX_LEVEL
        if tag == PARAGRAPH and comment_at < MAX_LEVEL:
            texts.append((_letters(body), True))
        elif tag == CONTROL and body[:4] == HIDDEN_COMMENT:
            comment_at = min(level, comment_at)
        elif tag == CONTROL and body[:4] == RAISED:
            size = 2 * int.from_bytes(body[4:6], "little")
            texts.append((body[6 : 6 + size].decode("utf-16-le", "replace"), False))
        elif tag == CONTROL and body[:4] == SECTION and len(body) >= OUTLINE_AT + 2 and not outline:
            outline = str(int.from_bytes(body[OUTLINE_AT : OUTLINE_AT + 2], "little"))
    return SectionRecords(outline, tuple(texts))


def _letters(body: bytes) -> str:
    """Returns the words of a paragraph without the signs that stand for what hangs on it."""
    units = struct.unpack(f"<{len(body) // 2}H", body[: len(body) // 2 * 2])
    kept, at = list[int](), 0
    while at < len(units):
        if units[at] >= ord(" "):
            kept.append(units[at])
        at += 8 if units[at] in WIDE_CONTROLS else 1
    return struct.pack(f"<{len(kept)}H", *kept).decode("utf-16-le", "replace")


def _records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yields the tag, the depth and the bytes of each."""
    at = 0
    while at + 4 <= len(data):
        (head,) = struct.unpack_from("<I", data, at)
        at, size = at + 4, head >> 20
        if size == LONG:
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
        yield head & 0x3FF, head >> 10 & 0x3FF, data[at : at + size]
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
