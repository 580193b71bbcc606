"""Reading order of regions from their boxes and labels."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from penstock.box import Box
from penstock.documents.layout.reading_order import reading_order
from penstock.region import LABELS
from tests.conftest import SAMPLE

OMNIDOCBENCH = {
    "text_block": "text", "title": "paragraph_title", "header": "header", "page_number": "number",
    "equation_isolated": "display_formula", "equation_caption": "formula_number", "table": "table",
    "figure": "image", "table_caption": "figure_title", "figure_caption": "figure_title",
    "footer": "footer", "abandon": "aside_text", "page_footnote": "footnote",
    "table_footnote": "vision_footnote", "figure_footnote": "vision_footnote",
}  # fmt: skip

numbers = st.floats(-50, 1500, allow_nan=False, width=32)
regions = st.tuples(st.tuples(numbers, numbers, numbers, numbers), st.sampled_from(LABELS))


@given(st.lists(regions, max_size=40))
def test_every_region_has_one_place(found: list[tuple[Box, str]]) -> None:
    order = reading_order([box for box, _ in found], [label for _, label in found], 1000, 1400)
    assert sorted(order) == list(range(len(found)))


def test_columns_are_read_one_after_the_other() -> None:
    boxes = [
        (520, 300, 900, 500),
        (100, 300, 480, 500),
        (100, 100, 900, 150),
        (100, 520, 480, 700),
        (520, 520, 900, 700),
    ]
    labels = ["text", "text", "doc_title", "text", "text"]
    assert reading_order(boxes, labels, 1000, 1400) == [2, 1, 3, 0, 4]


def test_a_full_width_figure_parts_the_columns_above_from_those_below() -> None:
    boxes = [
        (100, 100, 480, 300), (520, 100, 900, 300),
        (100, 350, 900, 600),
        (100, 700, 480, 900), (520, 700, 900, 900),
    ]  # fmt: skip
    labels = ["text", "text", "image", "text", "text"]
    assert reading_order(boxes, labels, 1000, 1400) == [0, 1, 2, 3, 4]


def test_boxes_that_run_into_each_other_are_still_columns() -> None:
    boxes = [(100, 100, 503, 400), (500, 100, 900, 400), (100, 398, 502, 700), (501, 399, 900, 700)]
    assert reading_order(boxes, ["text"] * 4, 1000, 1400) == [0, 2, 1, 3]


def test_a_narrow_caption_stays_with_its_wide_figure() -> None:
    boxes = [(100, 100, 900, 400), (560, 410, 890, 440), (100, 480, 480, 900), (520, 480, 900, 900)]
    labels = ["image", "figure_title", "text", "text"]
    assert reading_order(boxes, labels, 1000, 1400) == [0, 1, 2, 3]


def test_furniture_stands_at_the_ends() -> None:
    boxes = [
        (480, 1350, 520, 1370),
        (100, 1200, 900, 1250),
        (100, 200, 900, 1000),
        (100, 20, 900, 40),
        (0, 1380, 900, 1395),
    ]
    labels = ["number", "footnote", "text", "header", "footer"]
    assert reading_order(boxes, labels, 1000, 1400) == [3, 2, 1, 0, 4]


def test_a_thousand_interlocking_boxes_take_no_time() -> None:
    rng = random.Random(0)
    boxes = []
    for _ in range(1000):
        x, y = rng.uniform(0, 900), rng.uniform(0, 1300)
        boxes.append((x, y, x + 120, y + 60))
    assert len(reading_order(boxes, ["text"] * 1000, 1000, 1400)) == 1000


def test_the_order_of_the_samples_blocks_is_found() -> None:
    sample = json.loads(SAMPLE.with_suffix(".json").read_text())
    for page in sample["pages"]:
        blocks = list(enumerate(page["blocks"]))
        random.Random(page["page"]).shuffle(blocks)
        boxes = [tuple(block["box"]) for _, block in blocks]
        order = reading_order(boxes, [block["label"] for _, block in blocks], *sample["size"])
        assert [blocks[i][0] for i in order] == list(range(len(blocks)))


def test_the_order_of_annotated_pages_is_found(shared_data: Path) -> None:
    path = shared_data / "omnidocbench_demo" / "OmniDocBench_demo.json"
    if not path.is_file():
        pytest.skip(f"no {path.name}")
    distances = [_distance(page) for page in json.loads(path.read_text())]
    mean = sum(distances) / len(distances)
    print(f"mean order edit distance on {len(distances)} pages: {mean:.4f}")
    assert mean < 0.01


def _distance(page: dict[str, list[dict[str, object]]]) -> float:
    found = list(page["layout_dets"])
    random.Random(0).shuffle(found)
    boxes = [_box(d["poly"]) for d in found]  # type: ignore[arg-type]
    labels = [OMNIDOCBENCH[str(d["category_type"])] for d in found]
    width, height = max(b[2] for b in boxes), max(b[3] for b in boxes)
    order = [found[i]["order"] for i in reading_order(boxes, labels, width, height)]
    order = [place for place in order if place is not None]
    return Levenshtein.distance(sorted(order), order) / max(1, len(order))  # type: ignore[type-var]


def _box(polygon: list[float]) -> Box:
    xs, ys = polygon[::2], polygon[1::2]
    return (min(xs), min(ys), max(xs), max(ys))
