"""vLLM's own vision tower of GLM-OCR, alone and with weights of a trained network's scale.

Needs vLLM. Its dummy weights are a thousandth: a tower of them computes nothing that could come out wrong.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.distributed import init_distributed_environment, initialize_model_parallel
from vllm.model_executor.models.glm_ocr import GlmOcrVisionTransformer


def start_vllm() -> Any:
    """What vLLM wants before it builds a layer: a world of one process. Returns the config to build under."""
    config = VllmConfig()
    with set_current_vllm_config(config):
        meet = tempfile.NamedTemporaryFile(delete=False).name  # noqa: SIM115
        init_distributed_environment(1, 0, f"file://{meet}", 0, backend="gloo")
        initialize_model_parallel(1)
    return config


def build_tower(config: Any, folder: Path, device: str, dtype: Any, seed: int = 0) -> Any:
    """The tower that a checkpoint's config describes. The same seed gives the same weights in any dtype."""
    shape = AutoConfig.from_pretrained(folder)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with set_current_vllm_config(config), torch.device(device):
            tower = GlmOcrVisionTransformer(shape.text_config, shape.vision_config, norm_eps=1e-5)
    finally:
        torch.set_default_dtype(before)
    return filled(tower, seed)


def filled(tower: Any, seed: int = 0) -> Any:
    """The tower with random weights, ready to be called."""
    _fill(tower, torch.Generator().manual_seed(seed))
    for layer in tower.modules():
        if (method := getattr(layer, "quant_method", None)) is not None:
            method.process_weights_after_loading(layer)
    return tower.eval().requires_grad_(False)


def _fill(tower: Any, dice: torch.Generator) -> None:
    """Products keep the size of what goes through them; norms and biases stray a little. All fit bfloat16."""
    for name, weight in sorted(tower.named_parameters()):
        noise = torch.randn(weight.shape, generator=dice, device="cpu")
        if weight.dim() > 1:
            value = noise / math.sqrt(weight[0].numel())
        elif name.endswith("bias"):
            value = 0.05 * noise
        else:
            value = 1.0 + 0.2 * noise
        weight.data.copy_(value.to(torch.bfloat16))


def noise_pixels(tower: Any, grid: list[list[int]], seed: int) -> Any:
    """Pixels as the processor gives them, normalised, rounded to bfloat16."""
    width = tower.patch_embed.proj.weight[0].numel()
    patches = sum(t * h * w for t, h, w in grid)
    values = torch.randn(patches, width, generator=torch.Generator().manual_seed(seed))
    return values.to(torch.bfloat16).to(tower.device, tower.dtype)


def relative(value: Any, truth: Any) -> float:
    return float((value.double() - truth.double()).norm() / truth.double().norm())
