"""What docvortex leaves out of a PPT, by the file's own records: which slides are hidden, and comments.

Where the records cannot be read, these are missing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.engines.office.older.art_records import art_record_at
from penstock.engines.office.older.packages import needed

DOCUMENT, USER = "PowerPoint Document", "Current User"
MAX_BYTES = 1 << 30
MAX_EDITS = 10_000  # each time that a file was saved in a hurry
LAST_EDIT_AT = 16  # in what is said of the user
SLIDE_LIST, SLIDES, LISTED_SLIDE = 0xFF0, 0, 0x3F3
SLIDE_SETTINGS, HIDDEN_AT, HIDDEN = 0x3F9, 10, 4
TAG_DATA, TEXT, COMMENT = 0x138B, 0xFBA, 0x2EE1
AUTHOR, WORDS = 0, 1  # texts before a comment


class SlideRecords(NamedTuple):
    """What the records of a slide say."""

    is_hidden: bool = False
    comments: tuple[str, ...] = ()


def ppt_records(path: str) -> list[SlideRecords]:
    """Returns what is said of each slide; nothing where the records cannot be read."""
    try:
        with needed("olefile", "ppt").OleFileIO(path) as file:
            data, user = _stream(file, DOCUMENT), _stream(file, USER)
        places, document = _places(data, int.from_bytes(user[LAST_EDIT_AT : LAST_EDIT_AT + 4], "little"))
        return [_slide(data, places[id]) for id in _slide_ids(data, places[document])]
    except Exception:  # foreign code on foreign bytes; the words of the file are read without it
        return []


def _stream(file: Any, name: str) -> bytes:
    data: bytes = file.openstream(name).read(MAX_BYTES)
    return data


def _places(data: bytes, edit: int) -> tuple[dict[int, int], int]:
    """Returns where what a file keeps begins, by its ids, and the document's id. Later edits win."""
    places: dict[int, int] = {}
    document = 0
    for _ in range(MAX_EDITS):
        before, listed, id = struct.unpack_from("<III", data, edit + 16)
        document = document or id
        for found, place in _listed(data, listed):
            places.setdefault(found, place)
        if not before:
            break
        edit = before
    return places, document


def _listed(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    end = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    at += 8
    while at + 4 <= min(end, len(data)):
        (head,) = struct.unpack_from("<I", data, at)
        count = head >> 20
        for number, (place,) in enumerate(struct.iter_unpack("<I", data[at + 4 : at + 4 + 4 * count])):
            yield (head & 0xFFFFF) + number, place
        at += 4 + 4 * count


def _slide_ids(data: bytes, document: int) -> Iterator[int]:
    is_open = False  # in the list of slides, and not in that of masters or notes
    for kind, instance, body in art_record_at(data, document):
        if kind == SLIDE_LIST:
            is_open = instance == SLIDES
        elif kind == LISTED_SLIDE and is_open:
            yield int.from_bytes(body[:4], "little")


def _slide(data: bytes, place: int) -> SlideRecords:
    is_hidden, comments, texts = False, list[str](), dict[int, str]()
    for kind, instance, body in art_record_at(data, place, TAG_DATA):
        if kind == SLIDE_SETTINGS:
            is_hidden = bool(body[HIDDEN_AT] & HIDDEN)
        elif kind == TEXT:
            texts[instance] = body.decode("utf-16-le", "replace").strip()
        elif kind == COMMENT:
            comments.append(": ".join(filter(None, (texts.get(AUTHOR), texts.get(WORDS)))))
            texts = {}
    return SlideRecords(is_hidden, tuple(filter(None, comments)))
