"""Layout mAP against the official COCO figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from penstock.evaluate.metrics.detection import Labelled, layout_map

TRUE_NAMES = {
    "page_number": "abandon",
    "header": "abandon",
    "footer": "abandon",
    "page_footnote": "abandon",
    "code_txt": "figure",
    "equation_caption": "formula_caption",
    "equation_isolated": "isolate_formula",
    "text_block": "text",
}


def test_the_omnidocbench_demo_gives_the_official_map(shared_data: Path) -> None:
    demo = shared_data / "omnidocbench_demo"
    given = json.loads((demo / "detection" / "detection_prediction.json").read_text())
    names = {
        int(number): "text" if name == "plain text" else name for number, name in given["categories"].items()
    }
    truth, found = [], []
    for page in json.loads((demo / "OmniDocBench_demo.json").read_text()):
        image = Path(page["page_info"]["image_path"]).stem
        boxes = [
            (TRUE_NAMES.get(b["category_type"], b["category_type"]), b["poly"]) for b in page["layout_dets"]
        ]
        truth.append([Labelled(n, (p[0], p[1], p[4], p[5])) for n, p in boxes if n in names.values()])
        rows = [row for row in given["results"] if row["image_name"] == image]
        found.append([Labelled(names[row["category_id"]], tuple(row["bbox"]), row["score"]) for row in rows])
    score = layout_map(truth, found)
    assert score.map == pytest.approx(0.599947, abs=1e-6)
    assert score.map50 == pytest.approx(0.742830, abs=1e-6)


def test_boxes_in_place_score_one_and_none_score_zero() -> None:
    truth = [[Labelled("text", (0, 0, 10, 10)), Labelled("table", (20, 0, 30, 10))]]
    assert layout_map(truth, truth).map == pytest.approx(1.0)
    assert layout_map(truth, [[]]).map == 0.0
    assert math.isnan(layout_map([[]], [[]]).map)


def test_a_second_box_on_the_same_truth_is_wrong() -> None:
    truth = [[Labelled("text", (0, 0, 10, 10)), Labelled("text", (50, 50, 60, 60))]]
    twice = [[Labelled("text", (0, 0, 10, 10), 0.9), Labelled("text", (0, 0, 10, 10), 0.8)]]
    assert layout_map(truth, twice).map == pytest.approx(51 / 101)
