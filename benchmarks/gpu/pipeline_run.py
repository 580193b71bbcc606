"""Runs `penstock run` over made pages on a card: GLM-OCR reads, Qwen3-VL-Embedding embeds, a search answers.

    PYTHONPATH=src python benchmarks/gpu/pipeline_run.py --pages 64 --keep FOLDER
    PYTHONPATH=src python benchmarks/gpu/pipeline_run.py --folder PAGES --layout-model PP-DOCLAYOUTV3

The command starts and stops its own servers. The models have their real shapes and random weights, boxes are
known, and answers have drawn lengths (benchmarks/lib/known_recipe.py): the work is real, the text is not.
With --folder the pages are real, and with --layout-model their boxes are what the network finds.
--keep takes the logs, the profile and run.json. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib import real_shapes
from benchmarks.lib.bare_load import write_pages
from benchmarks.lib.common import REPOSITORY, finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH

RECIPE = "benchmarks.lib.known_recipe:glm_ocr_known"
REAL_LAYOUT = "benchmarks.lib.known_recipe:glm_ocr_real_layout"
CLOCK = re.compile(r"(?<!\d)(\d\d):(\d\d):(\d\d)(\.\d+)?")
SHOWN = re.compile(
    r"server .* (starts|is ready|answer|stopped)|no room for|run of|step .* begins|"
    r"non-default args|Initializing a V1|Starting to load|took|compil|Capturing|captur|KV cache|"
    r"startup complete|penstock:",
    re.IGNORECASE,
)
DAY_S = 86_400
WORD = re.compile(r"word\d+")  # what a checkpoint without weights writes
KEPT = ("profile.json", "profile.html", "run.json")


def vllm_without_weights(path: Path, command: str) -> str:
    """A script that starts vLLM so that it fills a checkpoint without weights at random."""
    path.write_text(f'#!/bin/sh\nexec {command} "$@" --load-format dummy\n')
    path.chmod(0o755)
    return str(path)


def run_all(work: Path, options: argparse.Namespace) -> dict[str, Any]:
    pages, out, logs = options.folder or work / "pages", work / "out", work / "logs"
    logs.mkdir()
    if not options.folder:
        pages.mkdir()
        write_pages(str(pages), range(options.pages), WIDTH, HEIGHT)
    queries = [{"id": f"q{number}", "text": f"page {number}"} for number in range(16)]
    (work / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    command = [
        *(sys.executable, "-m", "penstock", "run", "pages", str(pages), "--output-dir", str(out)),
        *("--data-dir", str(work), "--log", str(logs / "run.log"), "--json"),
        *("--recipe", REAL_LAYOUT if options.layout_model else RECIPE),
        *("--ocr-model", str(real_shapes.glm_ocr(work / "GLM-OCR"))),
        *("--embedding-model", str(real_shapes.qwen3_vl_embedding_2b(work / "Qwen3-VL-Embedding-2B"))),
        *("--queries", str(work / "queries.jsonl")),
    ]
    env = {**os.environ, "PENSTOCK_VLLM": vllm_without_weights(work / "vllm", options.vllm)}
    env |= {"KNOWN_LAYOUT_MODEL": str(options.layout_model)} if options.layout_model else {}
    env |= {"TMPDIR": str(logs), "TZ": "UTC"}  # where servers write their logs, and the clock `tell` reads
    env["PYTHONPATH"] = f"{REPOSITORY / 'src'}:{REPOSITORY}:{env.get('PYTHONPATH', '')}"
    typed, began = time.time(), time.perf_counter()
    with (work / "told.json").open("wb") as told:
        running = subprocess.Popen(command, env=env, stdout=told)
        first_page = committed(out, running)
        code = running.wait()
    seconds = time.perf_counter() - began
    keep(logs, out, options.keep)
    for log in sorted(logs.glob("*.log")):
        tell(log, typed)
    if code:
        raise SystemExit(f"penstock run ended with {code}; its log is above")
    return {
        "seconds": seconds,
        "first_page": first_page,
        "told": json.loads((work / "told.json").read_text()),
        "shapes": shapes(out),
        "hits": search(out, env),
    }


def committed(out: Path, running: subprocess.Popen[bytes]) -> float:
    """Waits for the first page, and returns the seconds until it was committed."""
    began = time.perf_counter()
    while running.poll() is None and not any((out / "items").glob("*.parquet")):
        time.sleep(0.05)
    return time.perf_counter() - began


def tell(log: Path, typed: float) -> None:
    """Prints a log's turning points by seconds since the command was typed."""
    print(f"  {log.name}")
    for line in log.read_text(errors="replace").splitlines():
        if SHOWN.search(line) and (found := CLOCK.search(line)):
            hours, minutes, seconds, part = found.groups()
            at = 3_600 * int(hours) + 60 * int(minutes) + int(seconds) + float(part or 0)
            print(f"  {(at - typed) % DAY_S:7.1f} {line[found.end() :].strip()[:150]}")


def shapes(out: Path) -> dict[str, list[int]]:
    folder = out / "embeddings"
    return {path.stem: list(np.load(path, mmap_mode="r").shape) for path in sorted(folder.glob("*.npy"))}


def search(out: Path, env: dict[str, str]) -> int:
    """How many pages a word of the first text finds; the server that embeds questions has ended by now."""
    with (out / "ocr_results.jsonl").open(encoding="utf-8") as lines:
        word = next(found[0] for line in lines if (found := WORD.findall(json.loads(line)["markdown"])))
    by_words = ["--weights", "text=0,image=0,region=0", "--json"]
    command = [sys.executable, "-m", "penstock", "search", str(out), word, *by_words]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    hits = len(found["hits"] if isinstance(found, dict) else found)
    if not hits:
        raise SystemExit(f"A search for {word!r}, which is on the first page, finds nothing.")
    return hits


def pages_read(result: dict[str, Any]) -> int:
    return int(result["shapes"].get("corpus_images", [0])[0])


def keep(logs: Path, out: Path, target: Path | None) -> None:
    if target is None:
        return
    target.mkdir(parents=True, exist_ok=True)
    for path in [*logs.glob("*.log"), *(out / name for name in KEPT)]:
        if path.exists():
            shutil.copy(path, target / path.name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=64)
    parser.add_argument("--folder", type=Path, help="real pages instead of made ones")
    parser.add_argument("--layout-model", type=Path, help="a folder with PP-DocLayoutV3's weights")
    parser.add_argument("--work", type=Path, help="a new folder for models and results, which stays")
    parser.add_argument("--vllm", default="vllm", help="the command that starts vLLM")
    parser.add_argument("--keep", type=Path, help="folder for the logs, the profile and run.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        result = run_all(work, options)
    for name, seconds in result["told"]["seconds"].items():
        print(f"{name:10} {seconds:8.1f} s")
    print(f"first page {result['first_page']:8.1f} s")
    finish("pipeline_run", pages=pages_read(result), **result)


if __name__ == "__main__":
    sys.exit(main())
