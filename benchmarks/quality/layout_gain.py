"""What better boxes bring: OmniDocBench's demo pages with our layout, with PP-DocLayoutV3, with true boxes.

    python benchmarks/quality/layout_gain.py [DATA] [--layout-model FILE.onnx] [--out build/layout_gain]

The readers are the same; only what finds regions differs. True boxes are those people drew, with their labels
and their order: more than any network gives. PP-DocLayoutV3 is left out where its weights are not
(`penstock models fetch pp-doclayoutv3`). The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import penstock
from penstock.engines.weights import registry as weights
from penstock.page import Page
from penstock.plan import Plan
from penstock.recipes.documents import documents
from penstock.region import Region
from penstock.stage import Stage, Worker
from penstock_eval.benchmarks.omnidocbench import OmniDocBench
from penstock_eval.scoring import score_samples

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, all_cpu_s
from benchmarks.quality.score_all import predictions

VERSION = "v1.5"
LABEL = {
    "title": "paragraph_title", "text_block": "text", "figure": "image", "figure_caption": "figure_title",
    "figure_footnote": "vision_footnote", "table": "table", "table_caption": "figure_title",
    "table_footnote": "vision_footnote", "equation_isolated": "display_formula",
    "equation_caption": "formula_number", "header": "header", "footer": "footer", "page_number": "number",
    "page_footnote": "footnote", "abandon": "aside_text", "code_txt": "algorithm",
    "reference": "reference_content",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrueBoxes(Stage):
    """Regions as people marked them, by the picture's name."""

    name: ClassVar[str] = "true_boxes"
    reads: ClassVar[tuple[str, ...]] = ("pixels",)
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    boxes: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    def open(self) -> Worker[Page]:
        return _TrueBoxesWorker(self)


class _TrueBoxesWorker(Worker[Page]):
    def __init__(self, stage: TrueBoxes) -> None:
        self._boxes = stage.boxes

    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(page, regions=self._regions(page)) for page in items]

    def _regions(self, page: Page) -> tuple[Region, ...]:
        marked = self._boxes[Path(page.uri).name]
        return tuple(
            Region(label=LABEL[each["category_type"]], native_label="true", box=_box(each), index=rank)
            for rank, each in enumerate(sorted(marked, key=_order), 1)
        )


def _order(marked: dict[str, Any]) -> tuple[float, float]:
    """What has no place in the order of the text stands where its top is."""
    return (1e9 if marked["order"] is None else marked["order"], marked["poly"][1])


def _box(marked: dict[str, Any]) -> tuple[float, float, float, float]:
    xs, ys = marked["poly"][0::2], marked["poly"][1::2]
    return (min(xs), min(ys), max(xs), max(ys))


def true_boxes(folder: Path) -> Plan:
    pages = json.loads((folder / "OmniDocBench_demo.json").read_text(encoding="utf-8"))
    boxes = {
        page["page_info"]["image_path"]: [m for m in page["layout_dets"] if m["category_type"] in LABEL]
        for page in pages
    }
    given = documents(layout="pp-doclayoutv3")
    stages = (TrueBoxes(boxes=boxes) if stage.name == "layout" else stage for stage in given)
    return Plan(*stages, name="true boxes")


def plans(folder: Path, model: str) -> dict[str, Plan]:
    found = {"built in": documents()}
    if model or weights.look(weights.MODELS["pp-doclayoutv3"]).state == "ready":
        found["PP-DocLayoutV3"] = documents(layout="pp-doclayoutv3", layout_model=model)
    return {**found, "true boxes": true_boxes(folder)}


def scored(folder: Path, plan: Plan, out: Path) -> dict[str, float]:
    bench = OmniDocBench(version=VERSION)
    samples = bench.samples(folder)
    began, read = all_cpu_s(), {}
    for page in penstock.parse([sample.image for sample in samples], recipe=plan, out=out / "pages"):
        read[str(Path(page.uri).resolve())] = page.markdown
    seconds = (all_cpu_s() - began) / len(read)
    summary = score_samples(bench, samples, predictions(samples, read), out / "scores").summary
    means = {name: round(interval.mean, 4) for name, interval in summary.scores.items()}
    return {**means, "cpu_s_page": round(seconds, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--layout-model", default="", help="an ONNX file, or a checkpoint for torch")
    parser.add_argument("--out", type=Path, default=Path("build/layout_gain"))
    given = parser.parse_args()
    folder = given.data / "omnidocbench_demo"
    found = {
        name: scored(folder, plan, given.out / name.replace(" ", "-").lower())
        for name, plan in plans(folder, given.layout_model).items()
    }
    for name, scores in found.items():
        print(f"{name:16}", "  ".join(f"{key} {value:.4f}" for key, value in scores.items()))
    print(json.dumps({"benchmark": "layout_gain", "version": VERSION, "scores": found}))


if __name__ == "__main__":
    main()
