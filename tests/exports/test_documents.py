"""Claims about the files made from a document: docling, content_list, HTML, chunks, Markdown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import penstock
from penstock.documents.docjson import file as docjson_file
from penstock.documents.docjson.model import BBox, Block
from penstock.documents.formats.article import article_html
from penstock.documents.formats.html import page_section
from penstock.errors import Failure, UsageError
from penstock.exports.export import export
from penstock.page import Page
from penstock.region import Region
from penstock.store.ledger import ShardWriter
from penstock.store.schema import PAGES

SAMPLE = str(files("penstock") / "sample" / "sample.pdf")
EVIL = "<script>alert('x')</script> & \"quotes\""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample read by rules: born-digital pages without a model, seconds instead of a minute."""
    folder = tmp_path_factory.mktemp("sample")
    options = {"layout": "rules", "text_layer": "always", "cores": 1}
    list(penstock.parse(SAMPLE, out=folder, pages="1-3", **options))
    export(folder, ["docjson", "docling", "content_list", "html", "chunks", "md", "md-joined", "jsonl"])
    return folder


@pytest.mark.slow
def test_docling_core_loads_the_docling_export(out: Path) -> None:
    docling = pytest.importorskip("docling_core.types.doc")
    doc = docling.DoclingDocument.load_from_json(out / "docling" / "sample.json")
    own = docjson_file.read(out / "docjson" / "sample.json")
    assert len(doc.pages) == 3
    assert len(doc.tables) == sum(block.category == "table" for block in own.blocks)
    text = doc.export_to_markdown()
    assert "# The Pipe That Feeds the Turbines" in text
    assert "수압관은 저수지의 물을" in text
    captions = [table.caption_text(doc) for table in doc.tables]
    assert any(caption.startswith("Table 1.") for caption in captions)


def test_joined_markdown_has_the_words_of_the_other_and_no_page_marks(out: Path) -> None:
    marked = (out / "markdown" / "sample.md").read_text("utf-8")
    joined = (out / "markdown_joined" / "sample.md").read_text("utf-8")
    assert "<!-- page" in marked and "<!-- page" not in joined
    assert re.sub(r"<!-- page \d+ -->", "", marked).split() == joined.split()


def test_running_titles_are_no_body_in_docjson_and_in_no_chunk(tmp_path: Path) -> None:
    title, body = "Mills of the valley", "The wheel turns."
    writer = ShardWriter(tmp_path, PAGES)
    for part in range(4):
        head = Region(label="text", box=(100.0, 20.0, 900.0, 50.0), content=f"{title} {part}")
        text = Region(label="text", box=(100.0, 300.0, 900.0, 400.0), index=1, content=body)
        page = Page(id=f"a/{part}", document="a.pdf", uri="a.pdf", part=part, width=1000, height=1400)
        writer.add(replace(page, regions=(head, text)))
    writer.commit()
    export(tmp_path, ["docjson", "chunks"])
    doc = docjson_file.read(tmp_path / "docjson" / "a.json")
    assert [block.layer for block in doc.blocks] == ["furniture", "body"] * 4
    chunks = (tmp_path / "chunks.jsonl").read_text("utf-8")
    assert body in chunks and title not in chunks


def test_content_list_is_flat_and_in_reading_order(out: Path) -> None:
    rows = json.loads((out / "content_list" / "sample.json").read_text("utf-8"))
    assert {row["type"] for row in rows} >= {"text", "table", "page_number"}
    assert all(len(row["bbox"]) == 4 and 0 <= min(row["bbox"]) <= max(row["bbox"]) <= 1000 for row in rows)
    assert [row["page_idx"] for row in rows] == sorted(row["page_idx"] for row in rows)
    title = next(row for row in rows if row.get("text_level"))
    assert title["text"] == "The Pipe That Feeds the Turbines"
    table = next(row for row in rows if row["type"] == "table")
    assert table["table_caption"][0].startswith("Table 1.") and table["table_body"].startswith("<table>")


def test_the_html_shows_a_box_for_every_block_over_its_page(out: Path) -> None:
    page = (out / "html" / "sample" / "index.html").read_text("utf-8")
    own = docjson_file.read(out / "docjson" / "sample.json")
    assert page.count('<a class="') == len(own.blocks)
    assert all((out / "html" / "sample" / f"{number:05d}.jpg").is_file() for number in (1, 2, 3))
    assert "<script" not in page and "default-src 'none'" in page


