"""The sample document holds what its expected text says, so that other tests may compare to it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest

from penstock.region import LABELS

SAMPLE = Path(str(resources.files("penstock"))) / "sample"


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    made: dict[str, Any] = json.loads((SAMPLE / "sample.json").read_text("utf-8"))
    return made


@pytest.fixture(scope="module")
def layers() -> list[str]:
    """The text layer of each page, its lines joined."""
    with pdfium.PdfDocument(SAMPLE / "sample.pdf") as document:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in document]


def test_the_sample_is_small() -> None:
    assert (SAMPLE / "sample.pdf").stat().st_size < 1_000_000


def test_the_text_layer_says_every_block_in_order(expected: dict[str, Any], layers: list[str]) -> None:
    for page, layer in zip(expected["pages"][:3], layers, strict=False):
        place = 0
        for block in page["blocks"]:
            if "text" in block:
                assert block["text"] in layer[place:], block["text"]
                place = layer.index(block["text"], place) + len(block["text"])


def test_the_tables_words_are_in_the_layer(expected: dict[str, Any], layers: list[str]) -> None:
    cells = next(block["cells"] for block in expected["pages"][2]["blocks"] if block["label"] == "table")
    assert all(cell["text"] in layers[2] for cell in cells)


def test_the_scan_is_one_picture_and_no_text(expected: dict[str, Any], layers: list[str]) -> None:
    assert expected["pages"][3]["kind"] == "scan"
    assert layers[3] == ""
    with pdfium.PdfDocument(SAMPLE / "sample.pdf") as document:
        (picture,) = document[3].get_objects()
        assert picture.get_px_size() == (1653, 2339)


def test_every_cell_of_a_table_is_covered_once(expected: dict[str, Any]) -> None:
    tables = [block for page in expected["pages"] for block in page["blocks"] if block["label"] == "table"]
    assert [len(table["cells"]) for table in tables] == [28, 16]
    for table in tables:
        covered = [
            (cell["row"] + down, cell["col"] + right)
            for cell in table["cells"]
            for down in range(cell["rowspan"])
            for right in range(cell["colspan"])
        ]
        rows, columns = max(covered)
        assert len(covered) == len(set(covered)) == (rows + 1) * (columns + 1)


def test_labels_are_of_the_one_vocabulary_and_boxes_lie_on_the_page(expected: dict[str, Any]) -> None:
    width, height = expected["size"]
    for page in expected["pages"]:
        for block in page["blocks"]:
            x0, y0, x1, y1 = block["box"]
            assert block["label"] in LABELS
            assert 0 <= x0 < x1 <= width
            assert 0 <= y0 < y1 <= height
