"""How many pages are turned the right way up: quarter turns, some with a tilt of 2 degrees.

    python benchmarks/quality/turned_pages.py [DATA] [--pages 20] [--effort balanced]

Pages of the development PDFs as pictures at 200 dpi, by halves (see generalise.py). Nothing is read but what
tells which way is up. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import cv2

from penstock.engines.ocr.orient import Orienter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, all_cpu_s
from benchmarks.quality.ground.reading import page_file
from benchmarks.quality.ground.sample import Sample, chosen
from benchmarks.quality.ground.sources import listed


def is_right(orienter: Orienter, sample: Sample, work: Path) -> bool:
    picture = cv2.imread(str(page_file(sample, work)))
    assert picture is not None
    # the pictures were turned anticlockwise
    return orienter.upright(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)) == round(sample.turned / 90) * 90 % 360


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=20, help="of each half")
    parser.add_argument("--effort", choices=("fast", "balanced", "best"), default="balanced")
    parser.add_argument("--out", type=Path, default=Path("build/generalise"))
    given = parser.parse_args()
    samples = chosen(listed(given.data / "devset", "turned"), given.pages)
    orienter = Orienter(effort=given.effort)
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    began = all_cpu_s()
    for sample in samples:
        kind = f"{sample.half}, {'tilted' if sample.turned % 90 else 'level'}"
        seen[kind] += 1
        right[kind] += is_right(orienter, sample, given.out / "turned")
    orienter.close()
    for kind, count in sorted(seen.items()):
        print(f"{kind}: {right[kind]} of {count}")
    seconds = round((all_cpu_s() - began) / max(1, len(samples)), 2)
    figures = {kind: [right[kind], count] for kind, count in sorted(seen.items())}
    print(json.dumps({"benchmark": "turned_pages", "right_of": figures, "cpu_s_page": seconds}))


if __name__ == "__main__":
    main()
