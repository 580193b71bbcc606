"""vLLM's own vision towers, alone and with weights of a trained network's scale.

Needs vLLM. Its dummy weights are a thousandth: a tower of them computes nothing that could come out wrong.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, CLIPVisionConfig, PretrainedConfig
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.distributed import init_distributed_environment, initialize_model_parallel
from vllm.model_executor.models import deepencoder, deepseek_ocr, glm_ocr, paddleocr_vl, qwen3_vl

from benchmarks.lib.real_shapes import PADDLE_TEXT, PADDLE_VISION, QWEN_VISION


def start_vllm() -> Any:
    """What vLLM wants before it builds a layer: a world of one process. Returns the config to build under."""
    config = VllmConfig()
    with set_current_vllm_config(config):
        meet = tempfile.NamedTemporaryFile(delete=False).name  # noqa: SIM115
        init_distributed_environment(1, 0, f"file://{meet}", 0, backend="gloo")
        initialize_model_parallel(1)
    return config


def build_tower(config: Any, folder: Path, device: str, dtype: Any, seed: int = 0) -> Any:
    """The tower that a GLM-OCR checkpoint's config describes."""
    shape = AutoConfig.from_pretrained(folder)
    make = partial(glm_ocr.GlmOcrVisionTransformer, shape.text_config, shape.vision_config, norm_eps=1e-5)
    return built(config, make, device, dtype, seed)


def built(config: Any, make: Callable[[], Any], device: str, dtype: Any, seed: int = 0) -> Any:
    """What `make` makes, with random weights. The same seed gives the same weights in any dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with set_current_vllm_config(config), torch.device(device):
            tower = make()
    finally:
        torch.set_default_dtype(before)
    return filled(tower, seed)  # after: noise in another kind of number would be other noise


def qwen3_vl_embedding(small: bool = False) -> Any:
    """Qwen3-VL-Embedding-2B's tower."""
    shape = {**QWEN_VISION, **({"depth": 3, "hidden_size": 64, "num_heads": 4} if small else {})}
    if small:
        shape |= {"intermediate_size": 96, "out_hidden_size": 48, "deepstack_visual_indexes": [0, 2]}
    config = PretrainedConfig(
        **shape, num_position_embeddings=49 if small else 2_304, patch_size=16, spatial_merge_size=2,
        temporal_patch_size=2, in_channels=3, hidden_act="gelu_pytorch_tanh",
    )  # fmt: skip
    return qwen3_vl.Qwen3_VisionTransformer(config, norm_eps=1e-6)


def paddleocr(small: bool = False) -> Any:
    """PaddleOCR-VL without its language model."""
    shape = dict(PADDLE_VISION)
    if small:
        shape |= {
            "hidden_size": 96,
            "intermediate_size": 100,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
        }
        shape |= {"image_size": 70}
    vision = PretrainedConfig(**shape)
    text = PretrainedConfig(hidden_size=32 if small else PADDLE_TEXT["hidden_size"])
    model = _without_words(paddleocr_vl.PaddleOCRVLForConditionalGeneration)
    model.visual = paddleocr_vl.SiglipVisionModel(vision)
    model.mlp_AR = paddleocr_vl.Projector(text, vision)
    return model


def deepseek(small: bool = False) -> Any:
    """DeepSeek-OCR without its language model."""
    wide, layers, tokens = (64, 2, 48) if small else (1_024, 24, 1_280)
    shape = CLIPVisionConfig(
        hidden_size=wide, intermediate_size=4 * wide, num_attention_heads=wide // 16 if small else 16,
        num_hidden_layers=layers, image_size=224, patch_size=14, projection_dim=512, layer_norm_eps=1e-5,
    )  # fmt: skip
    model = _without_words(deepseek_ocr.DeepseekOCRForCausalLM)
    model.sam_model = _small_sam(wide) if small else deepencoder.build_sam_vit_b()
    model.vision_model = deepencoder.DeepCLIPVisionTransformer(config=shape)
    model.projector = torch.nn.Linear(2 * wide, tokens)
    model.image_newline = torch.nn.Parameter(torch.empty(tokens))
    model.view_seperator = torch.nn.Parameter(torch.empty(tokens))
    return model


def _small_sam(wide: int) -> Any:
    """With windows that do not divide a picture, and a picture of another size than the learned one."""
    return deepencoder.ImageEncoderViT(
        img_size=96, embed_dim=32, depth=3, num_heads=2, use_rel_pos=True, window_size=3,
        global_attn_indexes=(1,), last_conv_output=wide, norm_layer=partial(torch.nn.LayerNorm, eps=1e-6),
    )  # fmt: skip


def _without_words(kind: Any) -> Any:
    model = kind.__new__(kind)
    torch.nn.Module.__init__(model)
    return model


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
    return noise(tower, seed, patches, width)


def noise(tower: Any, seed: int, *shape: int) -> Any:
    values = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), device="cpu")
    return values.to(torch.bfloat16).to(next(tower.parameters()))


def relative(value: Any, truth: Any) -> float:
    return float((value.double() - truth.double()).norm() / truth.double().norm())
