"""Compares layout networks on the pages of OmniDocBench's demo whose boxes were drawn by people.

    python benchmarks/quality/layout_boxes.py --data ../shared/data/omnidocbench_demo
        [--engines cdla student pp-doclayoutv3] [--model PP-DocLayoutV3.onnx] [--threshold 0.35]

Prints for each network: boxes found at an overlap of one half, share of its boxes that match, labels right of
matched, pairs of matched boxes in the wrong order, CPU seconds a page with one thread. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from penstock.engines.layout.cdla import CdlaLayout, Detection
from penstock.engines.layout.clean import DEFAULT
from penstock.engines.layout.doclayout_onnx import DocLayoutOnnx
from penstock.engines.layout.doclayout_output import PlacedDetection
from penstock.engines.layout.student import StudentLayout

TEXT = {
    "text",
    "abstract",
    "content",
    "reference",
    "reference_content",
    "algorithm",
    "vertical_text",
    "aside_text",
}
CAPTIONS = {"figure_title", "vision_footnote", "text"}
# what a network may call what people called so
RIGHT: dict[str, set[str]] = {
    "text_block": TEXT,
    "title": {"paragraph_title", "doc_title"},
    "header": {"header", "header_image", "number"},
    "footer": {"footer", "footer_image", "number", "footnote"},
    "page_number": {"number", "header", "footer"},
    "equation_isolated": {"display_formula"},
    "equation_caption": {"formula_number"},
    "table": {"table"},
    "figure": {"image", "chart", "header_image", "seal"},
    "table_caption": CAPTIONS,
    "figure_caption": CAPTIONS,
    "page_footnote": {"footnote", "text"},
    "table_footnote": {"vision_footnote", "text", "footnote"},
    "figure_footnote": {"vision_footnote", "text", "footnote"},
}


def overlaps(first: Any, second: Any) -> Any:
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(2)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(1) for boxes in (first, second)]
    return shared / (areas[0][:, None] + areas[1][None] - shared)


def matches(truth: Any, found: Any) -> list[tuple[int, int]]:
    """Returns pairs that overlap by half or more, the best first, each box once."""
    if not len(truth) or not len(found):
        return []
    shared, pairs = overlaps(truth, found), []
    while shared.max() >= 0.5:
        row, column = np.unravel_index(shared.argmax(), shared.shape)
        pairs.append((int(row), int(column)))
        shared[row], shared[:, column] = 0, 0
    return pairs


def truth_of(page: dict[str, Any]) -> list[tuple[str, list[float], int | None]]:
    boxes = []
    for each in page["layout_dets"]:
        if each["category_type"] in RIGHT:
            xs, ys = each["poly"][::2], each["poly"][1::2]
            boxes.append((each["category_type"], [min(xs), min(ys), max(xs), max(ys)], each.get("order")))
    return boxes


def score(engine: Any, pages: list[tuple[Any, Any]]) -> dict[str, float]:
    total = {"boxes": 0, "found": 0, "made": 0, "labels": 0, "pairs": 0, "wrong": 0}
    engine.detect(pages[0][0])
    started = time.process_time()
    answers: list[Sequence[Detection]] = [engine.detect(pixels) for pixels, _ in pages]
    seconds = (time.process_time() - started) / len(pages)
    for (_, truth), found in zip(pages, answers, strict=True):
        paired = matches(
            np.array([box for _, box, _ in truth]), np.array([each.box for each in found]).reshape(-1, 4)
        )
        total["boxes"] += len(truth)
        total["made"] += len(found)
        total["found"] += len(paired)
        total["labels"] += sum(found[j].label in RIGHT[truth[i][0]] for i, j in paired)
        ranked = [(truth[i][2], j) for i, j in paired if truth[i][2] is not None]
        both = [(a, b) for a in ranked for b in ranked if (a[0] or 0) < (b[0] or 0)]
        if any(isinstance(each, PlacedDetection) for each in found):
            total["pairs"] += len(both)
            total["wrong"] += sum(a[1] > b[1] for a, b in both)
    return {
        "found": total["found"],
        "boxes": total["boxes"],
        "recall": round(total["found"] / total["boxes"], 4),
        "precision": round(total["found"] / max(1, total["made"]), 4),
        "labels": round(total["labels"] / max(1, total["found"]), 4),
        "wrong_order": round(total["wrong"] / total["pairs"], 4) if total["pairs"] else -1,
        "cpu_s": round(seconds, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data/omnidocbench_demo"))
    parser.add_argument("--engines", nargs="+", default=["cdla", "student"])
    parser.add_argument("--model", default="")
    parser.add_argument("--threshold", type=float)
    options = parser.parse_args()
    pages = []
    for page in json.loads((options.data / "OmniDocBench_demo.json").read_text()):
        picture = cv2.imread(str(options.data / "images" / page["page_info"]["image_path"]))
        if picture is not None:
            pages.append((cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), truth_of(page)))
    cv2.setNumThreads(1)
    made = {
        "cdla": lambda: CdlaLayout(1),
        "student": lambda: StudentLayout(1, options.threshold),
        "pp-doclayoutv3": lambda: DocLayoutOnnx(options.model, 1, DEFAULT),
    }
    scores = {name: score(made[name](), pages) for name in options.engines}
    for name, values in scores.items():
        print(f"{name:16}", values)
    print(json.dumps(scores))


if __name__ == "__main__":
    main()
