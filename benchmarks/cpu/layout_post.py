"""Measures layout postprocessing beside the GLM-OCR SDK's, on the same boxes.

    python -m venv venv/glmocr && venv/glmocr/bin/pip install glmocr==0.1.5     # once; venv/ is git-ignored
    python benchmarks/cpu/layout_post.py

Both sides start from arrays of boxes and end with a list of regions; times are CPU time a page, best
median of three rounds. The last line is JSON. Without the SDK only our side is timed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
COUNTS = (10, 20, 50, 100, 150)
PAGES = 8  # different pages of each count
WIDTH, HEIGHT = 2480, 3508
NAMES = (
    "abstract", "algorithm", "aside_text", "chart", "content", "display_formula", "doc_title", "figure_title",
    "footer", "footer_image", "footnote", "formula_number", "header", "header_image", "image",
    "inline_formula", "number", "paragraph_title", "reference", "reference_content", "seal", "table", "text",
    "vertical_text", "vision_footnote",
)  # fmt: skip


def page(count: int, seed: int) -> dict[str, list[Any]]:
    """Blocks in columns as a page has them, one in ten found twice, one in ten with something inside."""
    dice = random.Random(seed)
    columns = 2 if count <= 50 else 4
    rows = -(-count // columns)
    wide, tall = WIDTH / columns, HEIGHT / rows
    boxes: list[list[float]] = []
    while len(boxes) < count:
        place, kind = len(boxes), dice.random()
        if boxes and kind < 0.1:
            boxes.append([v + dice.uniform(-3, 3) for v in dice.choice(boxes)])
        elif boxes and kind < 0.2:
            x0, y0, x1, y1 = dice.choice(boxes)
            boxes.append([x0 + (x1 - x0) / 4, y0 + (y1 - y0) / 4, x1 - 2, y1 - 2])
        else:
            x, y = place % columns * wide, place // columns * tall
            right, bottom = x + wide - dice.uniform(20, 80), y + tall - dice.uniform(2, tall / 3)
            boxes.append([x + dice.uniform(15, 25), y + dice.uniform(3, 5), right, bottom])
    return {
        "labels": [dice.choice([22, 22, 22, 17, 5, 21, 14, 19, dice.randrange(25)]) for _ in boxes],
        "scores": [dice.uniform(0.31, 0.99) for _ in boxes],
        "boxes": boxes,
        "order": dice.sample(range(300), len(boxes)),
    }


def timed(calls: list[Callable[[], Any]], seconds: float = 0.5) -> float:
    """CPU milliseconds a call: the best of three medians over all calls, each round at least `seconds`."""
    medians = []
    for _ in range(3):
        took: list[float] = []
        while sum(took) < seconds:
            for call in calls:
                start = time.process_time()
                call()
                took.append(time.process_time() - start)
        medians.append(statistics.median(took) * 1000)
    return min(medians)


def ours(pages: list[dict[str, list[Any]]]) -> list[Callable[[], list[list[Any]]]]:
    from penstock.engines.layout.clean import FoundBoxes, clean
    from penstock.engines.layout.doclayout_output import placed

    def call(columns: dict[str, Any]) -> list[Any]:
        found = FoundBoxes(*columns.values(), query=np.arange(len(columns["labels"])))
        return placed(NAMES, clean(found, WIDTH, HEIGHT), (WIDTH, HEIGHT))

    kinds = {"labels": np.int64, "scores": np.float64, "boxes": np.float64, "order": np.int64}
    as_arrays = [{k: np.array(p[k], dtype=kind) for k, kind in kinds.items()} for p in pages]
    return [lambda columns=columns: call(columns) for columns in as_arrays]


def theirs(pages: list[dict[str, list[Any]]]) -> list[Callable[[], list[Any]]]:
    """Runs in the SDK's own Python: `apply_layout_postprocess` with its packaged settings."""
    from glmocr.utils.layout_postprocess_utils import apply_layout_postprocess

    class Tensor:  # the SDK asks its input for .cpu().numpy() and nothing else
        def __init__(self, values: list[Any], kind: type) -> None:
            self._values = np.array(values, dtype=kind)

        def cpu(self) -> Tensor:
            return self

        def numpy(self) -> Any:
            return self._values

    modes = {label: "small" if name == "reference" else "large" for label, name in enumerate(NAMES)}
    names = dict(enumerate(NAMES))

    def call(raw: dict[str, Any]) -> list[Any]:
        result: list[Any] = apply_layout_postprocess(
            [raw], names, [(WIDTH, HEIGHT)], True, [1.0, 1.0], modes
        )[0]
        return result

    raws = [
        {
            "labels": Tensor(p["labels"], np.int64),
            "scores": Tensor(p["scores"], np.float64),
            "boxes": Tensor(p["boxes"], np.float64),
            "order_seq": Tensor(p["order"], np.int64),
            "polygon_points": [np.array([[a, b], [c, b], [c, d], [a, d]]) for a, b, c, d in p["boxes"]],
        }
        for p in pages
    ]
    return [lambda raw=raw: call(raw) for raw in raws]


