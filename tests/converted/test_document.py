"""What a converted document gives, how it keeps its pages, and that it leaves nothing behind."""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PIL import Image

import penstock
from penstock.documents.docjson.model import Cell, DocJSON
from penstock.errors import MissingModel, OpenError, UsageError
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Asset, Region
from penstock.stage import Stage, Worker
from penstock.stages.load import Load
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.conftest import SAMPLE
from tests.passes.test_in_order import meeting
from tests.support import made_pdf

FAKE = Plan(Load(dpi=36), FakeLayout(), FakeRecognise(fails=(1,)), name="fake")
JPEG = b"\xff\xd8\xff"


def region(label: str, content: str = "", index: int = 0, **more: Any) -> Region:
    top = 100.0 * index
    return Region(label=label, box=(0.0, top, 500.0, top + 80), index=index, content=content, **more)


@dataclass(frozen=True, kw_only=True)
class Written(Stage):
    """Reads nothing: every page says what `PAGES` says."""

    name: ClassVar[str] = "written"
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown", "width", "height")

    def open(self) -> _Writer:
        return _Writer()


class _Writer(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def _page(self, page: Page) -> Page:
        regions = PAGES[page.part]
        markdown = "\n\n".join(
            f"![{each.label}]({each.crop_path})" if each.crop_path else each.content or "" for each in regions
        )
        return replace(page, regions=regions, markdown=markdown, width=500, height=1000)


def table(*rows: str) -> str:
    return (
        "<table>" + "".join(f"<tr><td>{'</td><td>'.join(row.split())}</td></tr>" for row in rows) + "</table>"
    )


PICTURE = Image.new("RGB", (30, 20), "navy")
PICTURE_PATH = "crops/0123456789abcdef01234567.jpg"
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> [click](javascript:alert(3))'
PAGES: list[tuple[Region, ...]] = []  # filled below: a picture must be encoded first


def _pages() -> list[tuple[Region, ...]]:
    encoded = io.BytesIO()
    PICTURE.save(encoded, "JPEG")
    crop = Asset(path=PICTURE_PATH, data=encoded.getvalue())
    first = (
        region("doc_title", "The Year"),
        region("text", "Before any heading.", 1),
        region("paragraph_title", "1. Sales", 2),
        region("figure_title", "Figure 1. Sales over time", 3),
        region("image", "up", 4, crop=crop),
        region("figure_title", "Table 1. Sales by city", 7),
        region("table", table("City Sold", "Seoul 5", "Busan 7"), 8),
        region("footer", "confidential", 9),
    )
    second = (
        region("table", table("City Sold", "Jeju 2"), 0),
        region("paragraph_title", "1.1 Hostile", 3),
        region("text", HOSTILE, 4),
    )
    return [first, second]


PAGES += _pages()


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "year.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text("a"), made_pdf.text("b")]))
    return path


@pytest.fixture(scope="module")
def doc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[penstock.Document]:
    path = tmp_path_factory.mktemp("doc") / "year.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text("a"), made_pdf.text("b")]))
    with penstock.convert(path, recipe=Plan(Written(), name="written"), executor="inline") as document:
        yield document


def test_markdown_and_text_hold_all_pages_and_no_link_to_nothing(doc: penstock.Document) -> None:
    assert doc.markdown.startswith("<!-- page 1 -->\n\nThe Year")
    assert "<!-- page 2 -->" in doc.markdown
    assert "\\[image\\]" in doc.markdown
    assert "crops/" not in doc.markdown
    assert "crops/" not in doc.pages[0].markdown
    assert "City\tSold\nSeoul\t5\nBusan\t7" in doc.text
    assert "confidential" not in doc.text


def test_joined_markdown_has_the_table_over_two_pages_once_and_no_link_to_nothing(
    doc: penstock.Document,
) -> None:
    assert "<!-- page" in doc.markdown and "<!-- page" not in doc.joined_markdown
    assert doc.tables[0].markdown in doc.joined_markdown and doc.tables[0].markdown not in doc.markdown
    assert "](crops" not in doc.joined_markdown


def test_a_table_over_two_pages_is_one(doc: penstock.Document) -> None:
    [found] = doc.tables
    assert found.rows == [["City", "Sold"], ["Seoul", "5"], ["Busan", "7"], ["Jeju", "2"]]
    assert (found.page, found.last_page, found.caption) == (1, 2, "Table 1. Sales by city")
    assert found.markdown.splitlines()[:3] == ["| City | Sold |", "| --- | --- |", "| Seoul | 5 |"]
    assert found.html.startswith("<table><thead><tr><th>City</th><th>Sold</th></tr></thead>")
    frame = found.to_pandas()
    assert list(frame.columns) == ["City", "Sold"]
    assert frame["Sold"].astype(int).sum() == 14


def test_without_pandas_a_sentence_says_so(doc: penstock.Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingModel, match=r"pandas is not installed\. Run: pip install pandas"):
        doc.tables[0].to_pandas()


def test_a_figure_is_a_picture_and_outlives_its_document(pdf: Path) -> None:
    doc = penstock.convert(pdf, recipe=Plan(Written(), name="written"), executor="inline")
    [figure] = doc.figures
    del doc
    gc.collect()
    assert figure.image.size == PICTURE.size
    assert (figure.page, figure.kind, figure.caption, figure.text) == (
        1, "graph", "Figure 1. Sales over time", "up",
    )  # fmt: skip
    assert figure._repr_jpeg_()[:3] == JPEG
    assert "\\x" not in repr(figure)


def test_sections_hold_each_word_once(doc: penstock.Document) -> None:
    sections = [(each.level, each.heading, each.first_page, each.last_page) for each in doc.sections]
    assert sections == [(0, "The Year", 1, 1), (1, "1. Sales", 1, 2), (2, "1.1 Hostile", 2, 2)]
    assert doc.sections[0].content == "Before any heading."
    assert doc.sections[2].content == HOSTILE
    assert doc.sections[2].path == ("1. Sales", "1.1 Hostile")


def test_chunks_and_docjson(doc: penstock.Document) -> None:
    assert {chunk.kind for chunk in doc.chunks()} == {"text", "table", "visual"}
    given = doc.to_dict()
    json.dumps(given)
    read = DocJSON.model_validate(given)
    assert (read.name, read.title, len(read.pages)) == ("year.pdf", "The Year", 2)
    assert read.producer.recipe == "written"
    assert [join.kind for join in read.joins] == ["table"]


def test_saved_markdown_links_to_files_that_are_there(doc: penstock.Document, tmp_path: Path) -> None:
    path = doc.save(tmp_path / "kept")
    assert path == tmp_path / "kept" / "year.md"
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", path.read_text("utf-8"))
    assert links == [PICTURE_PATH]
    with Image.open(path.parent / links[0]) as picture:
        assert picture.size == PICTURE.size
    assert sorted(each.name for each in path.parent.iterdir()) == ["crops", "year.md"]


def test_saving_writes_through_no_link_and_deletes_nobody_elses_part(
    doc: penstock.Document, tmp_path: Path
) -> None:
    kept, mine = tmp_path / "kept", tmp_path / "mine.txt"
    kept.mkdir()
    mine.write_text("mine")
    (kept / ".year.md.part").symlink_to(mine)
    doc.save(kept)
    assert mine.read_text() == "mine" and (kept / ".year.md.part").is_symlink()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_notebook_runs_nothing_of_a_hostile_page(tmp_path: Path) -> None:
    path = tmp_path / '<img src=x onerror="alert(0)">.pdf'
    path.write_bytes(made_pdf.pdf([made_pdf.text("a"), made_pdf.text("b")]))
    with penstock.convert(path, recipe=Plan(Written(), name="written"), executor="inline") as doc:
        assert len(doc.pages) == 2
        parser = _Tags()
        parser.feed(doc._repr_html_())
        assert parser.tags <= {"div", "strong", "small", "pre"}
        assert parser.attributes <= {"style"}
        assert "&lt;script&gt;alert(1)" in doc._repr_html_()
        cells = _Tags()
        cells.feed(doc.tables[0]._repr_html_())
        assert cells.tags == {"table", "thead", "tbody", "tr", "th", "td"}


def test_hostile_cells_stay_text() -> None:
    cells = (Cell(r=0, c=0, text=HOSTILE), Cell(r=0, c=1, text="</td></table><script>"))
    found = penstock.DocumentTable(1, 1, "", cells)
    parser = _Tags()
    parser.feed(found._repr_html_())
    assert parser.tags == {"table", "tr", "td"}
    words = penstock.DocumentTable(1, 1, "", (), HOSTILE)
    parser = _Tags()
    parser.feed(words._repr_html_())
    assert parser.tags == set()


def test_pages_are_ascending_from_several_threads_and_can_be_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text(f"page {n}") for n in range(1, 55)]))
    with penstock.convert(path, recipe=meeting("convert")) as doc:
        first = doc.pages[0]
        assert [page.number for page in doc.pages] == list(range(1, 55))
        assert [page.number for page in doc.pages] == list(range(1, 55))
        assert doc.pages[0] == first
        assert [page.number for page in doc.pages[2:4]] == [3, 4]
        assert (doc.pages[-1].number, len(doc.pages)) == (54, 54)
        pairs = [(one.number, other.number) for one, other in zip(doc.pages, doc.pages, strict=True)]
        assert pairs == [(n, n) for n in range(1, 55)]
        with pytest.raises(IndexError, match=r"long\.pdf has 54 pages; there is none at 54"):
            doc.pages[54]


