"""Measures seconds from typing `penstock parse` until the first page is committed, servers started by it.

    PYTHONPATH=src python benchmarks/gpu/first_page.py --runs 2 --vllm "python3 -m vllm.entrypoints.cli.main"

GLM-OCR's real shape with random weights, known boxes (benchmarks/lib/known_recipe.py). The first run finds no
caches of compiled kernels if the machine is fresh, the next ones find those of the first. Prints what the
logs say, by seconds since the command was typed; the last line is JSON.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.gpu.pipeline_run import RECIPE, committed, tell, vllm_without_weights
from benchmarks.lib import real_shapes
from benchmarks.lib.bare_load import write_pages
from benchmarks.lib.common import REPOSITORY, finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH


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
    first = committed(out, running)
    code = running.wait()
    print(f"run {number}: first page after {first:.1f} s, all after {time.perf_counter() - began:.1f} s")
    for log in sorted(own.glob("*.log")):
        tell(log, typed)
    if code:
        raise SystemExit(f"penstock parse ended with {code}; its logs are above")
    return first


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--model", type=Path, help="a checkpoint that was made before, and compiled")
    parser.add_argument("--vllm", default="vllm", help="the command that starts vLLM")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        pages = work / "pages"
        pages.mkdir()
        write_pages(str(pages), range(options.pages), WIDTH, HEIGHT)
        model = options.model or real_shapes.glm_ocr(work / "GLM-OCR")
        vllm = vllm_without_weights(work / "vllm", options.vllm)
        took = [first_page(work, pages, model, vllm, number) for number in range(options.runs)]
    finish("first_page", pages=options.pages, seconds=took)


if __name__ == "__main__":
    sys.exit(main())
