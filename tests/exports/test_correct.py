"""What people put right stays right: in every reading of a run, after it is read anew, after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import penstock
from penstock.addresses.locator import Locator
from penstock.errors import UsageError
from penstock.exports.correct import correct, history
from penstock.exports.export import export
from penstock.page import Page
from penstock.retrieval.index_rows import rows_of
from penstock.store.check import check_out
from penstock.store.ledger import ShardWriter
from penstock.store.manifest import refuse_others, start_over
from penstock.store.out import Out
from penstock.store.schema import PAGES
from tests.exports.test_located import KOREAN, korean_page

CELL = str(Locator(document=KOREAN, page=1, region=1, cell=(1, 1)))
LINE = str(Locator(document=KOREAN, page=1, region=0, line=1))
REGION = str(Locator(document=KOREAN, page=1, region=0))


def written(folder: Path, *pages: Page) -> Out:
    writer = ShardWriter(folder, PAGES)
    for page in pages:
        writer.add(page)
    writer.commit()
    return Out(folder)


@pytest.fixture
def out(tmp_path: Path) -> Out:
    return written(tmp_path, korean_page())


def test_a_correction_is_in_every_reading_of_the_run(out: Out) -> None:
    correct(out, CELL, "1,280", who="kim")
    correct(out, LINE, "터빈이 멈춘다.", who="lee")
    export(out.path, ["md", "jsonl", "docjson", "docling", "chunks", "content_list"])
    for name in ("ocr_results.jsonl", "parsed_texts.jsonl", "chunks.jsonl"):
        said = (out / name).read_text("utf-8")
        assert "1,280" in said and "멈춘다" in said and "1,200" not in said and "돈다" not in said, name
    for folder in ("markdown", "docjson", "docling", "content_list"):
        [path] = [path for path in (out / folder).rglob("*") if path.is_file() and path.suffix != ".jpg"]
        said = path.read_text("utf-8")
        assert "1,280" in said and "멈춘다" in said and "1,200" not in said, path
    assert penstock.open(out.path).at(CELL).text == "1,280"
    _, rows = rows_of(Out(out.path))
    assert [row.text for row in rows if "1,280" in row.text and "1,200" not in row.text]


def test_a_corrected_cell_and_line_are_sure_and_name_their_reader(out: Out) -> None:
    correct(out, CELL, "1,280")
    correct(out, REGION, "수압관은 물을 나른다.\n터빈이 돈다!")
    [page] = out.read_pages()
    text, table = page.regions
    assert [line.text for line in text.lines] == ["수압관은 물을 나른다.", "터빈이 돈다!"]
    assert (text.reader, text.confidence, table.reader) == ("person", 1.0, "person")
    assert [cell.confidence for cell in table.cells] == [0.5, 0.5, 0.5, 1.0]


@pytest.mark.parametrize("length", [12, 9_000])
def test_a_region_without_lines_or_words_can_be_corrected(tmp_path: Path, length: int) -> None:
    """A served model gives no lines; a line may say nothing."""
    page = korean_page()
    text, *rest = page.regions
    mute = (replace(text.lines[0], text=""),)
    for name, lines in (("none", ()), ("mute", mute)):
        out = written(tmp_path / name, replace(page, regions=(replace(text, lines=lines), *rest)))
        correct(out, REGION, "물" * length)
        [read] = out.read_pages()
        assert read.regions[0].content == "물" * length
        assert [line.text for line in read.regions[0].lines] == ["물" * length] * len(lines)


def test_the_history_of_a_place_is_kept(out: Out) -> None:
    correct(out, CELL, "1,280", who="kim")
    correct(out, CELL, "1,300", who="lee", before="1,280")
    told = [(one.who, one.before, one.after) for one in history(out, CELL)]
    assert told == [("kim", "1,200", "1,280"), ("lee", "1,280", "1,300")]
    assert [one.after for one in history(out, str(Locator(document=KOREAN, page=1)))] == ["1,280", "1,300"]
    with pytest.raises(UsageError, match="something else by now"):
        correct(out, CELL, "1", before="1,280")


def test_a_correction_finds_its_place_when_the_page_is_read_anew(out: Out, tmp_path: Path) -> None:
    correct(out, CELL, "1,280")
    text, table = korean_page().regions
    moved = tuple(x + 4 for x in table.box)
    again = replace(table, index=0, box=(moved[0], moved[1], moved[2], moved[3]), content=table.content)
    page = replace(korean_page(), attempt=1, regions=(again, replace(text, index=1)))
    [read] = written(tmp_path, page).read_pages()
    assert "1,280" in (read.regions[0].content or "") and "1,280" in read.markdown


def test_of_another_file_only_the_same_text_is_corrected(out: Out, tmp_path: Path) -> None:
    correct(out, CELL, "1,280")
    text, table = korean_page().regions
    other = replace(table, content=(table.content or "").replace("1,200", "9,999"))
    start_over(tmp_path)
    [read] = written(tmp_path, replace(korean_page(), id="new/0", regions=(text, other))).read_pages()
    assert "9,999" in (read.regions[1].content or "")
    start_over(tmp_path)
    [read] = written(tmp_path, replace(korean_page(), id="new/0")).read_pages()
    assert "1,280" in (read.regions[1].content or "")


def test_a_run_that_starts_over_keeps_what_people_typed(out: Out, tmp_path: Path) -> None:
    correct(out, CELL, "1,280")
    refuse_others(tmp_path, fresh=True)
    start_over(tmp_path)
    assert not out.has_rows and len(history(out, CELL)) == 1


def test_what_was_said_to_be_kept_survives_a_kill(out: Out) -> None:
    code = (
        "import os, sys\n"
        "from penstock.exports.correct import correct\n"
        "from penstock.store.out import Out\n"
        "correct(Out(sys.argv[1]), sys.argv[2], '1,280', who='kim')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(out), CELL], env=os.environ, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert penstock.open(out.path).at(CELL).text == "1,280"


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        (CELL, "1,200", "says that already"),
        (str(Locator(document=KOREAN, page=1)), "x", "whole document, page"),
        (str(Locator(document=KOREAN, page=1, region=1, cell=(9, 9))), "x", "no cell"),
        (REGION, "x" * 100_001, "characters"),
    ],
)
def test_what_cannot_be_corrected_is_refused(out: Out, place: str, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        correct(out, place, text)
    assert history(out, place) == []


def test_another_process_sees_a_correction_at_once(out: Out) -> None:
    other = Out(out.path)
    assert json.dumps([page.markdown for page in other.read_pages()])
    correct(out, CELL, "1,280")
    [page] = other.read_pages()
    assert "1,280" in page.markdown


def test_a_torn_correction_is_told_by_a_check(out: Out) -> None:
    correct(out, CELL, "1,280")
    [shard] = (out / "corrections").glob("*.parquet")
    shard.write_bytes(shard.read_bytes()[:-20])
    assert [damage.path for damage in check_out(out.path).damages if damage.path == shard]
