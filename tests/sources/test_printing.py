"""Office files and HWP as printed pages: their own words, in the boxes of the page."""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
from importlib.util import find_spec
from pathlib import Path

import pytest

from penstock.engines.rendering.font_names import add_korean_font
from penstock.errors import DeadlinePassed
from penstock.page import Page
from penstock.processes.confinement import landlock_version
from penstock.processes.program import run_shut_in
from penstock.region import Region
from penstock.sources import list_items
from tests.engines.office.made_files import zipped
from tests.support.loaded import load_items
from tests.support.made_hwp3 import made_hwp3
from tests.support.made_hwpx import MadeCell, made_hwpx

LONG = (
    "이 문서는 시험을 위하여 만든 문서이다. 낱말마다 자리가 있어야 하고, 줄이 바뀌어도 문단은 하나이다. " * 2
)
TABLE = [
    MadeCell(0, 0, "구분", 1, 2), MadeCell(0, 1, "매출", 2), MadeCell(1, 1, "1분기"), MadeCell(1, 2, "2분기"),
    MadeCell(2, 0, "서울"), MadeCell(2, 1, "1,200"), MadeCell(2, 2, "1,350"),
]  # fmt: skip


@pytest.fixture
def hwpx(tmp_path: Path) -> Path:
    if find_spec("rhwp") is None:
        pytest.skip("the extra hwp is not installed")
    if not add_korean_font(tmp_path / "home"):
        pytest.skip("this machine has no Korean font, or no fc-list to find one")
    path = tmp_path / "report.hwpx"
    path.write_bytes(made_hwpx(["# 분기 보고서", LONG, TABLE, *[LONG] * 12, "끝이다."]))
    return path


def read(path: Path, downloads: Path) -> list[Page]:
    items = list(list_items([str(path)], Page, office="both", downloads=downloads))
    return load_items(items, office="both")


def region_of(page: Page, words: str) -> Region:
    [found] = [region for region in page.regions if words in (region.content or "")]
    return found


def test_an_hwpx_has_its_own_words_in_the_boxes_of_its_printed_pages(hwpx: Path, tmp_path: Path) -> None:
    pages = read(hwpx, tmp_path / "kept")
    assert len(pages) > 1 and {page.document for page in pages} == {"report.hwpx"}
    [heading, text, table, *_] = pages[0].regions
    assert [region.reader for region in (heading, text, table)] == ["structure"] * 3
    assert heading.label == "paragraph_title" and heading.content == "분기 보고서"
    assert text.content == LONG.strip()  # the page breaks it into lines, the file does not
    assert heading.box[3] < text.box[1] < text.box[3] < table.box[1]
    whole = (0.0, 0.0, pages[0].width, pages[0].height)
    assert all(region.box != whole for page in pages for region in page.regions)
    assert (
        "".join(r.content or "" for p in pages for r in p.regions if r.label == "text").count("낱말마다")
        == 26
    )


def test_cells_have_their_spans_from_the_file_and_their_boxes_from_the_page(
    hwpx: Path, tmp_path: Path
) -> None:
    table = next(region for region in read(hwpx, tmp_path / "kept")[0].regions if region.label == "table")
    assert (
        table.content is not None
        and 'rowspan="2">구분' in table.content
        and 'colspan="2">매출' in table.content
    )
    boxes = {(cell.row, cell.column): cell.box for cell in table.cells}
    assert boxes[1, 1][2] < boxes[1, 2][0] and boxes[1, 1][1] < boxes[2, 1][1]
    x0, y0, x1, y1 = table.box
    assert all(x0 <= box[0] and y0 <= box[1] and box[2] <= x1 and box[3] <= y1 for box in boxes.values())


def test_a_table_over_two_pages_is_cut_there_and_has_its_head_on_both(hwpx: Path, tmp_path: Path) -> None:
    rows = [MadeCell(row, 0, f"지점 {row}") for row in range(1, 70)]
    rows += [MadeCell(row, 1, f"{row * 7}") for row in range(1, 70)]
    hwpx.write_bytes(
        made_hwpx(["# 지점의 매출", [MadeCell(0, 0, "지점"), MadeCell(0, 1, "매출"), *sorted(rows)]])
    )
    pages = read(hwpx, tmp_path / "kept")
    tables = [region for page in pages for region in page.regions if region.label == "table"]
    assert len(tables) == len(pages) > 1
    said = [cell for table in tables for cell in re.findall(r">(지점 \d+)<", table.content or "")]
    assert said == [f"지점 {row}" for row in range(1, 70)]
    head = "<thead><tr><td>지점</td><td>매출</td></tr></thead>"
    assert all(head in (table.content or "") for table in tables)
    assert not [region for page in pages for region in page.regions if region.content == "지점"]


