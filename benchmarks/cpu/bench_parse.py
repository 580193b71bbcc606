"""Measures how fast scanned pages are read: effort by effort, and against a plain script.

    python benchmarks/cpu/bench_parse.py [--pages 20] [--repeats 3] [--before TREE] [--sets sample,korean]

Efforts are told in pages a second of one core, by the CPU time of all processes of a run of all pages, less
that of one page: neither other work on the machine nor the start counts. `--before` runs another checkout in
turn with them. `--repeats 0` leaves it at that.
The script takes one page after the other and calls the same engines in turn: with one thread an engine, and
with all cores. Bounds: at least 1.7x the first on 2 cores, and ahead of the second.
Needs the built-in models (`penstock models fetch`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import cv2

import penstock
from penstock.engines.image.crop import cut
from penstock.engines.layout.cdla import CdlaLayout
from penstock.engines.ocr.orient import Orienter
from penstock.engines.ocr.reader import PageReader
from penstock.engines.table.slanet import SlanetTable
from penstock.processes.resources import cores

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish, spread, timed, write_scans
from benchmarks.lib.effort_ladder import ladder


class PlainScript:
    """What one writes in an afternoon: load, turn, detect, read, next."""

    def __init__(self, threads: int) -> None:
        self.orienter = Orienter(effort="balanced")
        self.layout = CdlaLayout(threads=threads)
        self.reader = PageReader(None, threads, "balanced")
        self.tables = SlanetTable(threads=threads)

    def run(self, paths: list[Path]) -> int:
        return sum(self.page(path) for path in paths)

    def page(self, path: Path) -> int:
        pixels = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        self.orienter.upright(pixels)
        found = self.layout.detect(pixels)
        lines = self.reader.find(pixels)
        texts = self.reader.read(pixels, lines, self.reader.script(pixels, lines))
        for region in found:
            if region.label == "table":
                self.tables.structure(cut(pixels, region.box))
        return sum(len(text.text) for text in texts)

    def close(self) -> None:
        for engine in (self.orienter, self.layout, self.reader, self.tables):
            engine.close()


def plain(paths: list[Path], threads: int) -> float:
    script = PlainScript(threads)
    try:
        return timed(script.run, paths)[0]
    finally:
        script.close()


def ours(folder: Path, count: int) -> float:
    with tempfile.TemporaryDirectory() as out:
        seconds, pages = timed(lambda: list(penstock.parse(folder, out=Path(out) / "out")))
    assert len(pages) == count and not any(page.failure for page in pages)
    return float(seconds)


def against_script(pages: int, repeats: int) -> dict[str, Any]:
    rows = []
    with tempfile.TemporaryDirectory() as room:
        paths = write_scans(Path(room), pages)
        for number in range(repeats):
            row = (plain(paths, 1), plain(paths, cores()), ours(Path(room), pages))
            rows.append(row)
            print(
                "run {}: script, 1 thread {:.1f} s; script, all cores {:.1f} s; penstock {:.1f} s".format(
                    number + 1, *row
                )
            )
    one, default, penstock_s = (list(column) for column in zip(*rows, strict=True))
    return {
        "pages_per_s": pages / spread(penstock_s)["median"],
        "speedup_over_one_thread": spread([a / b for a, b in zip(one, penstock_s, strict=True)]),
        "speedup_over_default_threads": spread([a / b for a, b in zip(default, penstock_s, strict=True)]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3, help="of the comparison with a script; 0 for none")
    parser.add_argument("--before", type=Path, help="another checkout, to be run in turn with this one")
    parser.add_argument("--sets", default="", help="of sample, omnidocbench, receipts, korean; with commas")
    options = parser.parse_args()
    speeds = ladder(options.before, options.pages, [word for word in options.sets.split(",") if word])
    against = against_script(options.pages, options.repeats) if options.repeats else {}
    finish("parse", pages=options.pages, pages_per_core_s=speeds, **against)


if __name__ == "__main__":
    main()