def test_nothing_is_read_before_it_is_asked_for(pdf: Path) -> None:
    done: list[int] = []
    with penstock.convert(
        pdf, recipe=FAKE, executor="inline", on_progress=lambda progress: done.append(progress.done)
    ) as doc:
        assert repr(doc) == "Document('year.pdf', 0 pages read so far)"
        assert done == []
        assert doc.pages[0].number == 1
        assert done == [1]
        assert repr(doc.pages) == "<1 page read so far of 'year.pdf'>"
        assert len(doc.pages) == 2
        assert repr(doc) == "Document('year.pdf', 2 pages)"


def test_a_failed_page_fails_alone(pdf: Path) -> None:
    with penstock.convert(pdf, recipe=FAKE, executor="inline") as doc:
        [(number, failure)] = doc.failures
        assert (number, failure.stage) == (2, "fake_recognise")
        assert "<!-- page 2 -->\n\n<!-- failed in fake_recognise" in doc.markdown
        assert "failed" in doc._repr_html_() or "asked to fail" in doc._repr_html_()


def kept() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"penstock-convert-{os.getpid()}-*"))


def test_what_was_kept_goes_when_the_document_is_closed_or_forgotten(pdf: Path) -> None:
    before = kept()
    doc = penstock.convert(pdf.read_bytes(), recipe=FAKE, executor="inline")
    with doc:
        assert len(doc.pages) == 2
        assert len(kept() - before) == 1
    assert kept() - before == set()
    with pytest.raises(UsageError, match="The document is closed"):
        doc.pages[0]
    doc = penstock.convert(pdf, recipe=FAKE, executor="inline")
    assert doc.pages[0].number == 1
    assert len(kept() - before) == 1
    del doc
    gc.collect()
    assert kept() - before == set()


