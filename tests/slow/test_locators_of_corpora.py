"""Every locator in every export of real documents opens the thing that stands there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock.addresses.locator import Locator
from penstock.documents.docjson.table import read_table
from penstock.exports.export import export
from penstock.exports.located import locate, located
from penstock.page import Page
from penstock.store.out import Out

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_200)]

FORMATS = ["docjson", "docling", "content_list", "chunks", "md", "jsonl"]
# folders of the test data, and how many files of each
SOURCES = {
    "korean_text": 1, "korean_pdf": 1, "devset/camelot_tables": 4, "devset/zugferd_invoices": 4,
    "devset/jose_papers": 2, "devset/debian_multilang": 2, "devset/rendered_korean": 2,
    "devset/formats/office/docling": 12, "devset/formats/hwp/hwpxlib": 3,
}  # fmt: skip
ENDINGS = (".pdf", ".docx", ".pptx", ".xlsx", ".hwpx", ".html", ".odt", ".eml")


@pytest.fixture(scope="module")
def out(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Out:
    folder = tmp_path_factory.mktemp("corpora")
    for source, count in SOURCES.items():
        files = sorted(path for path in (shared_data / source).rglob("*") if path.suffix in ENDINGS)
        inputs = [str(path) for path in files[:count]]
        list(penstock.parse(inputs, out=folder, pages="1-4", layout="rules", text_layer="always"))
    export(folder, FORMATS, anchors=True)
    return Out(folder)


def locators_in(out: Out) -> set[Locator]:
    def texts() -> Iterator[str]:
        for path in out.path.rglob("*"):
            if path.suffix in (".json", ".jsonl", ".md") and path.name != "run.json":
                yield path.read_text("utf-8")

    return {Locator.parse(each) for text in texts() for each in re.findall(r"penstock:[\w%/.~-]+", text)}


def test_all_of_them_open_what_they_name(out: Out) -> None:
    pages = {(page.document, page.number): page for page in out.read_pages()}
    by_kind: defaultdict[str, int] = defaultdict(int)
    every = locators_in(out)
    for at in every:
        if at.page is None or at.chunk is not None:
            continue
        page = pages[at.document, at.page]
        found = located(page, at)
        by_kind[found.kind] += 1
        assert (found.page, str(found.locator)) == (page.number, str(at))
        if at.region is not None and at.line is None and at.cell is None:
            [region] = [region for region in page.regions if region.index == at.region]
            assert found.text == (region.content or "")
        _check_parts(page, by_kind)
    for at in sorted((at for at in every if at.chunk is not None), key=str)[::10]:
        by_kind["chunk"] += 1
        assert locate(out, at).text
    assert all(by_kind[kind] > 10 for kind in ("page", "region", "line", "cell", "chunk")), by_kind


_checked: set[str] = set()


def _check_parts(page: Page, by_kind: defaultdict[str, int]) -> None:
    """Each page's lines and cells, once: exports name them by their region and their place in it."""
    if str(page.locator) in _checked:
        return
    _checked.add(str(page.locator))
    for region in page.regions:
        at = page.locator.at_region(region.index)
        for number, line in enumerate(region.lines):
            assert located(page, Locator.parse(f"{at}/l{number}")).text == line.text
            by_kind["line"] += 1
        table = read_table(region.content or "") if region.label == "table" else None
        for cell in table.cells if table else ():
            assert located(page, Locator.parse(f"{at}/c{cell.r}.{cell.c}")).text == cell.text
            by_kind["cell"] += 1
