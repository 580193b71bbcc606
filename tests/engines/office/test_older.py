"""DOC and PPT: what docvortex gives, and what only the files' own records say."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from penstock.engines.office.older.doc_records import DocRecords, doc_records
from penstock.engines.office.older.ppt_records import SlideRecords, ppt_records
from penstock.engines.office.open import open_structure
from tests.support.made_ole import HOLDS_OTHERS, art, in_ole

pytest.importorskip("olefile")
FOLDER = Path(os.environ.get("PENSTOCK_DATA", "../shared/data")) / "devset/formats/office/docling"
TEXT_AT, LOOKS_PAGE = 0x600, 2


def made_doc(*runs: tuple[str, bytes], comment: str = "") -> bytes:
    """Returns a DOC of runs of letters, each with what is said of it."""
    text = "".join(words for words, _ in runs) + f"\x05{comment}\r"
    counts = (sum(len(words) for words, _ in runs), 0, 0, 0, len(comment) + 2)
    pieces = struct.pack("<II", 0, len(text)) + struct.pack("<HIH", 0, TEXT_AT, 0)
    clx = b"\2" + struct.pack("<I", len(pieces)) + pieces
    listed = struct.pack("<III", TEXT_AT, TEXT_AT + 2 * len(text), LOOKS_PAGE)
    bounds, said, at = [TEXT_AT], b"", 400
    places = []
    for words, look in runs:
        bounds.append(bounds[-1] + 2 * len(words))
        places.append((at + len(said)) // 2 if look else 0)
        said += (bytes([len(look)]) + look).ljust(8, b"\0") if look else b""
    page = struct.pack(f"<{len(bounds)}I", *bounds) + bytes(places)
    page = (page.ljust(at, b"\0") + said).ljust(511, b"\0") + bytes([len(runs)])
    head = bytearray(512 * LOOKS_PAGE)
    struct.pack_into("<H", head, 0x0A, 0x200)
    struct.pack_into("<5I", head, 0x4C, *counts)
    struct.pack_into("<II", head, 0x1A2, 0, len(clx))
    struct.pack_into("<II", head, 0xFA, len(clx), len(listed))
    body = bytes(head) + page + text.encode("utf-16-le")
    assert len(bytes(head) + page) == TEXT_AT
    return in_ole(WordDocument=body, **{"1Table": clx + listed})


def test_comments_deleted_and_hidden_words_of_a_doc_are_found(tmp_path: Path) -> None:
    bold, deleted, hidden = b"\x35\x08\1", b"\x00\x08\1", b"\x3c\x08\1"
    runs = (("It ", b""), ("never ", bold + deleted), ("비", deleted), (" rains.", hidden))
    path = tmp_path / "a.doc"
    path.write_bytes(made_doc(*runs, comment="Sure?"))
    assert doc_records(str(path)) == DocRecords(("Sure?",), ("never 비",), ("rains.",))


def test_records_of_a_doc_or_ppt_that_cannot_be_read_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(in_ole(WordDocument=b"?", PowerPoint_Document=b"?", Current_User=b"?"))
    assert doc_records(str(tmp_path / "a")) == DocRecords()
    assert ppt_records(str(tmp_path / "a")) == []


def made_ppt() -> bytes:
    """Returns two slides, of which the second is hidden and has a comment, and a title master."""
    words = art(0xFBA, "Kim".encode("utf-16-le")) + art(0xFBA, "Why?".encode("utf-16-le"), 1 << 4)
    comment = art(0x138B, art(0x2EE0, words + art(0x2EE1, bytes(28)), HOLDS_OTHERS))
    slides = [art(0x3EE, art(0x3F9, bytes(10) + flags + bytes(4)) + more, HOLDS_OTHERS) for flags, more in
              ((b"\0\0", b""), (b"\4\0", art(0x1388, comment, HOLDS_OTHERS)))]  # fmt: skip
    masters = art(0xFF0, art(0x3F3, struct.pack("<5I", 2, 0, 0, 0, 0)), 1 << 4 | HOLDS_OTHERS)
    listed = (art(0x3F3, struct.pack("<5I", id, 0, 0, 0, 0)) for id in (3, 2))
    document = art(0x3E8, masters + art(0xFF0, b"".join(listed), HOLDS_OTHERS), HOLDS_OTHERS)
    parts = [document, slides[1], slides[0]]  # ids 1 to 3
    places = [sum(map(len, parts[:number])) for number in range(3)]
    body = b"".join(parts)
    directory = art(0x1772, struct.pack("<4I", 3 << 20 | 1, *places))
    edit = art(0xFF5, struct.pack("<7I", 0, 0, 0, len(body), 1, 0, 0))
    user = art(0xFF6, struct.pack("<3I", 20, 0, len(body) + len(directory)))
    return in_ole(PowerPoint_Document=body + directory + edit, Current_User=user)


def test_hidden_slides_and_comments_of_a_ppt_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.ppt").write_bytes(made_ppt())
    assert ppt_records(str(tmp_path / "a.ppt")) == [SlideRecords(), SlideRecords(True, ("Kim: Why?",))]


@pytest.mark.shared_data
def test_pictures_of_a_doc_and_notes_of_a_ppt_are_kept() -> None:
    pytest.importorskip("docvortex")
    if not FOLDER.is_dir():
        pytest.skip(f"{FOLDER} is not here")
    text = open_structure(str(FOLDER / "doc/legacy_sample.doc"), "doc").unit(0).blocks
    assert [len(block.picture) > 1000 for block in text if block.label == "image"] == [True]
    slides = open_structure(str(FOLDER / "ppt/legacy_sample.ppt"), "ppt")
    notes = [block for block in slides.unit(1).blocks if block.mark == "speaker_notes"]
    assert [(note.label, note.text) for note in notes] == [("footnote", "Some notes on the second slide.")]