def test_a_run_that_goes_on_prints_nothing_again_and_has_the_same_ids(hwpx: Path, tmp_path: Path) -> None:
    first = list(list_items([str(hwpx)], Page, office="pages", downloads=tmp_path / "kept"))
    [kept] = (tmp_path / "kept" / "printed").iterdir()
    written = kept.stat().st_ino
    known = {"report.hwpx": {str(kept)}}
    again = list(list_items([str(hwpx)], Page, office="pages", downloads=tmp_path / "kept", known=known))
    assert [item.id for item in again] == [item.id for item in first]
    assert kept.stat().st_ino == written


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> Page:
    """Returns the one item of a DOCX, with a stand-in for LibreOffice, or without any."""
    programs = tmp_path / "programs"
    programs.mkdir()
    if script is not None:
        program(programs, "soffice", script)
    monkeypatch.setenv("PATH", f"{programs}:/bin" if script else str(programs))
    path = tmp_path / "report.docx"
    path.write_bytes(zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": "<w:document/>"}))
    [item] = list_items([str(path)], Page, office="pages", downloads=tmp_path / "kept")
    return item


def test_without_libreoffice_the_file_fails_alone_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = listed(tmp_path, monkeypatch, None)
    assert item.failure is not None and "LibreOffice" in item.failure.message
    assert "Install LibreOffice" in item.failure.advice


def test_a_libreoffice_that_crashes_costs_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = listed(tmp_path, monkeypatch, "echo the roof fell in; exit 7")
    assert item.failure is not None
    assert "code 7" in item.failure.message and "the roof fell in" in item.failure.message
    assert "PDF" in item.failure.advice


def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(DeadlinePassed, match="took longer"):
        run_shut_in("the program", ["/bin/sh", "-c", "sleep 600 & echo $! > child; wait"], tmp_path, 2.0)
    child = int((tmp_path / "child").read_text())
    with pytest.raises(ProcessLookupError):
        while Path(f"/proc/{child}/stat").read_text().split()[2] != "Z":
            os.kill(child, 0)
        raise ProcessLookupError


@pytest.mark.skipif(landlock_version() < 1, reason="this kernel cannot shut a process in")
def test_a_program_writes_in_its_folder_alone_and_reads_no_documents(tmp_path: Path) -> None:
    home, secret = tmp_path / "home", tmp_path / "secret.txt"
    home.mkdir()
    secret.write_text("the key")
    script = f"echo in > in.txt; cat {secret}; echo out > {tmp_path}/out.txt; cat in.txt"
    _, said = run_shut_in("the program", ["/bin/sh", "-c", script], home, 20.0)
    assert said.endswith("in\n") and "the key" not in said
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.skipif(landlock_version() < 4, reason="this kernel cannot forbid TCP")
def test_a_program_connects_to_nobody(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        _, said = run_shut_in("the program", [bash, "-c", script], tmp_path, 20.0)
    assert "connected" not in said and "ermission denied" in said


@pytest.mark.slow
def test_a_docx_has_its_own_words_in_the_boxes_of_its_printed_pages(tmp_path: Path) -> None:
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed")
    rows = "".join(f"<w:p><w:r><w:t>Paragraph {number} says this.</w:t></w:r></w:p>" for number in range(90))
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    )
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
        ' Target="word/document.xml"/></Relationships>'
    )
    body = f"<w:document {space}><w:body>{rows}</w:body></w:document>"
    path = tmp_path / "report.docx"
    path.write_bytes(zipped({"[Content_Types].xml": types, "_rels/.rels": rels, "word/document.xml": body}))
    pages = read(path, tmp_path / "kept")
    assert len(pages) > 1
    said = [region.content for page in pages for region in page.regions]
    assert said == [f"Paragraph {number} says this." for number in range(90)]
    assert region_of(pages[-1], "Paragraph 89").box[1] > region_of(pages[-1], "Paragraph 88").box[1]


def test_an_hwp_3_is_printed_and_has_boxes(tmp_path: Path, hwpx: Path) -> None:
    path = hwpx.with_name("old.hwp")
    path.write_bytes(made_hwp3(["Rain falls on the roof.", "비가 온다."]))
    [page] = read(path, tmp_path / "kept")
    found = [region_of(page, text) for text in ("Rain falls on the roof.", "비가 온다.")]
    assert 0 < found[0].box[1] < found[1].box[1] < page.height / 2