def test_a_document_that_is_left_early_or_forgotten_ends_its_run(tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text(f"page {n}") for n in range(1, 55)]))
    with penstock.convert(path, recipe=meeting("early", others=1)) as doc:
        assert doc.pages[0].number == 1
    assert threads() == []
    doc = penstock.convert(path, recipe=meeting("forgotten", others=1))
    assert doc.pages
    assert threads() != []
    del doc
    gc.collect()
    assert threads() == []


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(("feed", "meet-"))]


@dataclass(frozen=True, kw_only=True)
class Broken(Stage):
    """Cannot be opened."""

    name: ClassVar[str] = "broken"

    def open(self) -> Worker[Page]:
        raise OpenError("The weights are gone.")


def test_a_run_that_ends_with_an_error_is_no_short_document(pdf: Path) -> None:
    with penstock.convert(pdf, recipe=Plan(Broken()), executor="inline") as doc:
        for _ in range(2):
            with pytest.raises(OpenError, match="The weights are gone"):
                len(doc.pages)


def test_a_list_gives_documents_that_one_run_reads(pdf: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "year.pdf"
    other.parent.mkdir()
    other.write_bytes(made_pdf.pdf([made_pdf.text("c")]))
    sources = [pdf, other.read_bytes(), other, PICTURE, tmp_path / "missing.pdf"]
    with penstock.convert(sources, recipe=FAKE, executor="inline") as documents:
        assert repr(documents) == "Documents(...)"
        first = f"{tmp_path.name}/year.pdf"  # two of one name keep their folders
        assert documents[0].name == first
        names = [doc.name for doc in documents]
        assert names == [first, "document.pdf", "other/year.pdf", "image.png", "missing.pdf"]
        assert [len(doc.pages) for doc in documents] == [2, 1, 1, 1, 1]
        assert (len(documents), documents[-1].failures[0][1].kind) == (5, "BadInput")
        paths = documents.save(tmp_path / "kept")
        assert [path.relative_to(tmp_path / "kept").as_posix() for path in paths] == [
            f"{tmp_path.name}/year.md", "document.md", "other/year.md", "image.md", "missing.md",
        ]  # fmt: skip


def test_no_repr_shows_bytes() -> None:
    crop = Asset(path="crops/a.jpg", data=b"\x00secret bytes")
    shown = Region(label="image", box=(0.0, 0.0, 1.0, 1.0), crop=crop, request=b"\x00secret bytes")
    page = Page(
        id="a", uri="a.pdf", document="a.pdf", image=b"\x00secret bytes", regions=(shown,), raw_answer=crop
    )
    assert "secret" not in repr(page)
    assert pickle.loads(pickle.dumps(page)) == page


def test_markdown_of_a_parse_without_a_folder_links_to_nothing(pdf: Path, tmp_path: Path) -> None:
    plan = Plan(Written(), name="written")
    [page, _] = penstock.parse(pdf, recipe=plan, executor="inline")
    assert "\\[image\\]" in page.markdown
    assert "crops/" not in page.markdown
    assert page.regions[4].crop is not None and page.regions[4].crop.data is not None
    [page, _] = penstock.parse(pdf, out=tmp_path / "out", recipe=plan, executor="inline")
    assert f"![image]({PICTURE_PATH})" in page.markdown
    assert (tmp_path / "out" / PICTURE_PATH).is_file()


def test_the_sample_as_people_write_it() -> None:
    with penstock.convert(SAMPLE, layout="rules", text_layer="always", pages="1-3") as doc:
        assert doc.sections[0].heading == "The Pipe That Feeds the Turbines"
        assert "penstock" in doc.text
        assert all(table.rows for table in doc.tables)
        assert all(figure.image.size[0] > 10 for figure in doc.figures)
