"""Measures the GPU layout engine on JPEG pages: decode, scale, network, postprocess, each alone and together.

    PYTHONPATH=src python benchmarks/gpu/layout_gpu.py                    # on a GPU: 64 pages of 2480 x 3508
    PYTHONPATH=src python benchmarks/gpu/layout_gpu.py --smoke            # on a CPU: one small page, seconds

The network has PP-DocLayoutV3's real shape and random weights unless --model names one. Random weights
find no boxes, so known ones are put in place of its answer after it has run. Prints a table; the
last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cv2
import numpy as np
import torch

from penstock.engines.layout import doclayout
from penstock.engines.layout.clean import clean
from penstock.engines.layout.doclayout import DocLayoutEngine
from penstock.engines.layout.doclayout_net import Output
from penstock.engines.layout.doclayout_output import found_in, placed
from penstock.region import LABELS

BOXES = 25  # a page, of which post keeps what is no duplicate and not nested

SMALL: dict[str, Any] = {  # the same build with few channels, for --smoke
    "decoder_layers": 2,
    "encoder_in_channels": [32, 48, 64],
    "x4_feat_dim": 16,
    "backbone_config": {
        "model_type": "hgnet_v2",
        "stem_channels": [3, 8, 8],
        "stage_in_channels": [8, 16, 32, 48],
        "stage_mid_channels": [8, 8, 16, 16],
        "stage_out_channels": [16, 32, 48, 64],
        "hidden_sizes": [16, 32, 48, 64],
        "out_features": ["stage1", "stage2", "stage3", "stage4"],
    },
}


def jpeg_page(seed: int, width: int, height: int) -> bytes:
    """A page of lines that look like print to a decoder."""
    dice = np.random.default_rng(seed)
    page = np.full((height, width, 3), 250, dtype=np.uint8)
    page += dice.integers(0, 5, (height, width, 1), dtype=np.uint8)
    step = max(20, height // 80)
    for top in range(step, height - step, step):
        words = "".join(map(chr, dice.integers(97, 123, max(4, width // 24))))
        cv2.putText(page, words, (width // 20, top), cv2.FONT_HERSHEY_SIMPLEX, step / 48, (30, 30, 30), 2)
    return cv2.imencode(".jpg", page, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()


def known_rows(pages: int, queries: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Network output that says: BOXES blocks in two columns, some found twice."""
    dice = np.random.default_rng(seed)
    rows = np.zeros((pages, queries, 8), dtype=np.float32)
    count = min(BOXES, queries)
    x = np.where(np.arange(count) % 2, 0.52, 0.05)
    y = 0.03 + (np.arange(count) // 2) * 0.9 / (count / 2 + 1)
    rows[:, :count, 0] = np.sort(dice.uniform(0.35, 0.99, (pages, count)))[:, ::-1]
    rows[:, :count, 1] = dice.choice([22, 22, 22, 17, 21, 5, 14], (pages, count))
    rows[:, :count, 2] = rows[:, :count, 3] = np.arange(count)
    jitter = dice.uniform(0, 0.01, (pages, count, 2))
    rows[:, :count, 4], rows[:, :count, 5] = x + jitter[..., 0], y + jitter[..., 1]
    rows[:, :count, 6], rows[:, :count, 7] = x + 0.42, y + 0.05
    return rows


class KnownBoxes:
    """Runs the real network, then answers with boxes we know."""

    def __init__(self, network: Any, rows: Any) -> None:
        self.network, self.rows = network, rows

    def __call__(self, pixels: Any) -> Output:
        output = self.network(pixels)
        return Output(self.rows.clone(), output.queries, output.features)


def random_checkpoint(folder: str, smoke: bool) -> str:
    from transformers import PPDocLayoutV3Config, PPDocLayoutV3ForObjectDetection

    torch.manual_seed(0)
    config = PPDocLayoutV3Config(id2label=dict(enumerate(LABELS)), **(SMALL if smoke else {}))
    PPDocLayoutV3ForObjectDetection(config).save_pretrained(folder)
    return folder


def timed(call: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Wall milliseconds with the GPU idle before and after: median, best, worst."""
    cuda = torch.cuda.is_available()
    took = []
    call()
    for _ in range(rounds):
        if cuda:
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        if cuda:
            torch.cuda.synchronize()
        took.append((time.perf_counter() - start) * 1000)
    return {"median": statistics.median(took), "best": min(took), "worst": max(took)}


def show(report: dict[str, Any], name: str, times: dict[str, float]) -> None:
    report["ms"][name] = {key: round(value, 2) for key, value in times.items()}
    print(f"{name:<44} {times['median']:>9.1f} {times['best']:>9.1f} {times['worst']:>9.1f}", flush=True)


def plain_times(report: dict[str, Any], folder: str, pixels: Any, rounds: int) -> None:
    """The transformers model as it is, eager, in both precisions."""
    network = doclayout.load_model(folder).eval().to(pixels.device)
    for dtype in (torch.float32, torch.float16):
        network.to(dtype)
        inputs = pixels.to(dtype)
        with torch.inference_mode():
            show(report, f"plain model, eager, {dtype}"[:44], timed(lambda i=inputs: network(i), rounds))


def profiled(call: Callable[[], Any]) -> None:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as trace:
        call()
        torch.cuda.synchronize()
    print(trace.key_averages().table(sort_by="self_cuda_time_total", row_limit=40, max_name_column_width=90))


def measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    report: dict[str, Any] = {
        "benchmark": "layout_gpu",
        "pages": options.pages,
        "batch": options.batch,
        "ms": {},
    }
    started = time.perf_counter()
    layout = DocLayoutEngine(options.model or folder, batch=options.batch, compile=options.compile)
    report["open_s"] = round(time.perf_counter() - started, 1)
    report["mode"] = getattr(layout._network, "mode", "eager")
    report["device"] = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    report["torch"] = torch.__version__
    print(f"{report['device']}, torch {torch.__version__}, {report['mode']}, open in {report['open_s']} s")
    with ThreadPoolExecutor() as threads:
        seeds = range(options.pages)
        jpegs = list(threads.map(lambda s: jpeg_page(s, options.width, options.height), seeds))
    report["jpeg_mb"] = round(sum(map(len, jpegs)) / 1e6, 1)
    print(f"{options.pages} pages, {report['jpeg_mb']} MB of JPEG")
    print(f"{'':<44} {'median ms':>9} {'best':>9} {'worst':>9}")
    steps(report, layout, jpegs, options)
    if options.plain:
        plain_times(report, folder, layout._input.load(jpegs[: options.batch]).pixels, 3)
    whole(report, layout, jpegs, options)
    return report


def steps(
    report: dict[str, Any], layout: DocLayoutEngine, jpegs: list[bytes], options: argparse.Namespace
) -> None:
    """Each step alone on one batch."""
    batch = jpegs[: options.batch]
    pages, network = layout._input, layout._network
    show(
        report, "decode (nvJPEG where there is a GPU)", timed(lambda: pages._pictures(batch), options.rounds)
    )
    show(report, "decode and scale", timed(lambda: pages.load(batch), options.rounds))
    pixels = pages.load(batch).pixels
    with torch.inference_mode():
        show(
            report,
            f"network ({report['mode']}), batch {len(batch)}",
            timed(lambda: network(pixels), options.rounds),
        )
        if options.profile:
            profiled(lambda: network(pixels))
        if report["mode"] == "captured":
            check(report, network, pixels)
    rows, size = known_rows(len(batch), 300), (options.width, options.height)
    show(
        report,
        "postprocess, known boxes",
        timed(lambda: [post(layout, r, size) for r in rows], options.rounds),
    )


def post(layout: DocLayoutEngine, rows: np.ndarray[Any, Any], size: tuple[int, int]) -> list[Any]:
    return placed(layout._native, clean(found_in(rows, *size, 0.3), *size), size)


def check(report: dict[str, Any], network: Any, pixels: Any) -> None:
    """How far the captured network's scores are from the eager one's."""
    captured = network(pixels).rows.clone()
    eager = network._eager(pixels.contiguous(memory_format=torch.channels_last)).rows
    report["score_difference"] = float((captured[..., 0] - eager[..., 0]).abs().max())
    print(f"greatest difference of a score, captured and eager: {report['score_difference']:.2g}")


def whole(
    report: dict[str, Any], layout: DocLayoutEngine, jpegs: list[bytes], options: argparse.Namespace
) -> None:
    """All steps through the engine's own call."""
    rows = torch.from_numpy(known_rows(options.batch, 300))
    layout._network = KnownBoxes(layout._network, rows.to("cuda" if torch.cuda.is_available() else "cpu"))
    found = sum(map(len, layout.detect(jpegs)))
    inside(report, layout, jpegs)
    times = timed(lambda: layout.detect(jpegs), options.rounds)
    show(report, f"all of it, {len(jpegs)} pages", times)
    report["blocks_a_page"] = round(found / len(jpegs), 1)
    report["pages_per_s"] = round(len(jpegs) / times["median"] * 1000, 1)
    if torch.cuda.is_available():
        report["peak_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)


def inside(report: dict[str, Any], layout: DocLayoutEngine, jpegs: list[bytes]) -> None:
    """Where one call of the engine spends its time, by its own steps (loading runs ahead in a thread)."""
    spent: dict[str, float] = {}

    def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                spent[name] = spent.get(name, 0.0) + (time.perf_counter() - start) * 1000

        return call

    places = [(layout._input, "_pictures"), (layout._input, "load"), (layout, "_run"), (layout, "_cleaned")]
    for owner, name in places:
        setattr(owner, name, clocked(name, getattr(owner, name)))
    start = time.perf_counter()
    layout.detect(jpegs)
    spent["detect"] = (time.perf_counter() - start) * 1000
    for owner, name in places:
        delattr(owner, name)
    report["inside_ms"] = {name: round(ms, 1) for name, ms in spent.items()}
    print("inside one call, ms:", report["inside_ms"])


def options_of(arguments: list[str]) -> argparse.Namespace:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument(
        "--model", default="", help="a checkpoint folder or hub name; default: random weights"
    )
    parser.add_argument("--pages", type=int, default=64)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=2480)
    parser.add_argument("--height", type=int, default=3508)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--compile", action="store_true", help="as well as capture: takes 85 s")
    parser.add_argument("--plain", action="store_true", help="time the transformers model as it is, too")
    parser.add_argument("--profile", action="store_true", help="list the network's kernels")
    parser.add_argument(
        "--inductor", action="append", default=[], help="NAME=VALUE of torch._inductor.config"
    )
    parser.add_argument("--smoke", action="store_true", help="one small page, a small network")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.pages, options.batch, options.width, options.height, options.rounds = 1, 1, 248, 351, 1
    return options


def main() -> None:
    options = options_of(sys.argv[1:])
    for setting in options.inductor:
        name, _, value = setting.partition("=")
        setattr(torch._inductor.config, name, json.loads(value))
    with tempfile.TemporaryDirectory() as folder:
        if not options.model:
            random_checkpoint(folder, options.smoke)
        report = measure(options, folder)
    report["inductor"] = options.inductor
    print(json.dumps(report))


if __name__ == "__main__":
    main()
