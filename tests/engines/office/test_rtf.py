"""RTF gives what was put into it: letters of all code pages, tables with spans, notes, links, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engines.office.blocks import StructureBlock
from penstock.engines.office.open import open_structure
from penstock.errors import BadInput
from tests.engines.office.made_files import PNG

HEAD = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset129 \'b1\'bc\'b8\'b2;}}
{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}}{\*\generator Riched20;}{\info{\title unseen}}"""


def read(tmp_path: Path, body: bytes) -> list[StructureBlock]:
    path = tmp_path / "a.rtf"
    path.write_bytes(HEAD + body + b"}")
    file = open_structure(str(path), "rtf")
    return [block for unit in range(file.num_units) for block in file.unit(unit).blocks]


def texts(tmp_path: Path, body: bytes) -> list[str]:
    return [block.text for block in read(tmp_path, body)]


def test_letters_come_by_code_page_by_font_and_by_number(tmp_path: Path) -> None:
    body = rb"\pard caf\'e9 {\f1 \'c7\'d1\'b1\'db} \uc1\u8364? \u-10179?\u-8704? \emdash\~x\{\}\par"
    assert texts(tmp_path, body) == ["café 한글 € 😀 —\xa0x{}"]


def test_headings_lists_notes_and_links_are_told_apart(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        rb"\pard\s1 Title\par\pard See {\field{\*\fldinst HYPERLINK "
        rb'"https://example.org/a"}{\fldrslt the page}}{\footnote\pard A note.}.\par'
        rb"\pard\ls1{\listtext 1.\tab}one\par\pard\ls1\ilvl1{\listtext a)\tab}two\par\pard End\par",
    )
    assert [(block.label, block.level) for block in found] == [
        ("paragraph_title", 1), ("text", 0), ("text", 0), ("text", 0), ("footnote", 0),
    ]  # fmt: skip
    assert found[1].text == "See the page[^1]." and found[4].text == "[^1]: A note."
    assert found[1].links[0].address == "https://example.org/a"
    assert found[2].text.split("\n") == ["1. one", "  a) two"]


def test_tables_have_spans_heads_and_breaks_in_cells(tmp_path: Path) -> None:
    rows = (
        rb"\trowd\trhdr\clmgf\cellx1\clmrg\cellx2\cellx3\pard\intbl A\cell\cell B\cell\row"
        rb"\trowd\clvmgf\cellx1\cellx2\cellx3\pard\intbl c\cell d\cell e\par f\cell\row"
        rb"\trowd\clvmrg\cellx1\cellx2\cellx3\pard\intbl\cell g\cell h\cell\row\pard After\par"
    )
    table, after = read(tmp_path, rows)
    found = [(cell.row, cell.column, cell.text, cell.row_span, cell.column_span) for cell in table.cells]
    assert found == [
        (0, 0, "A", 1, 2), (0, 2, "B", 1, 1), (1, 0, "c", 2, 1), (1, 1, "d", 1, 1), (1, 2, "e\nf", 1, 1),
        (2, 1, "g", 1, 1), (2, 2, "h", 1, 1),
    ]  # fmt: skip
    assert [cell.is_header for cell in table.cells] == [True, True, False, False, False, False, False]
    assert after.text == "After"


def test_pictures_are_kept_and_what_may_be_passed_by_is(tmp_path: Path) -> None:
    body = (
        rb"\pard a{\*\unknown gone}{\object{\*\objdata 0105}}\par{\pict\pngblip " + PNG.hex().encode() + b"}"
    )
    text, picture = read(tmp_path, body)
    assert text.text == "a" and picture.picture == PNG


def test_groups_without_end_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nested"):
        read(tmp_path, b"{" * 5000)
    assert texts(tmp_path, rb"\pard fine\par" + b"}" * 50) == ["fine"]


def test_deleted_words_comments_and_the_title_are_what_they_are(tmp_path: Path) -> None:
    styles = rb"{\stylesheet{\s1 Title;}{\s2 Subtitle;}}"
    note = rb"{\*\atnid K}{\*\atnauthor Kim}{\*\annotation{\*\atnref 1}{\*\atndate 5}\pard\plain Which?}"
    body = (
        rb"\pard\s1 Report\par\pard\plain Rain"
        + note
        + rb" falls{\deleted  as snow}.\par\pard\plain Wind.\par"
    )
    blocks = read(tmp_path, styles + body)
    assert [(block.mark or block.label, block.text) for block in blocks] == [
        ("doc_title", "Report"), ("text", "Rain falls."), ("deleted", "as snow"), ("comment", "Kim: Which?"),
        ("text", "Wind."),
    ]  # fmt: skip


def test_a_cell_that_ends_where_the_second_of_the_next_row_does_is_over_two_columns(tmp_path: Path) -> None:
    wide = rb"\trowd\cellx2000\cellx3000\pard\intbl over\cell x\cell\row"
    narrow = rb"\trowd\cellx1000\cellx2010\cellx3000\pard\intbl a\cell b\cell c\cell\row"
    [table] = read(tmp_path, wide + narrow + rb"\pard\par")
    assert [cell[:5] for cell in table.cells] == [
        (0, 0, "over", 1, 2), (0, 2, "x", 1, 1), (1, 0, "a", 1, 1), (1, 1, "b", 1, 1), (1, 2, "c", 1, 1),
    ]  # fmt: skip


def test_a_table_in_a_cell_is_one_with_its_spans_and_the_words_around_it(tmp_path: Path) -> None:
    inner = (
        rb"\pard\intbl\itap2 p\nestcell \pard\intbl\itap2 q\nestcell{\nonesttables\par}"
        rb"{\*\nesttableprops\trowd\trhdr\cellx500\cellx900\nestrow}"
        rb"\pard\intbl\itap2 r\nestcell\nestcell"
        rb"{\*\nesttableprops\trowd\clmgf\cellx500\clmrg\cellx900\nestrow}"
    )
    begin = rb"\trowd\cellx1000\cellx2000\pard\intbl before\par "
    row = begin + inner + rb"\pard\intbl after\cell x\cell\row"
    table, text = read(tmp_path, row + rb"\pard End\par")
    first, second = table.cells
    assert first.text == "before\np | q\nr\nafter" and (second.column, second.text) == (1, "x")
    before, cells, after = first.inner
    assert (before, after, text.text) == ("before", "after", "End")
    assert isinstance(cells, tuple)
    assert [(cell.row, cell.column, cell.text, cell.column_span, cell.is_header) for cell in cells] == [
        (0, 0, "p", 1, True), (0, 1, "q", 1, True), (1, 0, "r", 2, False),
    ]  # fmt: skip


def test_a_cell_has_items_and_a_row_that_never_ends_is_kept(tmp_path: Path) -> None:
    body = (
        rb"\trowd\cellx1000\pard\intbl\ls1{\listtext 1.\tab}one\par\ls1{\listtext \'b7\tab}two\cell\row"
        rb"\pard\intbl left\cell open"
    )
    [table] = read(tmp_path, body)
    assert [cell.text for cell in table.cells] == ["1. one\n• two", "left", "open"]
