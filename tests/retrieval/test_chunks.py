"""Chunks and summaries in the index: found by their titles and keywords, kept up to date, and worth it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from penstock import enrich
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Region
from penstock.retrieval.hits import Filters
from penstock.retrieval.index import build, build_rows
from penstock.retrieval.index_folder import FOLDER
from penstock.retrieval.index_rows import ChunkRow, PageRow, Widths, rows_of
from penstock.retrieval.searcher import Searcher
from penstock.sources import PageRange
from penstock.stages.load import Load
from penstock.store import manifest
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PAGES
from tests.support.questions import FIGURE_QUESTIONS, QUESTIONS, VISUAL, recall


def chunk(number: int, text: str, pages: tuple[int, ...], section: str = "", keywords: str = "") -> ChunkRow:
    return ChunkRow(
        id=f"one#c{number}",
        document="one",
        pages=pages,
        page_ids=tuple(f"one/{page}" for page in pages),
        label="text",
        text=text,
        section=section,
        keywords=keywords,
    )


def page(number: int, *chunks: ChunkRow) -> PageRow:
    return PageRow(
        id=f"one/{number}", document="one", page=number, text=f"page {number}", digest="", chunks=chunks
    )


CHUNKS = (
    chunk(1, "the lake is full", (1,), "1. Water > 1.1 Lakes"),
    chunk(2, "it runs on and on", (1, 2), "1. Water > 1.2 Rivers", keywords="current"),
    chunk(3, "a wheel turns", (3,), "2. Engines"),
)
ROWS = [page(1, CHUNKS[0]), page(2, CHUNKS[1]), page(3, CHUNKS[2])]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    build_rows(tmp_path / FOLDER, ROWS, Widths())
    return tmp_path


def test_a_chunk_is_found_by_its_title_and_its_keywords_on_both_its_pages(made: Path) -> None:
    with Searcher(Out(made)) as searcher:
        [first, second] = searcher.search("rivers")
        assert {(hit.page_id, hit.page) for hit in (first, second)} == {("one/1", 1), ("one/2", 2)}
        assert first.section == "1. Water > 1.2 Rivers"
        assert first.pages == (1, 2)
        assert first.sources["chunk_bm25"][0] == second.sources["chunk_bm25"][0] == 1
        assert len(searcher.search("current")) == 2
        assert [
            hit.page for hit in searcher.search("rivers", filters=Filters(pages=PageRange.parse("2")))
        ] == [2]


def test_a_section_filters_whatever_stands_under_it(made: Path) -> None:
    with Searcher(Out(made)) as searcher:
        asked = "lake wheel runs"
        assert {hit.page for hit in searcher.search(asked, filters=Filters(sections=("water",)))} == {1, 2}
        assert [hit.page for hit in searcher.search(asked, filters=Filters(sections=("engines",)))] == [3]
        assert not searcher.search(asked, filters=Filters(sections=("it's 100%",)))


def test_only_chunks_that_changed_are_written_again_and_lost_ones_go(made: Path) -> None:
    again = build_rows(made / FOLDER, ROWS, Widths())
    assert (again.chunks, again.changed, again.removed) == (3, 0, 0)
    changed = replace(CHUNKS[2], text="a windmill turns")
    built = build_rows(made / FOLDER, [page(1, CHUNKS[0]), page(2), page(3, changed)], Widths())
    assert (built.chunks, built.changed) == (2, 0)
    with Searcher(Out(made)) as searcher:
        assert [hit.page for hit in searcher.search("windmill")] == [3]
        assert not searcher.search("rivers")


@pytest.mark.slow
def test_regions_and_chunks_of_a_run_know_their_section_and_page(small_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(small_run, tmp_path / "out"))
    _, rows = rows_of(Out(out))
    pages = list(rows)
    chunks = [chunk for page in pages for chunk in page.chunks]
    assert any("수압관이란 무엇인가" in chunk.section and "강철관" in chunk.text for chunk in chunks)
    assert any("Head, Flow and Power" in region.section for region in pages[2].regions)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    before = build(Out(out))
    assert before.chunks == len(chunks)
    list(enrich(out, text_engine="rule"))
    after = build(Out(out))  # what pass 2 says of a table or picture is new
    assert 0 < after.changed < 3
    assert build(Out(out)).changed == 0
    with Searcher(Out(out)) as searcher:
        [hit, *_] = searcher.search("표 에너지 valley", filters=Filters(labels=("table",)))
        assert (hit.page, hit.label) == (3, "table")
        assert hit.box is not None


def test_a_page_of_headings_is_a_chunk_of_its_own(tmp_path: Path) -> None:
    regions = [Region(index=0, label="doc_title", box=(0, 0, 9, 9), content="Water")]
    body = Region(index=1, label="text", box=(0, 10, 9, 19), content="It runs downhill.")
    first = Page(id="a/0", uri="", document="a", part=0, width=9, height=20, regions=tuple(regions))
    second = replace(first, id="a/1", part=1, regions=(*regions, body))
    manifest.write(tmp_path, Plan(Load(), name="made"))
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(first)
    writer.add(second)
    writer.commit()
    chunks = {chunk.id: chunk for page in rows_of(Out(tmp_path))[1] for chunk in page.chunks}
    assert {chunk.page_ids: chunk.text for chunk in chunks.values()} == {
        ("a/0",): "Water",
        ("a/1",): "It runs downhill.",
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_chunks_and_summaries_lose_no_page_and_find_more_figures(korean_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(korean_run, tmp_path / "out"))
    build(Out(out))
    alone = {"chunk_bm25": 0.0}
    pages, figures = recall(out, QUESTIONS, 5, weights=alone), recall(out, FIGURE_QUESTIONS, 5, VISUAL, alone)
    first = recall(out, FIGURE_QUESTIONS, 1, VISUAL, alone)
    list(enrich(out, text_engine="rule"))
    build(Out(out))
    assert recall(out, QUESTIONS, 5) >= pages
    assert recall(out, FIGURE_QUESTIONS, 5, VISUAL) > figures
    assert recall(out, FIGURE_QUESTIONS, 1, VISUAL) > first
