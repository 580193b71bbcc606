"""Measures GLM-OCR's vision tower alone: vLLM's own forward against the plugin's, in time and in accuracy.

    python benchmarks/gpu/vision_tower.py FOLDER      # a checkpoint's folder; its config is enough

Needs vLLM and a card. Weights are random, of a trained network's scale. The pictures are the crops of the
other benchmarks' pages: all of four pages at once, as a filling server encodes them, and a few, as a busy one
does. Errors are relative to vLLM's own tower in float32. Prints tables; the last line is JSON.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from penstock.vllm_plugin.patch import fast_method
from penstock.vllm_plugin.places import PLACES

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH, boxes_of
from benchmarks.lib.real_tower import build_tower, noise_pixels, relative, start_vllm

GLM_OCR = PLACES[0]
PATCH, TOKEN = 14, 28  # pixels a side
GRIDS = (
    [[1, 16, 24]],
    [[1, 96, 90]],
    [[1, 8, 100], [1, 30, 40], [1, 2, 2]],
    [[1, 4, 60], [1, 20, 140], [1, 64, 140], [1, 6, 6]],
)
Grid = list[list[int]]
Forward = Callable[[Any, Any], Any]


def crops(pages: int, scale: float) -> Grid:
    """Rows and columns of patches of the pages' crops: sides are rounded to whole tokens."""
    boxes = [box for number in range(pages) for box in boxes_of(number, WIDTH, HEIGHT)]
    return [[1, _side((y1 - y0) * scale), _side((x1 - x0) * scale)] for x0, y0, x1, y1 in boxes]


def _side(pixels: float) -> int:
    return TOKEN // PATCH * max(1, round(pixels / TOKEN))


def milliseconds(call: Callable[[], Any], repeats: int) -> float:
    """Median of the card's time between two events, which holds the time it waited for launches."""
    call()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def forwards(tower: Any) -> dict[str, Forward]:
    free, began = torch.cuda.mem_get_info()[0], time.perf_counter()
    captured = fast_method(tower, GLM_OCR, "fast", graphs=True)
    torch.cuda.synchronize()
    taken = (free - torch.cuda.mem_get_info()[0]) / 1e6
    print(f"graphs: {time.perf_counter() - began:.1f} s, {taken:.0f} MB", flush=True)
    return {
        "vLLM's own": tower.forward,
        "fast, no graphs": fast_method(tower, GLM_OCR, "fast", graphs=False),
        "fast": captured,
        "fp8": fast_method(tower, GLM_OCR, "fp8", graphs=True),
    }


def accuracy(tower: Any, runs: dict[str, Forward], truth: Any) -> list[dict[str, Any]]:
    rows = []
    for seed, grid in enumerate(GRIDS):
        want = truth.forward(noise_pixels(truth, grid, seed), torch.tensor(grid))
        x = noise_pixels(tower, grid, seed)
        errors = {name: relative(run(x, torch.tensor(grid)), want) for name, run in runs.items()}
        told = ", ".join(f"{name} {value:.4f}" for name, value in errors.items())
        print(f"{len(grid)} pictures, {x.shape[0]} patches: {told}", flush=True)
        rows.append({"grid": grid, "errors": errors})
    return rows


def speed(tower: Any, runs: dict[str, Forward], repeats: int) -> list[dict[str, Any]]:
    cases = {"4 pages": crops(4, 1.0), "4 pages at 0.7": crops(4, 0.7)}
    for count in (1, 3, 8):
        cases[f"{count} crops"] = crops(1, 1.0)[:count]
        cases[f"{count} crops at 0.7"] = crops(1, 0.7)[:count]
    rows = []
    for case, grid in cases.items():
        x, told = noise_pixels(tower, grid, 0), torch.tensor(grid)
        times = {name: milliseconds(partial(run, x, told), repeats) for name, run in runs.items()}
        shown = ", ".join(f"{name} {value:.1f}" for name, value in times.items())
        print(f"{case}, {x.shape[0]} patches, ms: {shown}", flush=True)
        rows.append({"case": case, "patches": x.shape[0], "pictures": len(grid), "ms": times})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # of the float32 tower, which is the truth
    config = start_vllm()
    with torch.inference_mode():
        tower = build_tower(config, options.folder, "cuda", torch.bfloat16)
        truth = build_tower(config, options.folder, "cuda", torch.float32)
        runs = forwards(tower)
        errors = accuracy(tower, runs, truth)
        times = speed(tower, runs, options.repeats)
    finish("vision_tower", card=torch.cuda.get_device_name(), accuracy=errors, speed=times)


if __name__ == "__main__":
    sys.exit(main())