def test_the_html_reads_as_an_article(out: Path) -> None:
    page = (out / "html" / "sample" / "index.html").read_text("utf-8")
    assert re.search(
        r'<h1 id="[^"]+" data-locator="penstock:[^"]+">The Pipe That Feeds the Turbines</h1>', page
    )
    assert re.search(r"<h3 id=[^>]+>1\. 수압관이란 무엇인가</h3>", page)
    assert re.search(
        r"<figure[^>]*><figcaption[^>]*>Table 1\..*?</figcaption><div class=.wide.><table>", page
    )
    article = "".join(re.findall(r"<article>.*?</article>", page, re.DOTALL))
    assert "Penstock sample document" not in article  # the header of every page
    assert article.count("Figure 1. Water through the main gate") == 1
    for address in re.findall(r'<img src="([^"]+)"', article):
        assert (out / "html" / "sample" / address).resolve().is_file()
    words = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert "complex_image" not in words and "text_paragraph" not in words


def test_lists_code_and_pictures_without_a_file_have_their_place_in_the_article() -> None:
    def block(number: int, category: str, text: str, role: str = "") -> Block:
        box = BBox(norm999=(0, 0, 9, 9), px=(0, 0, 9, 9))
        facts = {"id": f"b{number}", "doc_index": number, "page_no": 1, "order": number, "bbox": box}
        return Block.model_validate({**facts, "category": category, "text": text, "role": role})

    shown = article_html(
        [
            block(0, "text_paragraph", "Buy:\n- nails\n• a <b>\n3. first\n4) then"),
            block(1, "text_paragraph", "if a < b:\n    go()", "code"),
            block(2, "complex_image", "kettle\nlake"),
            block(3, "complex_image", ""),
        ],
        {},
    )
    assert "<p>Buy:</p><ul><li>nails</li><li>a &lt;b&gt;</li></ul>" in shown
    assert '<ol start="3"><li>first</li><li>then</li></ol>' in shown
    assert "<pre><code>if a &lt; b:\n    go()</code></pre>" in shown
    assert "<p>kettle lake</p>" in shown and "A figure without a picture." in shown


def test_what_a_page_says_stays_text_in_html(tmp_path: Path) -> None:
    region = Region(label="text", box=(0, 0, 10, 10), content=EVIL, index=0)
    table = Region(
        label="table", box=(0, 20, 10, 40), content=f"<table><tr><td>{EVIL}</td></tr></table>", index=1
    )
    writer = ShardWriter(tmp_path, PAGES)
    writer.add(
        Page(id="a", uri="gone.pdf", document=EVIL, part=0, width=100, height=100, regions=(region, table))
    )
    writer.commit()
    export(tmp_path, ["docjson"])
    [path] = (tmp_path / "docjson").rglob("*.json")
    doc = docjson_file.read(path)
    shown = page_section(doc.pages[0], doc.blocks, "")
    assert "<script" not in shown and "&lt;script&gt;" in shown


def test_chunks_are_lines_an_index_can_read(out: Path) -> None:
    rows = [json.loads(line) for line in (out / "chunks.jsonl").read_text("utf-8").splitlines()]
    assert {row["kind"] for row in rows} >= {"text", "table"}
    assert all(row["document"] == "sample.pdf" and row["block_ids"] and row["text"] for row in rows)


def test_failed_pages_are_told_in_every_export(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    failure = Failure(stage="load", kind="BadInput", message="The page is broken.")
    writer.add(Page(id="a", uri="a.pdf", document="a.pdf", part=0, failure=failure))
    writer.commit()
    export(tmp_path, ["docjson", "docling", "content_list", "chunks"])
    doc = docjson_file.read(tmp_path / "docjson" / "a.json")
    assert [(page.status, page.reason) for page in doc.pages] == [("failed", "The page is broken.")]
    assert json.loads((tmp_path / "content_list" / "a.json").read_text()) == []


def test_an_unknown_export_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no export 'pptx'"):
        export(tmp_path, ["pptx"])
