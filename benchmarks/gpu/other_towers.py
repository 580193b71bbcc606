"""Measures other models' vision towers in vLLM, its own code and the plugin's: time, where it goes, accuracy.

    python benchmarks/gpu/other_towers.py            # a card: the models' real shapes, random weights
    python benchmarks/gpu/other_towers.py --smoke    # a CPU: two layers, a small picture, vLLM's own code

`idle` is the share of a pass in which the card waits for the next launch. Errors are relative to vLLM's own
code in float32. Weights are random, of a trained network's scale. The last line is JSON.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from penstock.vllm_plugin.patch import fast_method
from penstock.vllm_plugin.places import PLACES, TowerPlace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib import real_tower
from benchmarks.lib.common import finish
from benchmarks.lib.real_tower import built, noise, relative, start_vllm

Pass = Callable[[], Any]
Cases = dict[str, tuple[Any, ...]]  # what a tower's method is given
PRODUCTS = ("gemm", "nvjet", "cutlass", "cublas", "sm90_xmma", "conv")
ATTENTION = ("flash", "fmha", "attention")
# rows and columns of patches: a page as the pipeline embeds it, crops of GLM-OCR's benchmarks
PAGE_GRID = (100, 70)
CROP_GRIDS = ((20, 140), (28, 106), (64, 140))
ROUNDS = 7


def qwen_cases(tower: Any, small: bool) -> Cases:
    """One page, and four pages together as a filling server has them."""
    rows, columns = (8, 6) if small else PAGE_GRID

    def pages(count: int) -> tuple[Any, ...]:
        return noise(tower, 1, count * rows * columns, 3 * 2 * 16 * 16), torch.tensor(
            [[1, rows, columns]] * count
        )

    return {"one page": pages(1), "four pages": pages(4)}


def paddle_cases(model: Any, small: bool) -> Cases:
    """One crop, three, and eight, which no graph holds."""

    def crops(grids: Any) -> tuple[Any, ...]:
        pixels = [noise(model, 1, rows * columns, 3, 14, 14) for rows, columns in grids]
        grid = torch.tensor([(1, *grid) for grid in grids])
        return (SimpleNamespace(pixel_values=pixels, image_grid_thw=grid),)

    known = ((4, 6),) if small else CROP_GRIDS
    return {"one crop": crops(known[:1]), "two crops": crops(known[:2]), "three crops": crops(known)}


def deepseek_cases(model: Any, small: bool) -> Cases:
    """A page in one view of 1,024 pixels and six tiles of 640."""
    view, tile, shape = (128, 64, (2, 1)) if small else (1024, 640, (2, 3))
    tiles = noise(model, 1, shape[0] * shape[1], 3, tile, tile)
    return {"one page": (noise(model, 1, 1, 3, view, view), tiles, torch.tensor([shape]))}


_, PADDLE, QWEN, DEEPSEEK = PLACES
TOWERS: dict[str, tuple[TowerPlace, Callable[[bool], Any], Callable[[Any, bool], Cases]]] = {
    "PaddleOCR-VL": (PADDLE, real_tower.paddleocr, paddle_cases),
    "Qwen3-VL-Embedding-2B": (QWEN, real_tower.qwen3_vl_embedding, qwen_cases),
    "DeepSeek-OCR": (DEEPSEEK, real_tower.deepseek, deepseek_cases),
}


def measured(run: Pass) -> dict[str, float]:
    """Wall milliseconds of a pass, and the card's by kind of kernel."""
    run()
    took = statistics.median(_wall_ms(run) for _ in range(ROUNDS))
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as watched:
        run()
        _settle()
    kinds = {"products": 0.0, "attention": 0.0, "memory": 0.0}
    for event in watched.key_averages():
        if event.device_type == DeviceType.CPU:
            continue  # an operation's time on the card is that of its kernels, which are listed too
        kinds[_kind(event.key)] += getattr(event, "self_device_time_total", 0.0) / 1000
    return {"ms": took, **kinds, "idle": max(0.0, 1 - sum(kinds.values()) / took)}


def _wall_ms(run: Pass) -> float:
    _settle()
    began = time.perf_counter()
    run()
    _settle()
    return (time.perf_counter() - began) * 1000


def _settle() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _kind(kernel: str) -> str:
    name = kernel.lower()
    if any(word in name for word in ATTENTION):
        return "attention"
    return "products" if any(word in name for word in PRODUCTS) else "memory"


def compared(name: str, config: Any, small: bool) -> list[dict[str, Any]]:
    place, make, cases_of = TOWERS[name]
    device = "cpu" if small else "cuda"
    tower = built(config, lambda: make(small), device, torch.float32 if small else torch.bfloat16)
    ways = {"vLLM's own": getattr(tower, place.method)}
    if not small:
        before = torch.cuda.mem_get_info()[0]
        ways["fast, no graphs"] = fast_method(tower, place, "fast", graphs=False)
        ways["fast"] = fast_method(tower, place, "fast", graphs=True)
        print(f"{name}: graphs take {(before - torch.cuda.mem_get_info()[0]) / 1e6:.0f} MB", flush=True)
    rows = []
    cases = cases_of(tower, small)
    errors = {} if small else _errors(config, place, make, cases, ways)
    for case, given in cases.items():
        for way, method in ways.items():
            row = measured(lambda method=method, given=given: method(*given))  # type: ignore[misc]
            rows.append({"tower": name, "case": case, "way": way, **row, "error": errors.get((case, way))})
            shares = ", ".join(f"{kind} {row[kind]:.1f}" for kind in ("products", "attention", "memory"))
            off = f"; off by {errors[case, way]:.2%}" if errors else ""
            shown = f"{row['ms']:.1f} ms; card: {shares} ms; idle {row['idle']:.0%}{off}"
            print(f"{name}, {case}, {way}: {shown}", flush=True)
    return rows


def _errors(
    config: Any, place: TowerPlace, make: Callable[[bool], Any], cases: Cases, ways: dict[str, Any]
) -> dict[tuple[str, str], float]:
    """How far each way is from vLLM's own code in float32."""
    exact = built(config, lambda: make(False), "cuda", torch.float32)
    found = {}
    for case, given in cases.items():
        truth = _flat(getattr(exact, place.method)(*(_float32(value) for value in given)))
        for way, method in ways.items():
            found[case, way] = relative(_flat(method(*given)), truth)
    return found


def _float32(value: Any) -> Any:
    if isinstance(value, SimpleNamespace):
        pixels = [pixels.float() for pixels in value.pixel_values]
        return SimpleNamespace(pixel_values=pixels, image_grid_thw=value.image_grid_thw)
    return value.float() if value.is_floating_point() else value


def _flat(result: Any) -> Any:
    return result if isinstance(result, torch.Tensor) else torch.cat(list(result))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true", help="two layers and a small picture, on a CPU")
    parser.add_argument("--only", default=list(TOWERS), nargs="+", choices=list(TOWERS))
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # of the float32 towers, which are the truth
    config, results = start_vllm(), []
    with torch.inference_mode():
        for name in options.only:
            results += compared(name, config, options.smoke)
    finish("other_towers", results=results)


if __name__ == "__main__":
    sys.exit(main())
