"""Every address in an export opens the thing that stands there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

import pytest

import penstock
from penstock.addresses.locator import Locator
from penstock.documents.docjson import file as docjson_file
from penstock.documents.docjson.table import read_table
from penstock.errors import UsageError
from penstock.exports.export import export
from penstock.exports.located import Located, locate
from penstock.exports.page_rows import result_row
from penstock.page import Page
from penstock.photo import Photo
from penstock.region import CellPlace, Line, Region
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PAGES, PHOTOS
from tests.support.command import here
from tests.support.things import thing

SAMPLE = str(files("penstock") / "sample" / "sample.pdf")
KOREAN = '보고서/3월 "표".pdf'
FORMATS = ["docjson", "docling", "content_list", "html", "chunks", "md", "jsonl"]


def korean_page() -> Page:
    table = "<table><tr><td>품목</td><td>값</td></tr><tr><td>쌀</td><td>1,200</td></tr></table>"
    places = tuple(
        CellPlace(row, column, (x, y, x + 200.0, y + 50.0), 0.5)
        for row, y in enumerate((300.0, 350.0))
        for column, x in enumerate((100.0, 300.0))
    )
    lines = (
        Line(text="수압관은 물을 나른다.", box=(100.0, 100.0, 500.0, 130.0), confidence=0.9),
        Line(text="터빈이 돈다.", box=(100.0, 140.0, 300.0, 170.0), confidence=0.75),
    )
    text = Region(
        label="text",
        box=(100.0, 100.0, 500.0, 170.0),
        content="수압관은 물을 나른다.\n터빈이 돈다.",
        lines=lines,
        confidence=0.8,
    )
    grid = Region(label="table", box=(100.0, 300.0, 500.0, 400.0), index=1, content=table, cells=places)
    return Page(
        id="k/0",
        uri="k.pdf",
        document=KOREAN,
        width=1000,
        height=1000,
        regions=(text, grid),
        markdown="수압관",
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Out:
    """The sample read by rules, a page with everything in a document of an awkward name, and a photo."""
    folder = tmp_path_factory.mktemp("located")
    list(penstock.parse(SAMPLE, out=folder, pages="1-3", layout="rules", text_layer="always", cores=1))
    pages = ShardWriter(folder, PAGES)
    pages.add(korean_page())
    pages.commit()
    photos = ShardWriter(folder, PHOTOS)
    photos.add(
        Photo(id="room/0", uri="room.jpg", document="room.jpg", width=1000, height=800, objects=(thing(),))
    )
    photos.commit()
    export(folder, FORMATS, anchors=True)
    return Out(folder)


def locators_in(out: Out) -> Iterator[str]:
    for path in out.path.rglob("*"):
        if path.suffix in (".json", ".jsonl", ".md", ".html") and path.name != "run.json":
            yield from re.findall(r"penstock:[A-Za-z0-9%/._~-]+", path.read_text("utf-8"))


def test_locators_in_every_export_open_something_on_its_page(out: Out) -> None:
    every = set(locators_in(out))
    assert {Locator.parse(each).document for each in every} == {"sample.pdf", KOREAN, "room.jpg"}
    assert len(every) > 60
    for each in sorted(every)[::3]:  # of real documents: all, in tests/slow/test_locators_of_corpora.py
        found = locate(out, Locator.parse(each))
        assert str(found.locator) == each
        assert found.kind == "chunk" or found.page == found.locator.page
        assert found.kind == "page" or found.text or found.crop or found.region is not None


def test_regions_and_blocks_say_what_stands_at_their_locators(out: Out) -> None:
    for page in out.read_pages():
        for row in result_row(page)["regions"]:
            found = locate(out, Locator.parse(row["locator"]))
            assert (found.text, list(found.bbox or ())) == (row["content"] or "", row["bbox_2d"])
    doc = docjson_file.read(out / "docjson" / "sample.json")
    for block in doc.blocks:
        found = locate(out, Locator.parse(block.locator))
        assert (found.page, found.label) == (block.page_no, block.label)
        if block.table is None and not any("number taken" in issue for issue in block.issues):
            assert found.text.strip() == block.text


def test_lines_and_cells_are_found_with_their_own_boxes(out: Out) -> None:
    page = Locator(document=KOREAN, page=1)
    line = locate(out, Locator(document=KOREAN, page=1, region=0, line=1))
    assert (line.text, line.bbox, line.confidence) == ("터빈이 돈다.", (100, 140, 300, 170), 0.75)
    cell = locate(out, Locator(document=KOREAN, page=1, region=1, cell=(1, 1)))
    assert (cell.text, cell.bbox, cell.confidence) == ("1,200", (300, 350, 500, 400), 0.5)
    with pytest.raises(UsageError, match="no line") as missing:
        locate(out, Locator.parse(f"{page}/r0/l2"))
    assert missing.value.advice == "There are: 0, 1."


def test_cells_of_docjson_have_boxes_and_the_html_shows_them(out: Out) -> None:
    doc = docjson_file.read(next((out / "docjson").rglob("3*.json")))
    [table] = [block.table for block in doc.blocks if block.table]
    corners = [cell.bbox.norm999[:2] for cell in table.cells if cell.bbox]
    assert corners == [(100, 300), (300, 300), (100, 350), (300, 350)]
    page = next((out / "html").rglob("3*/index.html")).read_text("utf-8")
    assert page.count("data-box=") == page.count('data-confidence="0.5"') == 4
    drawn = docjson_file.read(out / "docjson" / "sample.json")
    boxed = [cell for block in drawn.blocks if block.table for cell in block.table.cells if cell.bbox]
    assert boxed  # tables with drawn lines


def test_lines_and_cells_lead_back_to_their_own_words_from_every_export(out: Out) -> None:
    said: list[tuple[str, str]] = []
    for line in (out / "ocr_results.jsonl").read_text("utf-8").splitlines():
        for region in json.loads(line).get("regions", []):
            said += [(one["locator"], one["text"]) for one in region.get("lines", [])]
    for path in (out / "docjson").rglob("*.json"):
        tables = [block.table for block in docjson_file.read(path).blocks if block.table]
        said += [(cell.locator, cell.text) for table in tables for cell in table.cells]
    for path in (out / "docling").rglob("*.json"):
        for table in json.loads(path.read_text("utf-8"))["tables"]:
            said += [(cell["locator"], cell["text"]) for cell in table["data"]["table_cells"]]
    assert len(said) > 30
    for locator, text in said:
        assert locate(out, Locator.parse(locator)).text.split() == text.split()


def test_confidences_stand_in_every_export_and_a_file_s_own_text_has_none(out: Out) -> None:
    korean = json.loads(next((out / "docling").rglob("3*.json")).read_text("utf-8"))
    [table] = korean["tables"]
    assert [cell["confidence"] for cell in table["data"]["table_cells"]] == [0.5] * 4
    own = json.loads((out / "docling" / "sample.json").read_text("utf-8"))["texts"]
    assert all("confidence" not in prov for text in own for prov in text["prov"])
    rows = json.loads(next((out / "content_list").rglob("3*.json")).read_text("utf-8"))
    assert [row.get("confidence") for row in rows] == [0.8, None]
    assert korean["texts"][0]["prov"][0]["confidence"] == 0.8
    places = [
        place
        for line in (out / "chunks.jsonl").read_text("utf-8").splitlines()
        for place in json.loads(line)["places"]
    ]
    assert {place["confidence"] for place in places} == {None, 0.8}


def test_a_chunk_leads_back_to_its_regions(out: Out) -> None:
    rows = [json.loads(line) for line in (out / "chunks.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        found = locate(out, Locator.parse(row["locator"]))
        assert found.text == row["text"]
        regions = [locate(out, Locator.parse(place["locator"])) for place in row["places"]]
        assert [region.page for region in regions] == [place["page_no"] for place in row["places"]]
        assert [one.locator for one in regions] == [Locator.parse(each) for each in found.places]


def test_things_of_photos_have_addresses(out: Out) -> None:
    found = locate(out, Locator(document="room.jpg", page=1, thing=0))
    assert (found.kind, found.label) == ("thing", thing().label)


def test_without_being_asked_markdown_has_no_anchors(out: Out) -> None:
    marked = (out / "markdown" / "sample.md").read_text("utf-8")
    assert '<a id="penstock:sample.pdf/p1/r1"></a>' in marked
    export(out.path, ["md"])
    assert "penstock:" not in (out / "markdown" / "sample.md").read_text("utf-8")
    export(out.path, ["md"], anchors=True)


def test_python_and_the_shell_open_a_locator(out: Out) -> None:
    address = str(Locator(document=KOREAN, page=1, region=1, cell=(1, 0)))
    found = penstock.open(out.path).at(address)
    assert isinstance(found, Located) and found.text == "쌀"
    assert here("export", str(out), "--at", address).stdout == "쌀\n"
    row = json.loads(here("export", str(out), "--at", address, "--json").stdout)
    assert (row["text"], row["document"], row["kind"]) == ("쌀", KOREAN, "cell")


def test_search_takes_a_locator_for_a_question_and_needs_no_index(out: Out) -> None:
    [hit] = penstock.search(out.path, str(Locator(document=KOREAN, page=1, region=0)))
    assert (hit.document, hit.page, hit.region) == (KOREAN, 1, 0)
    assert Locator.parse(hit.locator).region == 0


@pytest.mark.parametrize(
    ("address", "said", "advice"),
    [
        ("penstock:other.pdf/p1", "no document 'other.pdf'", "sample.pdf"),
        ("penstock:sample.pdf/p9", "no page", "There are: 1, 2, 3."),
        ("penstock:sample.pdf/p1/r900", "no region", "There are: 0, 1, 2, 3, 4, ..."),
        ("penstock:sample.pdf/p1/r0/c0.0", "no cell", "It has none."),
        ("penstock:sample.pdf/c09999", "no chunk", ""),
        ("penstock:room.jpg/p1/o7", "no thing", "There are: 0."),
    ],
)
def test_an_address_of_nothing_says_what_is_there(out: Out, address: str, said: str, advice: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        locate(out, Locator.parse(address))
    assert advice in refused.value.advice


def test_cells_of_tables_are_found_by_row_and_column(out: Out) -> None:
    for page in out.read_pages():
        for region in page.regions:
            table = read_table(region.content or "") if region.label == "table" else None
            for cell in table.cells if table else ():
                at = replace(page.locator.at_region(region.index), cell=(cell.r, cell.c))
                assert locate(out, at).text == cell.text
