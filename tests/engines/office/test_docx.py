"""DOCX: what Word keeps comes out as regions and Markdown, page by page."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

import penstock
from penstock.documents.formats.markdown import page_markdown
from penstock.engines.office.ooxml.docx import read_docx
from penstock.engines.office.package import XmlPackage
from penstock.errors import BadInput
from penstock.region import STRUCTURE, Region

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
TYPES = f"{R}/officeDocument"
STYLES = (
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/></w:style>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0"><w:lvl><w:start w:val="3"/><w:numFmt w:val="ganada"/>'
    '<w:lvlText w:val="%1."/></w:lvl><w:lvl><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl>'
    "</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
)


def made_docx(body: str, **parts: str) -> bytes:
    """Returns a DOCX with this body; `parts` are the insides of styles, numbering, footnotes, comments."""
    spaces = f'xmlns:w="{W}" xmlns:r="{R}" xmlns:m="{M}"'
    names = {"styles": STYLES, "numbering": NUMBERING, **parts}
    relations = "".join(
        f'<Relationship Id="r{name}" Type="{R}/{name}" Target="{name}.xml"/>' for name in names
    )
    link = (
        f'<Relationship Id="out" Type="{R}/hyperlink" Target="https://example.org/a" TargetMode="External"/>'
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr(
            "_rels/.rels",
            f'<Relationships><Relationship Id="d" Type="{TYPES}"'
            ' Target="word/document.xml"/></Relationships>',
        )
        file.writestr("word/_rels/document.xml.rels", f"<Relationships>{relations}{link}</Relationships>")
        file.writestr("word/document.xml", f"<w:document {spaces}><w:body>{body}</w:body></w:document>")
        for name, inside in names.items():
            file.writestr(f"word/{name}.xml", f"<w:{name} {spaces}>{inside}</w:{name}>")
    return data.getvalue()


def p(text: str, settings: str = "") -> str:
    return f"<w:p><w:pPr>{settings}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def item(level: int) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'


def cell(text: str, settings: str = "") -> str:
    return f"<w:tc><w:tcPr>{settings}</w:tcPr>{p(text)}</w:tc>"


BREAK = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
BODY = (
    p("보고서", style("T")) + p("Chapter", style("H1")) + p("Part", style("H2"))
    + p("하나", item(0)) + p("deeper", item(1)) + p("둘", item(0))
    + '<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="out"><w:r><w:t>this</w:t></w:r>'
      '</w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="0"/></w:r>'
      '<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t> new</w:t></w:r></w:ins></w:p>'
    + BREAK
    + "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>" + cell("Both", '<w:gridSpan w:val="2"/>') + "</w:tr>"
    + "<w:tr>" + cell("tall", '<w:vMerge w:val="restart"/>') + cell("b") + "</w:tr>"
    + "<w:tr>" + cell("", "<w:vMerge/>") + cell("c") + "</w:tr></w:tbl>"
    + "<w:p><m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>β</m:t></m:r>"
      "</m:den></m:f></m:oMath></m:oMathPara></w:p>"
)  # fmt: skip
NOTES = {
    "footnotes": f'<w:footnote w:id="2">{p("The note.")}</w:footnote>',
    "comments": f'<w:comment w:id="0" w:author="Kim">{p("Really?")}</w:comment>',
}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.docx"
    path.write_bytes(made_docx(BODY, **NOTES))
    return path


def test_a_docx_becomes_pages_of_markdown_at_its_own_page_breaks(report: Path) -> None:
    with penstock.convert(report) as document:
        first, second = list(document.pages)
        assert first.markdown == (
            "# 보고서\n\n## Chapter\n\n### Part\n\n다. 하나\n\n- deeper\n\n라. 둘\n\n"
            "See [this](https://example.org/a)[^2] new\n\n> Kim: Really?\n\n[^2]: The note."
        )
        assert second.markdown.endswith("$$\n\\frac{a}{\\beta}\n$$")
        assert {region.reader for page in (first, second) for region in page.regions} == {STRUCTURE}


def test_comments_and_deleted_words_are_kept_marked_and_out_of_the_text(report: Path) -> None:
    with penstock.convert(report) as document:
        kept = {
            r.native_label: r.content for r in next(iter(document.pages)).regions if r.label == "aside_text"
        }
        assert kept == {"comment": "Kim: Really?", "deleted": "gone"}


def test_hidden_words_are_kept_marked_and_out_of_the_text(tmp_path: Path) -> None:
    def run(text: str, hidden: str = "") -> str:
        return f"<w:r><w:rPr>{hidden}</w:rPr><w:t>{text}</w:t></w:r>"

    shown, hidden = '<w:vanish w:val="0"/>', "<w:vanish/>"
    path = tmp_path / "a.docx"
    path.write_bytes(made_docx(f"<w:p>{run('It ')}{run('never ', hidden)}{run('rains.', shown)}</w:p>"))
    kept = [(r.native_label, r.content) for page in penstock.parse(str(path)) for r in page.regions]
    assert kept == [("", "It rains."), ("hidden_text", "never ")]
    dropped = [r.content for page in penstock.parse(str(path), unprinted="drop") for r in page.regions]
    assert dropped == ["It rains."]


def test_merged_cells_have_spans_and_header_rows_are_known(report: Path) -> None:
    with penstock.convert(report) as document:
        [table] = document.tables
        shown = [(cell.r, cell.c, cell.rs, cell.cs, cell.text, cell.is_header) for cell in table.cells]
        assert shown == [
            (0, 0, 1, 2, "Both", True), (1, 0, 2, 1, "tall", False), (1, 1, 1, 1, "b", False),
            (2, 1, 1, 1, "c", False),
        ]  # fmt: skip


def test_a_region_without_a_place_has_the_whole_page_as_its_box(report: Path) -> None:
    with penstock.convert(report) as document:
        page = next(iter(document.pages))
        assert {region.box for region in page.regions} == {(0.0, 0.0, float(page.width), float(page.height))}


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ('<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>', "has a DTD"),
        ("<a>" * 5000 + "</a>" * 5000, "nested more than"),
        ("<a><b></a>", "no XML that can be read"),
    ],
)
def test_a_bomb_of_entities_or_depth_is_a_sentence(part: str, sentence: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("word/document.xml", part)
    with pytest.raises(BadInput, match=sentence):
        read_docx(XmlPackage(data))


def test_a_part_that_unpacks_to_far_more_than_it_weighs_is_refused() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        file.writestr("word/document.xml", "<a>" + " " * (40 << 20) + "</a>")
    with pytest.raises(BadInput, match="no document is packed so well"):
        read_docx(XmlPackage(data))


def test_a_broken_docx_fails_alone(report: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.docx").write_bytes(report.read_bytes()[:700])
    pages = list(penstock.parse([report, tmp_path / "broken.docx"]))
    assert [page.failure is None for page in pages] == [True, True, False]
    assert pages[-1].failure is not None
    assert "damaged" in pages[-1].failure.message


def test_links_are_kept_with_their_region(report: Path, tmp_path: Path) -> None:
    for _ in penstock.parse(report, out=tmp_path / "out"):
        pass
    penstock.export(tmp_path / "out", formats=["jsonl"])
    first, _ = (tmp_path / "out" / "ocr_results.jsonl").read_text("utf-8").splitlines()
    links = [region["links"] for region in json.loads(first)["regions"] if "links" in region]
    assert links == [[{"text": "this", "address": "https://example.org/a"}]]


def test_a_numbered_list_in_a_list_is_set_in_by_what_holds_it() -> None:
    text = "1. one\n  1. a\n  2. b\n2. two\n▪ deep\n• again"
    region = Region(label="text", box=(0, 0, 1, 1), content=text)
    assert page_markdown([region]) == "1. one\n   1. a\n   2. b\n2. two\n   - deep\n- again"
