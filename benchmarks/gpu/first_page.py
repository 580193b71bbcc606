"""Measures seconds from typing `penstock parse` until the first page is committed, servers started by it.

    PYTHONPATH=src python benchmarks/gpu/first_page.py --runs 2 --vllm "python3 -m vllm.entrypoints.cli.main"

GLM-OCR's real shape with random weights, known boxes (benchmarks/lib/known_recipe.py). The first run finds no
caches of compiled kernels if the machine is fresh, the next ones find those of the first. Prints what the
logs say, by seconds since the command was typed; the last line is JSON.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.gpu.pipeline_run import RECIPE, vllm_without_weights
from benchmarks.lib import real_shapes
from benchmarks.lib.bare_load import write_pages
from benchmarks.lib.common import REPOSITORY, finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH

CLOCK = re.compile(r"\b(\d\d):(\d\d):(\d\d)(\.\d+)?")
SHOWN = re.compile(
    r"server .* (starts|is ready|answer)|run of|non-default args|Initializing a V1|Starting to load|took|"
    r"compil|Capturing|captur|KV cache|startup complete|penstock:",
    re.IGNORECASE,
)
DAY_S = 86_400


def first_page(work: Path, pages: Path, model: Path, vllm: str, number: int) -> float:
    """Runs the command in a folder of its own, and returns when its first page was committed."""
    own = work / str(number)
    out = own / "out"
    own.mkdir()
    env = {**os.environ, "PENSTOCK_VLLM": vllm, "TMPDIR": str(own), "TZ": "UTC"}
    env["PYTHONPATH"] = f"{REPOSITORY / 'src'}:{REPOSITORY}:{env.get('PYTHONPATH', '')}"
    command = [
        *(sys.executable, "-m", "penstock", "parse", str(pages), "-o", str(out)),
        *("--recipe", RECIPE, "--model", str(model), "--log", str(own / "run.log"), "-q"),
    ]
    typed, began = time.time(), time.perf_counter()
    running = subprocess.Popen(command, env=env)
    committed = 0.0
    while running.poll() is None:
        if not committed and any((out / "items").glob("*.parquet")):
            committed = time.perf_counter() - began
        time.sleep(0.05)
    print(f"run {number}: first page after {committed:.1f} s, all after {time.perf_counter() - began:.1f} s")
    for log in sorted(own.glob("*.log")):
        tell(log, typed)
    if running.returncode or not committed:
        raise SystemExit(f"penstock parse ended with {running.returncode}; its logs are above")
    return committed


def tell(log: Path, typed: float) -> None:
    """Prints a log's turning points by seconds since the command was typed."""
    print(f"  {log.name}")
    for line in log.read_text(errors="replace").splitlines():
        if SHOWN.search(line) and (found := CLOCK.search(line)):
            hours, minutes, seconds, part = found.groups()
            at = 3_600 * int(hours) + 60 * int(minutes) + int(seconds) + float(part or 0)
            print(f"  {(at - typed) % DAY_S:7.1f} {line[found.end() :].strip()[:150]}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--vllm", default="vllm", help="the command that starts vLLM")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        pages = work / "pages"
        pages.mkdir()
        write_pages(str(pages), range(options.pages), WIDTH, HEIGHT)
        model = real_shapes.glm_ocr(work / "GLM-OCR")
        vllm = vllm_without_weights(work / "vllm", options.vllm)
        took = [first_page(work, pages, model, vllm, number) for number in range(options.runs)]
    finish("first_page", pages=options.pages, seconds=took)


if __name__ == "__main__":
    sys.exit(main())