def sdk_side(work: Path) -> None:
    """Called in the SDK's Python: times and results to a file."""
    cases = json.loads((work / "pages.json").read_text())
    answer = {}
    for count, pages in cases.items():
        calls = theirs(pages)
        kept = [[[r["label"], *r["coordinate"]] for r in call()] for call in calls]
        answer[count] = {"ms": timed(calls), "kept": kept}
    (work / "sdk.json").write_text(json.dumps(answer))


def ask_sdk(python: Path, cases: dict[int, list[dict[str, list[Any]]]]) -> dict[str, Any] | None:
    if not python.exists():
        print(f"no GLM-OCR SDK at {python}: timing our side alone (see --help)", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "pages.json").write_text(json.dumps(cases))
        subprocess.run([python, __file__, "--sdk-side", work], check=True)
        answer: dict[str, Any] = json.loads((Path(work) / "sdk.json").read_text())
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sdk", type=Path, default=REPOSITORY / "venv" / "glmocr", help="a venv with glmocr==0.1.5"
    )
    parser.add_argument("--sdk-side", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sdk_side:
        sdk_side(options.sdk_side)
        return
    cases = {count: [page(count, seed) for seed in range(PAGES)] for count in COUNTS}
    sdk = ask_sdk(options.sdk / "bin" / "python", cases)
    report: dict[str, Any] = {
        "benchmark": "layout_post",
        "ours_ms": {},
        "sdk_ms": {},
        "ratio": {},
        "equal": {},
    }
    print(f"{'boxes':>6} {'kept':>5} {'SDK ms':>9} {'ours ms':>9} {'ratio':>7}  same result")
    for count, pages in cases.items():
        line(report, count, ours(pages), sdk[str(count)] if sdk else None)
    print(json.dumps(report))


def line(
    report: dict[str, Any], count: int, calls: list[Callable[[], list[Any]]], sdk: dict[str, Any] | None
) -> None:
    """One row of the table, also put into the report."""
    ms = timed(calls)
    kept = [[[d.label, *(int(v) for v in d.box)] for d in call()] for call in calls]
    report["ours_ms"][count] = round(ms, 4)
    mean = sum(map(len, kept)) / len(kept)
    if sdk is None:
        print(f"{count:>6} {mean:>5.0f} {'-':>9} {ms:>9.3f}")
        return
    report["sdk_ms"][count] = round(sdk["ms"], 3)
    report["ratio"][count] = round(sdk["ms"] / ms, 1)
    report["equal"][count] = kept == sdk["kept"]
    same = sum(a == b for a, b in zip(kept, sdk["kept"], strict=True))
    print(
        f"{count:>6} {mean:>5.0f} {sdk['ms']:>9.2f} {ms:>9.3f} {sdk['ms'] / ms:>7.0f}  {same} of {len(kept)}"
    )


if __name__ == "__main__":
    main()
