"""Where the time of other models' vision towers goes in vLLM: products, attention, moving memory.

    python benchmarks/gpu/other_towers.py            # a card: the models' real shapes, random weights
    python benchmarks/gpu/other_towers.py --smoke    # a CPU: two layers, a small picture

GLM-OCR's tower spent half of its time in kernels that only move memory, and waited for launches. This tells
of Qwen3-VL-Embedding's, PaddleOCR-VL's and DeepSeek-OCR's whether a plugin like ours could gain as much.
`idle` is the share of the pass in which the card waits for the next launch. The last line is JSON.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile
from transformers import CLIPVisionConfig, PretrainedConfig
from vllm.config import set_current_vllm_config
from vllm.model_executor.models import deepencoder, paddleocr_vl, qwen3_vl

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish
from benchmarks.lib.real_shapes import QWEN_VISION
from benchmarks.lib.real_tower import filled, start_vllm

Pass = Callable[[], Any]
PRODUCTS = ("gemm", "nvjet", "cutlass", "cublas", "sm90_xmma", "conv")
ATTENTION = ("flash", "fmha", "attention")
# rows and columns of patches: a page as the pipeline embeds it, crops of GLM-OCR's benchmarks
PAGE_GRID = (100, 70)
CROP_GRIDS = ((20, 140), (28, 106), (64, 140))
ROUNDS = 7


def qwen3_vl_embedding(depth: int, small: bool) -> dict[str, Pass]:
    """One page at a time, and four pages together as a filling server has them."""
    shape = PretrainedConfig(
        **{**QWEN_VISION, "depth": depth or QWEN_VISION["depth"]},
        num_position_embeddings=2_304, patch_size=16, spatial_merge_size=2, temporal_patch_size=2,
        in_channels=3, hidden_act="gelu_pytorch_tanh",
    )  # fmt: skip
    shape.deepstack_visual_indexes = [] if depth else shape.deepstack_visual_indexes
    tower = filled(qwen3_vl.Qwen3_VisionTransformer(shape, norm_eps=1e-6))
    rows, columns = (8, 6) if small else PAGE_GRID

    def run(pages: int) -> Any:
        pixels = _noise(tower, pages * rows * columns, 3 * 2 * 16 * 16)
        grid = [[1, rows, columns]] * pages
        return lambda: tower(pixels, grid)

    return {"one page": run(1), "four pages": run(4)}


def paddleocr(depth: int, small: bool) -> dict[str, Pass]:
    """Three crops: vLLM encodes one after the other."""
    shape = PretrainedConfig(
        hidden_size=1_152, intermediate_size=4_304, num_hidden_layers=depth or 27, num_attention_heads=16,
        num_channels=3, image_size=384, patch_size=14, hidden_act="gelu_pytorch_tanh", layer_norm_eps=1e-6,
        spatial_merge_size=2, attention_dropout=0.0,
    )  # fmt: skip
    tower = filled(paddleocr_vl.SiglipVisionModel(shape))
    grids = ((4, 6),) if small else CROP_GRIDS
    pixels = [_noise(tower, rows * columns, 3, 14, 14) for rows, columns in grids]

    def encode(crop: Any, rows: int, columns: int) -> Any:
        count = rows * columns
        return tower(
            pixel_values=crop.unsqueeze(0),
            image_grid_thw=[(1, rows, columns)],
            position_ids=torch.arange(count, device=crop.device),
            interpolate_pos_encoding=True,
            cu_seqlens=torch.tensor([0, count], dtype=torch.int32, device=crop.device),
        )

    return {"three crops": lambda: [encode(crop, *grid) for crop, grid in zip(pixels, grids, strict=True)]}


def deepseek_ocr(depth: int, small: bool) -> dict[str, Pass]:
    """A page in one piece of 1,024 pixels and six of 640, each through SAM and then CLIP."""
    sam = filled(deepencoder.build_sam_vit_b())
    shape = CLIPVisionConfig(
        hidden_size=1_024, intermediate_size=4_096, num_attention_heads=16, num_hidden_layers=depth or 24,
        image_size=224, patch_size=14, projection_dim=512, layer_norm_eps=1e-5,
    )  # fmt: skip
    clip = filled(deepencoder.DeepCLIPVisionTransformer(config=shape))
    pieces = (
        [_noise(sam, 1, 3, 640, 640)]
        if small
        else [_noise(sam, 1, 3, 1024, 1024), _noise(sam, 6, 3, 640, 640)]
    )
    return {"one page": lambda: [clip(piece, sam(piece)) for piece in pieces]}


TOWERS = {
    "Qwen3-VL-Embedding-2B": qwen3_vl_embedding,
    "PaddleOCR-VL": paddleocr,
    "DeepSeek-OCR": deepseek_ocr,
}


def _noise(tower: Any, *shape: int) -> Any:
    weight = next(tower.parameters())
    values = torch.randn(*shape, generator=torch.Generator().manual_seed(1), device="cpu")
    return values.to(weight.device, weight.dtype)


def measured(run: Pass) -> dict[str, float]:
    """Wall milliseconds of a pass, and the card's by kind of kernel."""
    with torch.inference_mode():
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true", help="two layers and a small picture, on a CPU")
    options = parser.parse_args()
    device, dtype = ("cpu", torch.float32) if options.smoke else ("cuda", torch.bfloat16)
    config, results = start_vllm(), {}
    torch.set_default_dtype(dtype)
    for name, make in TOWERS.items():
        with set_current_vllm_config(config):
            with torch.device(device):
                passes = make(2 if options.smoke else 0, options.smoke)
            for case, run in passes.items():
                row = results[f"{name}, {case}"] = measured(run)
                shares = ", ".join(f"{kind} {row[kind]:.1f}" for kind in ("products", "attention", "memory"))
                print(
                    f"{name}, {case}: {row['ms']:.1f} ms; card: {shares} ms; idle {row['idle']:.0%}",
                    flush=True,
                )
    finish("other_towers", results=results)


if __name__ == "__main__":
    sys.exit(main())
