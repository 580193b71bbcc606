"""HWP 5 and HWP 3 by rhwp: the same document as HWPX gives the same words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.engines.office.hwp import rhwp_package
from penstock.engines.office.hwp_records import HwpRecords, hwp_records
from penstock.engines.office.open import open_structure
from penstock.errors import BadInput
from tests.support.made_hwp3 import made_hwp3

if rhwp_package() is None:
    pytest.skip("the extra hwp is not installed", allow_module_level=True)
FOLDER = Path(os.environ.get("PENSTOCK_DATA", "../shared/data")) / "devset/formats/hwp"


def lines(path: Path) -> list[str]:
    file = open_structure(str(path), path.suffix[1:])
    return [block.text for index in range(file.num_units) for block in file.unit(index).blocks]


def words(path: Path, kind: str) -> list[str]:
    file = open_structure(str(path), kind)
    blocks = [block for index in range(file.num_units) for block in file.unit(index).blocks]
    texts = [block.text for block in blocks] + [cell.text for block in blocks for cell in block.cells]
    return sorted(" ".join(texts).split())


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "stem", ["table_02_merge_col_row", "table_06c_repeat_header_multi_page", "sample-table-cell"]
)
def test_a_document_as_hwp_and_as_hwpx_has_the_same_words(stem: str) -> None:
    folder = FOLDER / "hwpforge"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    assert words(folder / f"{stem}.hwp", "hwp") == words(folder / f"{stem}.hwpx", "hwpx")


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "stem",
    [
        "hwpforge/sample-numbered-list-multilevel", "hwpforge/sample-outline-list",
        "hwpforge/sample-mixed-lists-with-outline", "hwpjs/lists",
    ],
)  # fmt: skip
def test_numbers_of_an_hwp_are_those_of_its_hwpx(stem: str) -> None:
    if not (FOLDER / f"{stem}.hwp").is_file():
        pytest.skip(f"{FOLDER} is not here")
    assert lines(FOLDER / f"{stem}.hwp") == lines(FOLDER / f"{stem}.hwpx")


@pytest.mark.shared_data
def test_each_section_has_the_outline_numbers_it_names() -> None:
    path = FOLDER / "hwpjs" / "lists.hwp"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    found = lines(path)
    assert {"나. 3-2", "1) 3-2-1", "제1장 1", "제3항 3-2-3", "제4장 4"} <= set(found)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("숨은설명", [("comment", "우리는 우리다."), ("comment", "그것은 그것이다.")]),
        ("덧말", [("text", "ABC"), ("text", "가나다라")]),
        ("바탕쪽", [("header", "바타아 쪼옥")]),
    ],
)
def test_what_hangs_on_an_hwp_is_not_lost(name: str, expected: list[tuple[str, str]]) -> None:
    path = FOLDER / "hwplib" / f"{name}.hwp"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    file = open_structure(str(path), "hwp")
    assert [(block.mark or block.label, block.text) for block in file.unit(0).blocks] == expected


def test_an_hwp_3_is_read_and_a_broken_one_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a.hwp"
    data = made_hwp3(["Rain falls.", "비가 온다."])
    path.write_bytes(data)
    assert lines(path) == ["Rain falls.", "비가 온다."]
    path.write_bytes(data[:100])
    with pytest.raises(BadInput, match="no HWP that can be read"):
        lines(path)


def test_a_panic_of_its_reader_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.hwp"
    data = made_hwp3(["Rain falls."])
    cut = b"\xff\xff\xff\xff".join((data[:1166], data[1170:]))  # it has more fonts than letters
    path.write_bytes(cut)
    with pytest.raises(BadInput, match="no HWP that can be read"):
        lines(path)


def test_records_that_say_nothing_cost_the_numbers_alone(tmp_path: Path) -> None:
    (tmp_path / "a.hwp").write_bytes(b"no OLE file")
    assert hwp_records(str(tmp_path / "a.hwp")) == HwpRecords()


@pytest.mark.shared_data
def test_a_document_with_a_password_says_so() -> None:
    path = FOLDER / "hwpjs" / "password-12345.hwp"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    with pytest.raises(BadInput, match="encrypted"):
        open_structure(str(path), "hwp")
