"""Measures the whole pipeline against its servers' own limit: the same crops, the same servers, one run.

    python benchmarks/gpu/pipeline_gpu.py --server http://127.0.0.1:8000 --server http://127.0.0.1:8001
    python benchmarks/gpu/pipeline_gpu.py --server URL --pages 4 --small --no-layout   # a smoke test on a CPU

Pages of 2480 x 3508 with 8 regions each are made and kept as JPEG. The bare load generator sends the
crops it cut beforehand; the pipeline loads pages, runs the layout network for real (random weights find
nothing, so known boxes are put in its place), cuts, sends and puts together. Answers have lengths drawn
from the crop's size and ignore the end token, so both ask for exactly the same work. Every region is
distinct: no cache can help. Prints a table; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock import sources
from penstock.engines.chat import recognisers
from penstock.executors.local import Local
from penstock.page import Page
from penstock.plan import Plan
from penstock.recipes.regions import glm_ocr
from penstock.stage import Stage
from penstock.stages.crop_regions import CropRegions
from penstock.stages.doclayout import MODEL, DocLayout
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.trace.profile import Profile
from penstock.trace.spans import Trace
from penstock.workers import recognise_remote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.answer_lengths import length_of
from benchmarks.lib.bare_load import SAMPLING, crops_of, send_all, write_pages
from benchmarks.lib.common import REPOSITORY, finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH, KnownBoxes, ScaledCropRegions, boxes_of
from benchmarks.lib.load_watch import LoadWatch

SDK_WORKERS = 128  # four times as many as packaged; with more its threads only wait for each other
BENCH = replace(
    recognisers.RECOGNISERS["glm-ocr"], sampling=SAMPLING, grow=1, watch_loops=False, stream_above=1 << 30
)


def plan_of(options: argparse.Namespace, scale: float) -> Plan:
    """The recipe's own plan, with the boxes put in place after layout and the crops at one scale."""
    recipe = glm_ocr(
        server=tuple(options.server),
        model=options.model,
        in_flight=options.limit,
        layout_model=options.layout_model or MODEL,
    )
    stages: list[Stage] = []
    for stage in recipe:
        if isinstance(stage, DocLayout):
            layout = replace(stage, compile=options.compile)
            stages += [KnownBoxes()] if options.no_layout else [layout, KnownBoxes()]
        elif isinstance(stage, CropRegions):
            stages.append(ScaledCropRegions(scale=scale, needs=stage.needs, workers=stage.workers))
        else:
            stages.append(replace(stage, recogniser="bench") if isinstance(stage, RecogniseRemote) else stage)
    return Plan(*stages)


def pipeline(options: argparse.Namespace, folder: str, count: int, scale: float) -> tuple[float, Profile]:
    plan = plan_of(options, scale)
    executor = Local(Trace())
    began = time.perf_counter()
    pages = 0
    for page in executor.stream(plan, sources.list_items([folder], Page)):
        assert isinstance(page, Page) and not any(page.failed_parts()) and page.failure is None, page
        pages += 1
    assert pages == count, pages
    return time.perf_counter() - began, executor.trace.profile(executor.infos(plan))


def warm_seconds(options: argparse.Namespace, folder: str, count: int, scale: float) -> tuple[float, Profile]:
    """Seconds without the opening of the layout network, which a run pays once, however long it is."""
    seconds, profile = pipeline(options, folder, count, scale)
    opened = max(row.open_s / row.workers for row in profile.stages)
    return seconds - opened, profile


def compare(options: argparse.Namespace, folder: str, scale: float) -> dict[str, Any]:
    paths = sorted(str(path) for path in Path(folder).glob("*.jpg"))
    rows = []
    for number in range(options.repeats):
        crops = crops_of(paths, scale)
        with LoadWatch(options.server) as alone_watch:
            alone = send_all(options.server, options.model, crops, options.limit)
        with LoadWatch(options.server) as whole_watch:
            whole, profile = warm_seconds(options, folder, len(paths), scale)
        rows.append((len(paths) / alone, len(paths) / whole))
        shares = " ".join(f"{row.name} {row.busy:.0%} ({row.p50_ms:.0f} ms)" for row in profile.stages)
        print(
            f"scale {scale:g} run {number + 1}: bare {rows[-1][0]:.2f} pages/s, pipeline {rows[-1][1]:.2f}"
            f" ({rows[-1][1] / rows[-1][0]:.1%}); busy: {shares}",
            flush=True,
        )
        print(f"  bare: {alone_watch.sentence()}\n  pipeline: {whole_watch.sentence()}", flush=True)
    ratios = [whole / alone for alone, whole in rows]
    return {
        "scale": scale,
        "bare_pages_per_s": statistics.median(row[0] for row in rows),
        "pipeline_pages_per_s": statistics.median(row[1] for row in rows),
        "share": statistics.median(ratios),
        "share_min": min(ratios),
        "share_max": max(ratios),
    }


def sdk_rate(options: argparse.Namespace, folder: str, size: tuple[int, int]) -> float:
    """Pages/s of the GLM-OCR SDK's own pipeline at full resolution, same boxes; it knows one server."""
    names = [path.stem for path in sorted(Path(folder).glob("*.jpg"))[: options.sdk]]
    boxes = Path(folder) / "boxes.json"
    boxes.write_text(json.dumps({name: boxes_of(int(name), *size) for name in names}))
    limit = min(SDK_WORKERS, options.limit)
    arguments = ["pages", folder, boxes, options.sdk, options.server[0], limit, "lengths", options.model]
    script = REPOSITORY / "benchmarks" / "lib" / "sdk_side.py"
    command = [options.sdk_python, "-W", "ignore", str(script), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    rate = options.sdk / float(told["seconds"])
    print(f"SDK, {limit} workers: {rate:.2f} pages/s, {told['regions']} regions answered", flush=True)
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", action="append", required=True)
    parser.add_argument("--model", default="glm-ocr")
    parser.add_argument("--layout-model", default="")
    parser.add_argument("--no-layout", action="store_true")
    parser.add_argument("--compile", action="store_true", help="the layout network, beside capturing it")
    parser.add_argument(
        "--sdk", type=int, default=0, metavar="PAGES", help="the GLM-OCR SDK on as many pages"
    )
    parser.add_argument("--sdk-python", default=sys.executable, help="an interpreter that has the SDK")
    parser.add_argument("--pages", type=int, default=256)
    parser.add_argument("--limit", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scales", default="1.0,0.7")
    parser.add_argument("--small", action="store_true", help="pages of 620 x 877, for a CPU")
    options = parser.parse_args()
    recognisers.RECOGNISERS = {**recognisers.RECOGNISERS, "bench": BENCH}
    recognise_remote.token_budget = lambda task, width, height, max_tokens: length_of(width, height)
    width, height = (WIDTH // 4, HEIGHT // 4) if options.small else (WIDTH, HEIGHT)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        write_pages(folder, range(options.pages), width, height)
        for scale in options.scales.split(",") if options.scales else ():
            results.append(compare(options, folder, float(scale)))
        sdk = sdk_rate(options, folder, (width, height)) if options.sdk else None
    finish("pipeline_gpu", pages=options.pages, limit=options.limit, results=results, sdk_pages_per_s=sdk)


if __name__ == "__main__":
    sys.exit(main())
