"""Claims about DocJSON: what it says of a document, and that files hold all of it."""

from __future__ import annotations

import json
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.documents.docjson import file as docjson_file
from penstock.documents.docjson import spool
from penstock.documents.docjson.assemble import Assembler, assemble
from penstock.documents.docjson.chunks import BUDGET
from penstock.documents.docjson.model import DocJSON
from penstock.documents.docjson.sections import Heading, Sections
from penstock.documents.docjson.table import read_table, table_html
from penstock.errors import BadInput, Failure
from penstock.page import Page, PageAttempt
from penstock.region import Asset, Region
from tests.support.json_schema import check_schema

SCHEMA = Path(docjson_file.__file__).with_name("docjson.schema.json")


def page(part: int, *regions: tuple[str, tuple[float, float, float, float], str]) -> Page:
    made = tuple(
        Region(label=label, box=box, content=text, index=index, native_label=label)
        for index, (label, box, text) in enumerate(regions)
    )
    return Page(
        id=f"doc/{part:05d}", uri="doc.pdf", document="doc.pdf", part=part, media="pdf",
        width=1000, height=1400, regions=made,
    )  # fmt: skip


TABLE = "<table><tr><td>연도</td><td>매출</td></tr><tr><td>2023</td><td>1,204</td></tr></table>"


def small() -> list[Page]:
    return [
        page(
            0,
            ("header", (0, 0, 1000, 30), "running title"),
            ("doc_title", (100, 60, 900, 120), "연간 보고서"),
            ("paragraph_title", (100, 150, 900, 190), "1. 개요"),
            ("text", (100, 200, 900, 400), "매출은 표 1과 같고 추이는 그림 2에 있다."),
            ("figure_title", (100, 430, 900, 460), "표 1. 연도별 매출"),
            ("table", (100, 470, 900, 700), TABLE),
            ("text", (100, 1200, 900, 1390), "이 문장은 쪽이 바뀌어도"),
        ),
        page(
            1,
            ("text", (100, 50, 900, 150), "끊기지 않는다."),
            ("image", (100, 200, 900, 600), "0 10 20 30 40 2021 2022 2023"),
            ("figure_title", (100, 610, 900, 640), "그림 2. 매출 추이"),
            ("number", (480, 1370, 520, 1390), "2"),
        ),
    ]


