"""Runs in vLLM's own interpreter: its tower of the tiny checkpoint beside our formulas. Prints JSON.

python tests/with_vllm/tower_side.py CHECKPOINT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
from benchmarks.lib.real_tower import build_tower, noise_pixels, relative, start_vllm
from vllm.model_executor.models.interfaces_base import is_vllm_model

from penstock.vllm_plugin import patch, tower
from tests.support import vision_formulas

GRIDS = (
    [[1, 4, 6]],
    [[1, 2, 2]],
    [[1, 4, 6], [1, 2, 2], [1, 8, 2]],
    [[2, 4, 4], [1, 6, 10]],  # two frames of one picture
)


def main() -> None:
    config, folder = start_vllm(), Path(sys.argv[1])
    with torch.inference_mode():
        exact, rounded = (
            build_tower(config, folder, "cpu", dtype) for dtype in (torch.float32, torch.bfloat16)
        )
        patch.check_shapes(exact)
        patch.check_weights(rounded, "fp8")
        rows = []
        for seed, grid in enumerate(GRIDS):
            truth = exact.forward(noise_pixels(exact, grid, seed), torch.tensor(grid))
            own = rounded.forward(noise_pixels(rounded, grid, seed), torch.tensor(grid))
            rows.append(
                {
                    "float32": relative(ours(exact, grid, seed), truth),
                    "bfloat16": relative(ours(rounded, grid, seed), truth),
                    "bfloat16 of vLLM": relative(own, truth),
                    "shape": list(truth.shape) == list(ours(exact, grid, seed).shape),
                }
            )
        chosen = is_chosen_without_a_picture(exact)
    print(json.dumps({"rows": rows, "chosen": chosen}))


def is_chosen_without_a_picture(network: torch.nn.Module) -> bool:
    """Returns whether vLLM's model, run as before a server is ready, looks at its tower, and is still one."""
    module = sys.modules[patch.MODULE]
    patch.replace_forward(module, "auto")
    kind = getattr(module, patch.MODEL)
    model = kind.__new__(kind)
    torch.nn.Module.__init__(model)
    model.visual, model.language_model = network, SimpleNamespace(model=lambda **inputs: inputs["positions"])
    before = "_penstock" in vars(network)
    answer = model(None, torch.tensor([3]))
    return not before and "_penstock" in vars(network) and answer.item() == 3 and bool(is_vllm_model(kind))


def ours(network: object, grid: list[list[int]], seed: int) -> object:
    pictures = tower.pictures_of(network, noise_pixels(network, grid, seed), grid)
    return tower.compute(network, pictures, vision_formulas, tower.Plain(vision_formulas))


if __name__ == "__main__":
    main()
