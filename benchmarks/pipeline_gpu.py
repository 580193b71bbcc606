"""The whole pipeline against its servers' own limit: the same crops, the same servers, one run.

    python benchmarks/pipeline_gpu.py --server http://127.0.0.1:8000 --server http://127.0.0.1:8001
    python benchmarks/pipeline_gpu.py --server URL --pages 4 --small --no-layout      # a smoke test on a CPU

Pages of 2480 x 3508 with 8 regions each are made and kept as JPEG. The bare load generator sends the
crops it cut beforehand; the pipeline loads pages, runs the layout network for real (random weights find
nothing, so known boxes are put in its place), cuts, sends and puts together. Answers have lengths drawn
from the crop's size and ignore the end token, so both ask for exactly the same work. Every region is
distinct: no cache can help. Prints a table; the last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import cv2
import numpy as np

from known_pages import HEIGHT, WIDTH, KnownBoxes, ScaledCut, boxes_of
from penstock.engines import recognisers
from penstock.engines.cut import as_jpeg, cut, scaled
from penstock.executors.local import Local
from penstock.plan import Plan
from penstock.stage import Batch, Needs
from penstock.stages import ask
from penstock.stages.compose import Compose
from penstock.stages.cut import SENT_QUALITY
from penstock.stages.doclayout import DocLayout
from penstock.stages.load import Load
from penstock.trace.spans import Trace

PROMPT = "Text Recognition:"
SAMPLING = {"temperature": 0.0, "ignore_eos": True}
BENCH = replace(
    recognisers.RECOGNISERS["glm-ocr"], sampling=SAMPLING, grow=1, watch_loops=False, stream_above=1 << 30
)


def length_of(width: int, height: int) -> int:
    """Tokens of the answer about a crop of this size: exponential about 100, the same for everyone."""
    drawn = random.Random(width * 10_007 + height).expovariate(1 / 100)
    return min(600, max(8, int(drawn)))


def write_page(task: tuple[int, str, int, int]) -> None:
    number, folder, width, height = task
    page = np.full((height, width, 3), 255, np.uint8)
    dice = random.Random(number)
    for x0, y0, x1, y1 in boxes_of(number, width, height):
        step = max(8, round(44 * height / HEIGHT))
        for y in range(int(y0) + step, int(y1), step):
            words = "".join(chr(dice.randint(33, 122)) for _ in range(int((x1 - x0) / (0.5 * step))))
            cv2.putText(
                page, words, (int(x0) + 4, y - 4), cv2.FONT_HERSHEY_SIMPLEX, step / 44, (20, 20, 20), 2
            )
    cv2.imwrite(f"{folder}/{number:05d}.jpg", page, [cv2.IMWRITE_JPEG_QUALITY, 90])


def crops_of(task: tuple[str, float]) -> list[bytes]:
    path, scale = task
    pixels = np.asarray(cv2.imread(path)[:, :, ::-1], dtype=np.uint8)
    boxes = boxes_of(int(Path(path).stem), pixels.shape[1], pixels.shape[0])
    return [as_jpeg(scaled(cut(pixels, box), scale), SENT_QUALITY) for box in boxes]


async def send_all(servers: list[str], model: str, crops: list[tuple[str, int]], limit: int) -> float:
    gate = asyncio.Semaphore(limit)
    timeout, connector = aiohttp.ClientTimeout(900), aiohttp.TCPConnector(limit=0)

    async def send(session: aiohttp.ClientSession, number: int, image: str, tokens: int) -> None:
        content = [
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + image}},
            {"type": "text", "text": PROMPT},
        ]
        body = {
            "model": model,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": tokens,
            **SAMPLING,
        }
        async with (
            gate,
            session.post(servers[number % len(servers)] + "/v1/chat/completions", json=body) as answer,
        ):
            assert answer.status == 200, await answer.text()
            await answer.read()

    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        began = time.perf_counter()
        await asyncio.gather(*(send(session, n, image, tokens) for n, (image, tokens) in enumerate(crops)))
        return time.perf_counter() - began


def bare(options: argparse.Namespace, paths: list[str], scale: float) -> float:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        pages = list(pool.map(crops_of, [(path, scale) for path in paths]))
    crops = []
    for crop in (crop for page in pages for crop in page):
        shape = ask.jpeg_shape(crop)
        crops.append((base64.b64encode(crop).decode(), length_of(shape.width, shape.height)))
    return asyncio.run(send_all(options.server, options.model, crops, options.limit))


def pipeline(
    options: argparse.Namespace, folder: str, count: int, scale: float
) -> tuple[float, dict[str, Any]]:
    from penstock import sources

    workers = max(1, (os.cpu_count() or 2) // 4)
    layout = DocLayout(
        model=options.layout_model,
        batch=Batch(max_items=options.batch, linger_ms=2000.0),
        compile=not options.eager,
    )
    plan = Plan(
        Load(give="encoded", text_layer=False, workers=2),
        *([] if options.no_layout else [layout]),
        KnownBoxes(),
        ScaledCut(scale=scale, needs=Needs(process=True), workers=workers),
        ask.Ask(
            recogniser="bench",
            model=options.model,
            servers=tuple(options.server),
            limit=options.limit,
            overlap=160,
        ),
        Compose(order="given"),
    )
    executor = Local(Trace())
    first, began = 0.0, time.perf_counter()
    for number, page in enumerate(executor.stream(plan, sources.list_items([folder]))):
        assert page.failure is None and not any(region.failure for region in page.regions), page
        first = first or time.perf_counter() - began
        assert number < count
    return time.perf_counter() - began, executor.trace.profile(executor.infos(plan))


def warm_seconds(
    options: argparse.Namespace, folder: str, count: int, scale: float
) -> tuple[float, dict[str, Any]]:
    """Seconds without the opening of the layout network, which a run pays once, however long it is."""
    seconds, profile = pipeline(options, folder, count, scale)
    opened = max(row["open_s"] / row["workers"] for row in profile["stages"])
    return seconds - opened, profile


def compare(options: argparse.Namespace, folder: str, scale: float) -> dict[str, Any]:
    paths = sorted(str(path) for path in Path(folder).glob("*.jpg"))
    rows = []
    for number in range(options.repeats):
        alone = bare(options, paths, scale)
        whole, profile = warm_seconds(options, folder, len(paths), scale)
        rows.append((len(paths) / alone, len(paths) / whole))
        shares = " ".join(f"{row['name']} {row['busy']:.0%}" for row in profile["stages"])
        print(
            f"scale {scale:g} run {number + 1}: bare {rows[-1][0]:.2f} pages/s, pipeline {rows[-1][1]:.2f}"
            f" ({rows[-1][1] / rows[-1][0]:.1%}); busy: {shares}",
            flush=True,
        )
    ratios = [whole / alone for alone, whole in rows]
    return {
        "scale": scale,
        "bare_pages_per_s": statistics.median(row[0] for row in rows),
        "pipeline_pages_per_s": statistics.median(row[1] for row in rows),
        "share": statistics.median(ratios),
        "share_min": min(ratios),
        "share_max": max(ratios),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", action="append", required=True)
    parser.add_argument("--model", default="glm-ocr")
    parser.add_argument("--layout-model", default="")
    parser.add_argument("--no-layout", action="store_true")
    parser.add_argument("--eager", action="store_true", help="do not compile the layout network")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--pages", type=int, default=256)
    parser.add_argument("--limit", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scales", default="1.0,0.7")
    parser.add_argument("--small", action="store_true", help="pages of 620 x 877, for a CPU")
    options = parser.parse_args()
    recognisers.RECOGNISERS = {**recognisers.RECOGNISERS, "bench": BENCH}
    ask.token_budget = lambda task, width, height, most: length_of(width, height)
    width, height = (WIDTH // 4, HEIGHT // 4) if options.small else (WIDTH, HEIGHT)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(write_page, [(n, folder, width, height) for n in range(options.pages)]))
        for scale in options.scales.split(","):
            results.append(compare(options, folder, float(scale)))
    print(
        json.dumps(
            {"benchmark": "pipeline_gpu", "pages": options.pages, "limit": options.limit, "results": results}
        )
    )


if __name__ == "__main__":
    sys.exit(main())
