"""What docvortex leaves out of a DOC, by the file's own records: comments, deleted words, hidden ones.

Where the records cannot be read, these are missing.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from penstock.engines.office.older.packages import needed

MAX_BYTES = 512 << 20
FLAGS_AT, SECOND_TABLE = 0x0A, 0x200
COUNTS_AT, COMMENTS = 0x4C, 4  # letters of the text, notes, running titles, macros, comments
LETTERS_AT, PIECES_AT = 0xFA, 0x1A2  # where the tables of letters' looks and of the text's pieces are named
PAGE, PAGE_MASK = 512, 0x3FFFFF
PIECE_LIST, PIECE_BYTES, NARROW = 2, 8, 1 << 30
DELETED, HIDDEN = 0x0800, 0x083C  # what is said of letters
SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes of what is said, by its kind; 0 for those that say it themselves
COMMENT_SIGN = "\x05"
Look = tuple[int, int, bytes]  # of letters: their first byte, their end, and what is said of them
_SIGNS = re.compile(r"[\x00-\x08\x0c-\x1f]")


class DocRecords(NamedTuple):
    """Texts in the order of the file."""

    comments: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


class _StoredLetters(NamedTuple):
    first: int  # letter
    end: int
    at: int  # byte
    size: int  # bytes of a letter


def doc_records(path: str) -> DocRecords:
    """Returns what docvortex leaves out; nothing where the records cannot be read."""
    try:
        with needed("olefile", "doc").OleFileIO(path) as file:
            data = _stream(file, "WordDocument")
            flags = int.from_bytes(data[FLAGS_AT : FLAGS_AT + 2], "little")
            table = _stream(file, "1Table" if flags & SECOND_TABLE else "0Table")
        counts = struct.unpack_from(f"<{COMMENTS + 1}I", data, COUNTS_AT)
        pieces = list(_pieces(_named(data, table, PIECES_AT)))
        first = sum(counts[:COMMENTS])
        comments = _between(data, pieces, first, first + counts[COMMENTS]).split(COMMENT_SIGN)
        looks = list(_looks(data, _named(data, table, LETTERS_AT)))
        texts = (_marked(data, pieces, looks, counts[0], sign) for sign in (DELETED, HIDDEN))
        return DocRecords(tuple(filter(None, map(_tidy, comments))), *texts)
    except Exception:  # foreign code on foreign bytes; the words of the file are read without it
        return DocRecords()


def _stream(file: Any, name: str) -> bytes:
    data: bytes = file.openstream(name).read(MAX_BYTES)
    return data


def _named(data: bytes, table: bytes, at: int) -> bytes:
    start, size = struct.unpack_from("<II", data, at)
    return table[start : start + size]


def _pieces(listed: bytes) -> Iterator[_StoredLetters]:
    """Yields where the letters lie: a text that was changed and saved in a hurry is in many pieces."""
    at = 0
    while listed[at] != PIECE_LIST:
        at += 3 + int.from_bytes(listed[at + 1 : at + 3], "little")
    listed = listed[at + 5 :]
    count = (len(listed) - 4) // (4 + PIECE_BYTES)
    ends = struct.unpack_from(f"<{count + 1}I", listed)
    for number, (first, end) in enumerate(pairwise(ends)):
        (place,) = struct.unpack_from("<I", listed, 4 * (count + 1) + PIECE_BYTES * number + 2)
        narrow = bool(place & NARROW)
        place &= NARROW - 1
        yield _StoredLetters(first, end, place // 2 if narrow else place, 1 if narrow else 2)


def _looks(data: bytes, listed: bytes) -> Iterator[Look]:
    """Yields letters that look alike."""
    count = (len(listed) - 4) // 8
    for (number,) in struct.iter_unpack("<I", listed[4 * (count + 1) : 4 * (2 * count + 1)]):
        page = data[(number & PAGE_MASK) * PAGE :][:PAGE]
        runs = page[PAGE - 1]
        bounds = struct.unpack_from(f"<{runs + 1}I", page)
        for run, (start, end) in enumerate(pairwise(bounds)):
            at = 2 * page[4 * (runs + 1) + run]
            yield start, end, page[at + 1 : at + 1 + page[at]] if at else b""


def _says(said: bytes, sign: int) -> bool:
    at = 0
    while at + 3 <= len(said):
        (found,) = struct.unpack_from("<H", said, at)
        if found == sign:
            return bool(said[at + 2] & 1)
        at += 2 + (SIZES[found >> 13] or 1 + said[at + 2])
    return False


def _marked(
    data: bytes,
    pieces: Sequence[_StoredLetters],
    looks: Sequence[Look],
    end: int,
    sign: int,
) -> tuple[str, ...]:
    """Returns the words of the text, up to a letter, of which a sign is said. Neighbours are one text."""
    runs = sorted((first, last) for first, last, said in looks if _says(said, sign))
    texts, before = list[str](), -1
    for piece in pieces:
        stop = piece.at + piece.size * (min(piece.end, end) - piece.first)
        start = max(0, bisect_right(runs, (piece.at, piece.at)) - 1)
        for first, last in runs[start:]:
            if first >= stop:
                break
            first, last = max(first, piece.at), min(last, stop)
            if first >= last:
                continue
            if first == before and texts:
                texts[-1] += _decoded(data[first:last], piece.size)
            else:
                texts.append(_decoded(data[first:last], piece.size))
            before = last
    return tuple(filter(None, map(_tidy, texts)))


def _between(data: bytes, pieces: Sequence[_StoredLetters], first: int, end: int) -> str:
    texts = list[str]()
    for piece in pieces:
        start, stop = max(first, piece.first), min(end, piece.end)
        if start < stop:
            at = piece.at + piece.size * (start - piece.first)
            texts.append(_decoded(data[at : at + piece.size * (stop - start)], piece.size))
    return "".join(texts)


def _decoded(data: bytes, size: int) -> str:
    return data.decode("cp1252" if size == 1 else "utf-16-le", "replace")


def _tidy(text: str) -> str:
    return _SIGNS.sub("", text.replace("\r", "\n").replace("\v", "\n")).strip()
