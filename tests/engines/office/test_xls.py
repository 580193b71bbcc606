"""XLS by its own records: what sheets hold and do not show, and numbers as Excel shows them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from penstock.engines.office.blocks import StructureBlock
from penstock.engines.office.open import open_structure
from penstock.engines.office.xls.cells import unpacked
from penstock.errors import BadInput
from tests.engines.office.made_files import PNG
from tests.support import made_xls as made
from tests.support.made_ole import in_ole

pytest.importorskip("olefile")


def read(folder: Path, stream: bytes) -> list[list[StructureBlock]]:
    path = folder / "a.xls"
    path.write_bytes(in_ole(Workbook=stream))
    file = open_structure(str(path), "xls")
    return [list(file.unit(index).blocks) for index in range(file.num_units)]


def lines(block: StructureBlock) -> list[str]:
    return [cell.text for cell in block.cells]


def strings(*texts: str) -> bytes:
    said = b"".join(made.text(text) for text in texts)
    return made.record(0xFC, struct.pack("<II", len(texts), len(texts)) + said)


def test_sheets_have_their_names_and_a_hidden_one_is_marked(tmp_path: Path) -> None:
    sheets = [("매출", 0, made.shared_text(0, 0, 0)), ("Old", 1, made.shared_text(0, 0, 1))]
    pages = read(tmp_path, made.made_stream(sheets, strings("Rain", "Snow")))
    assert [[(block.mark, block.text) for block in page] for page in pages] == [
        [("sheet", "매출"), ("", "Rain")],
        [("hidden_sheet", "Old"), ("", "Snow")],
    ]


def test_numbers_and_dates_are_shown_by_their_formats(tmp_path: Path) -> None:
    cells = made.double(0, 0, 1, 7) + made.double(0, 1, 2, 45000) + made.double(1, 0, 3, -1234.5)
    formats = ["@", "d-mmm-yy", '#,##0.00"원"']
    _, table, stored = read(tmp_path, made.made_stream([("S", 0, cells)], formats=formats))[0]
    assert lines(table) == ["7", "15-Mar-23", "-1,234.50원", ""]
    assert (stored.mark, stored.text) == ("stored", "B1: 45000\nA2: -1234.5")


def test_hidden_rows_and_columns_merged_cells_and_formulas_are_known(tmp_path: Path) -> None:
    formula = made.record(0x06, struct.pack("<HHH", 0, 1, 0) + b"\0\0\0\0\0\0\xff\xff" + bytes(8))
    cells = (
        made.record(0x7D, struct.pack("<5H", 3, 3, 9, 0, 1))
        + made.record(0x208, struct.pack("<8H", 1, 0, 0, 0, 0, 0, 0x20, 0))
        + made.shared_text(0, 0, 0) + formula + made.record(0x207, made.text("sum"))
        + made.shared_text(1, 0, 0) + made.double(0, 3, 0, 5)
        + made.record(0xE5, struct.pack("<5H", 1, 0, 0, 1, 2))
    )  # fmt: skip
    page = read(tmp_path, made.made_stream([("S", 0, cells)], strings("day")))[0]
    marks = [block.mark for block in page]
    assert marks[0] == "sheet" and "hidden_rows" in marks and "hidden_cells" in marks
    assert "Hidden rows: 2\nHidden columns: D" in [block.text for block in page]
    whole = next(block for block in page if block.mark == "hidden_cells")
    assert "sum" in lines(whole)


def test_comments_pictures_and_words_of_charts_are_kept(tmp_path: Path) -> None:
    chart = (
        made.begin(0x20) + made.record(0x100D, b"\0\0" + made.text("Rain by day", "<B")) + made.record(0x0A)
    )
    body = made.shared_text(0, 0, 0) + made.comment(1, 2, 4, "Kim: is it so?") + made.shown_picture(1) + chart
    stream = made.made_stream([("S", 0, body)], strings("day"), more=made.kept_picture(PNG))
    *_, note, picture, words = read(tmp_path, stream)[0]
    assert (note.label, note.mark, note.text) == ("aside_text", "comment", "C2: Kim: is it so?")
    assert (picture.label, picture.picture) == ("image", PNG)
    assert (words.mark, words.text) == ("chart", "Rain by day")


def test_a_text_that_goes_on_in_the_next_record_may_be_wider_there(tmp_path: Path) -> None:
    first = struct.pack("<IIHB", 1, 1, 4, 0) + b"ab"
    shared = made.record(0xFC, first) + made.record(0x3C, b"\1" + "가나".encode("utf-16-le"))
    page = read(tmp_path, made.made_stream([("S", 0, made.shared_text(0, 0, 0))], shared))[0]
    assert page[1].text == "ab가나"


@pytest.mark.parametrize(("stored", "number"), [(7 << 2 | 2, 7), (1234 << 2 | 3, 12.34), (0xFFFFFFFE, -1)])
def test_a_number_of_four_bytes_is_unpacked(stored: int, number: float) -> None:
    assert unpacked(stored) == number


def test_a_workbook_with_a_password_and_a_broken_one_say_so(tmp_path: Path) -> None:
    locked = made.made_stream([("S", 0, b"")], more=made.record(0x2F, bytes(6)))
    with pytest.raises(BadInput, match="encrypted"):
        read(tmp_path, locked)
    whole = made.made_stream([("S", 0, made.shared_text(0, 0, 0))], strings("day"))
    with pytest.raises(BadInput, match="sheet S is damaged"):
        read(tmp_path, whole[: whole.index(made.record(0x0A)) + 4])


def test_a_workbook_of_any_bytes_is_read_or_says_why_not(tmp_path: Path) -> None:
    whole = made.made_stream([("S", 0, made.double(0, 0, 0, 1) + made.comment(0, 0, 1, "x"))], strings("day"))
    for place in range(20, len(whole), 7):
        try:
            read(tmp_path, whole[:place] + b"\xff" + whole[place + 1 :])
        except BadInput as exc:
            assert exc.message