def test_the_schema_file_is_current() -> None:
    made = json.dumps(DocJSON.model_json_schema(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    assert SCHEMA.read_text("utf-8") == made


def test_a_document_is_understood_across_its_pages() -> None:
    doc = assemble("doc.pdf", small())
    blocks = {block.id: block for block in doc.blocks}
    assert doc.title == "연간 보고서"
    assert [section.title for section in doc.sections] == ["1. 개요"]
    assert [block.category for block in doc.blocks if block.layer == "body"] == [
        "text_header", "text_section", "text_paragraph", "text_paragraph", "table", "text_paragraph",
        "text_paragraph", "graph", "text_paragraph",
    ]  # fmt: skip
    table = next(block for block in doc.blocks if block.category == "table")
    graph = next(block for block in doc.blocks if block.category == "graph")
    assert [blocks[id].text for id in table.caption_ids] == ["표 1. 연도별 매출"]
    assert [blocks[id].text for id in graph.caption_ids] == ["그림 2. 매출 추이"]
    refers = {(r.source, r.target) for r in doc.relations if r.type == "refers_to"}
    assert refers == {("p0001-b0003", table.id), ("p0001-b0003", graph.id)}
    [join] = doc.joins
    assert (join.page_span, join.block_ids) == ((1, 2), ["p0001-b0006", "p0002-b0000"])
    assert join.text == "이 문장은 쪽이 바뀌어도 끊기지 않는다."


def test_a_table_cut_by_a_page_break_is_one_table() -> None:
    head = "<tr><td>연도</td><td>매출</td></tr>"
    first = f"<table>{head}<tr><td>2021</td><td>1</td></tr></table>"
    second = f"<table>{head}<tr><td>2022</td><td>2</td></tr></table>"
    items = [
        page(
            0, ("figure_title", (100, 900, 900, 930), "표 1. 매출"), ("table", (100, 940, 900, 1390), first)
        ),
        page(1, ("table", (100, 40, 900, 300), second), ("text", (100, 400, 900, 500), "끝.")),
    ]
    [join] = assemble("doc.pdf", items).joins
    assert join.table is not None
    assert [cell.text for cell in join.table.cells] == ["연도", "매출", "2021", "1", "2022", "2"]
    places = [cell.locator.removeprefix("penstock:doc.pdf/") for cell in join.table.cells]
    assert places[2:] == ["p1/r1/c1.0", "p1/r1/c1.1", "p2/r0/c1.0", "p2/r0/c1.1"]


@pytest.mark.parametrize(
    "note", ["① 译者的说明没有句号", "（9）“论社会利益》，第889页）", "* a note of the foot that"]
)
def test_a_note_at_the_foot_is_not_joined_to_the_next_page(note: str) -> None:
    below = "的天然属性只是使商品有用。" if not note.isascii() else "and the text goes on."
    items = [page(0, ("text", (100, 1200, 900, 1390), note)), page(1, ("text", (100, 40, 900, 300), below))]
    assert assemble("doc.pdf", items).joins == []


def test_every_chunk_knows_its_section_and_its_pages() -> None:
    doc = assemble("doc.pdf", small())
    assert {chunk.kind for chunk in doc.chunks} == {"text", "table", "visual"}
    assert all(chunk.section_path == ["1. 개요"] for chunk in doc.chunks)
    table = next(chunk for chunk in doc.chunks if chunk.kind == "table")
    assert table.text.startswith("표 1. 연도별 매출\n연도 | 매출\n2023 | 1,204")
    assert any(chunk.page_span == (1, 2) for chunk in doc.chunks)


HEADINGS = {
    "제1장 총칙": 1, "제1절 목적": 2, "제1조(목적)": 3, "1.1 범위": 4, "1.1.1 세부": 5, "가. 정의": 6,
    "(1) 용어": 7, "① 첫째": 8, "제2장 조직": 1, "1. 개요": 2, "가. 배경": 3, "2. 결론": 2,
}  # fmt: skip


def test_a_section_ends_on_the_page_of_its_last_words() -> None:
    header = ("header", (0.0, 0.0, 900.0, 20.0), "A report")
    doc = assemble(
        "doc.pdf",
        [
            page(0, header, ("paragraph_title", (0, 40, 900, 60), "1. One"), ("text", (0, 80, 900, 99), "a")),
            page(1, header, ("paragraph_title", (0, 40, 900, 60), "2. Two"), ("text", (0, 80, 900, 99), "b")),
            page(2, header, ("text", (0, 80, 900, 99), "c")),
        ],
    )
    assert [section.page_span for section in doc.sections] == [(1, 1), (2, 3)]


@pytest.mark.parametrize("sentence", ["가나다라 마바사아 ", "这是一个很长的句子。", "nowordends", "A word. "])
def test_a_paragraph_longer_than_a_chunk_loses_nothing(sentence: str) -> None:
    long = (sentence * 500).strip()
    item = page(0, ("text", (0, 0, 900, 900), long))
    chunks = assemble("a.pdf", [item]).chunks
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(long.split())
    assert len(chunks) > 1 and all(chunk.token_estimate <= 1.1 * BUDGET for chunk in chunks)


def test_a_caption_that_names_nothing_is_in_a_chunk() -> None:
    item = page(
        0,
        ("figure_title", (0, 100, 900, 120), "[그림 1] 침해사고 개요도"),
        ("text", (0, 200, 900, 220), "본문이다."),
        ("figure_title", (0, 1100, 900, 1120), "그림 2. 유량"),
        ("image", (0, 1130, 900, 1390), "m3"),
    )
    texts = [chunk.text for chunk in assemble("a.pdf", [item]).chunks]
    assert sorted(texts) == ["[그림 1] 침해사고 개요도\n본문이다.", "그림 2. 유량\nm3"]


def test_korean_numbers_nest_as_reports_nest_them() -> None:
    sections = Sections()
    levels = {text: sections.open(Heading(text, text, i, 1)).level for i, text in enumerate(HEADINGS)}
    assert levels == HEADINGS


def test_western_numbers_and_plain_headings_nest_too() -> None:
    sections = Sections()
    told = ["Part I Water", "Chapter 1 Dams", "1.1 Gates", "1.1.1 Steel", "Chapter 2 Pipes", "A. Notes"]
    assert [sections.open(Heading(t, t, i, 1)).level for i, t in enumerate(told)] == [1, 2, 3, 4, 2, 3]


def test_spans_of_cells_are_read_and_odd_tables_kept() -> None:
    table = read_table(
        '<table><tr><td rowspan="2">a</td><td colspan=2>b &amp; c</td></tr><tr><td>1</td><td>2</td>'
    )
    assert [(cell.r, cell.c, cell.rs, cell.cs, cell.text) for cell in table.cells] == [
        (0, 0, 2, 1, "a"), (0, 1, 1, 2, "b & c"), (1, 1, 1, 1, "1"), (1, 2, 1, 1, "2"),
    ]  # fmt: skip
    odd = "<table><table><tr><td>x</td></tr></table></table>"
    assert read_table(odd).html == odd


def test_a_table_in_a_cell_stays_a_table() -> None:
    inner = "<table><tr><td>안쪽 3 &lt; 5</td><td>옆</td></tr></table>"
    nested = f"<table><tr><td>바깥 &amp; 사과</td><td>앞{inner}뒤</td></tr></table>"
    doc = assemble("doc.pdf", [page(0, ("table", (0, 0, 900, 900), nested))])
    [block] = doc.blocks
    assert block.table is not None and not block.table.html
    holder = block.table.cells[1]
    assert holder.text == "앞\n안쪽 3 < 5 | 옆\n뒤"
    assert [one if isinstance(one, str) else [cell.text for cell in one] for one in holder.inner] == [
        "앞", ["안쪽 3 < 5", "옆"], "뒤",
    ]  # fmt: skip
    assert table_html(block.table) == nested
    assert "a table in a cell" in block.table.complexity_reasons
    assert DocJSON.model_validate_json(doc.model_dump_json(exclude_defaults=True)).blocks == doc.blocks


def test_the_words_of_a_table_that_is_no_grid_are_not_lost() -> None:
    odd = "<table><table><tr><td>바깥 &amp; 사과</td></tr></table><tr><td>안쪽 3 < 5</td></tr></table>"
    doc = assemble("doc.pdf", [page(0, ("table", (0, 0, 900, 900), odd))])
    [block], [chunk] = doc.blocks, doc.chunks
    assert block.table is not None and block.table.html == odd
    assert block.text == chunk.text == "바깥 & 사과 안쪽 3 < 5"


def test_a_file_is_valid_and_comes_back_whole(tmp_path: Path) -> None:
    doc = assemble("doc.pdf", small())
    path = tmp_path / "doc.json"
    with path.open("wb") as file:
        docjson_file.write(file, Assembler("doc.pdf"), small(), tmp_path)
    check_schema(json.loads(path.read_text("utf-8")), SCHEMA)
    assert docjson_file.read(path) == doc


def test_a_file_that_is_not_docjson_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"name": 3}')
    with pytest.raises(BadInput, match="is not DocJSON"):
        docjson_file.read(path)


def test_attempts_and_failures_are_told() -> None:
    tried = [
        PageAttempt(
            way="page",
            finish_reason="length",
            prompt_tokens=903,
            completion_tokens=7000,
            ms=12.5,
            issues=("loop",),
        ),
        PageAttempt(
            way="other guard", finish_reason="stop", prompt_tokens=903, completion_tokens=900, ms=2.0
        ),
    ]
    partial = Failure(stage="ground", kind="EngineError", message="cut off")
    [first, second] = small()
    first = replace(
        first, attempts=tuple(tried), shortfall=partial, raw_answer=Asset(path="raw/x.json", data=b"[]")
    )
    second = replace(second, regions=(), failure=Failure(stage="load", kind="BadInput", message="broken"))
    doc = assemble("doc.pdf", [first, second])
    assert [(p.status, p.reason) for p in doc.pages] == [("partial", "cut off"), ("failed", "broken")]
    assert [(a.n, a.way, a.finish_reason) for a in doc.pages[0].attempts] == [
        (1, "page", "length"), (2, "other guard", "stop"),
    ]  # fmt: skip
    assert not any("raw" in block.text for block in doc.blocks)


def test_a_long_document_streams_in_the_memory_of_a_few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 1024)  # what may stay in memory is not what grows

    def peak(count: int) -> int:
        items = (replace(small()[0], id=f"p{n}", part=n) for n in range(count))
        tracemalloc.start()
        with Path(os.devnull).open("wb") as nowhere:
            docjson_file.write(nowhere, Assembler("doc.pdf"), items)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    # two sections a page are kept until the end, some 2 kB each, and nothing else
    assert peak(200) - peak(100) < 100 * 5_000


def test_the_model_rejects_unknown_fields() -> None:
    row = assemble("doc.pdf", small()).model_dump(mode="json")
    with pytest.raises(ValueError, match="surprise"):
        DocJSON.model_validate({**row, "surprise": 1})
