"""GLM-OCR's vision tower over kernels that are given: the formulas of vLLM's forward, in fewer passes.

What differs from vLLM's own: the residual is added where the next norm reads it; queries and keys are
normalised and turned inside the fused product, and attention reads all three there; the two convolutions
whose windows do not overlap are products; and nothing waits for the card, since the longest picture is known
before it is needed (vLLM fetches from the card once a block).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional

Tensor = Any
Tower = Any  # vllm.model_executor.models.glm_ocr.GlmOcrVisionTransformer
Kernels = Any  # kernels.py, or functions of the same names
Products = Any  # Plain, or fp8.Eight
Grid = Sequence[Sequence[int]]  # frames, rows and columns of patches, for each picture

MAX_POSITIONS = 8192  # rows or columns of patches that the rotary table holds


@dataclass(frozen=True, slots=True)
class Pictures:
    """Patches of pictures one after another: pixels, row and column of each, and the pictures' bounds."""

    pixels: Tensor
    spots: Tensor
    bounds: Tensor
    longest: Tensor | None  # on the CPU, so that reading it does not wait for the card


class Plain:
    """The blocks' products in the weights' own numbers, by vLLM's own layers."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels

    def qkv(self, block: Any, x: Tensor, delta: Tensor | None) -> Tensor:
        norm = block.norm1
        return block.attn.qkv(self._kernels.add_norm(x, delta, norm.weight, norm.variance_epsilon))[0]

    def feed_forward(self, block: Any, x: Tensor, delta: Tensor) -> Tensor:
        norm, mlp = block.norm2, block.mlp
        both = mlp.gate_up_proj(self._kernels.add_norm(x, delta, norm.weight, norm.variance_epsilon))[0]
        return mlp.down_proj(self._kernels.silu_mul(both))[0]


def pictures_of(tower: Tower, x: Tensor, grid: Grid) -> Pictures:
    """Brings what the tower's forward is given to its card, without waiting for it."""
    spots, bounds = layout(grid, tower.spatial_merge_size)
    return Pictures(
        pixels(tower, x),
        to_card(spots, tower.device),
        to_card(bounds, tower.device),
        tower.compute_attn_mask_seqlen(bounds),
    )


def pixels(tower: Tower, x: Tensor) -> Tensor:
    x = x.to(tower.device)
    return tower.input_norm(x, tower.dtype) if hasattr(tower, "input_norm") else x.to(tower.dtype)


def compute(tower: Tower, pictures: Pictures, kernels: Kernels, do: Products) -> Tensor:
    """Returns what the tower's own forward returns."""
    product = tower.patch_embed.proj
    x = functional.linear(pictures.pixels, product.weight.flatten(1), product.bias)
    cos, sin = (
        table.index_select(0, pictures.spots).view(x.shape[0], -1)
        for table in tower.rotary_pos_emb.get_cos_sin(MAX_POSITIONS)
    )
    delta = None
    for block in tower.blocks:
        qkv = do.qkv(block, x, delta)
        _turn(block.attn, qkv, cos, sin, kernels)
        delta = do.feed_forward(block, x, _attend(block.attn, qkv, pictures))
    norm = tower.post_layernorm
    return _merged(tower, kernels.add_norm(x, delta, norm.weight, norm.variance_epsilon), kernels)


def _turn(attention: Any, qkv: Tensor, cos: Tensor, sin: Tensor, kernels: Kernels) -> None:
    q_norm, k_norm = attention.q_norm, attention.k_norm
    heads = attention.num_attention_heads_per_partition
    kernels.rotate_heads(qkv, q_norm.weight, k_norm.weight, q_norm.variance_epsilon, cos, sin, heads)


def _attend(attention: Any, qkv: Tensor, pictures: Pictures) -> Tensor:
    heads = attention.num_attention_heads_per_partition
    q, k, v = qkv.view(1, qkv.shape[0], 3, heads, -1).unbind(2)
    seen = attention.attn(query=q, key=k, value=v, cu_seqlens=pictures.bounds, max_seqlen=pictures.longest)
    return attention.proj(seen.reshape(qkv.shape[0], -1))[0]


def _merged(tower: Tower, x: Tensor, kernels: Kernels) -> Tensor:
    """Four neighbours become one token, in the language model's width."""
    weight, merger = tower.downsample.weight, tower.merger
    x = x.view(-1, x.shape[1] * tower.spatial_merge_size**2)
    x = functional.linear(x, weight.permute(0, 2, 3, 1).flatten(1), tower.downsample.bias)
    x = merger.extra_activation_func(merger.post_projection_norm(merger.proj(x)[0]))
    return merger.down_proj(kernels.silu_mul(merger.gate_up_proj(x)[0]))[0]


def layout(grid: Grid, merge: int) -> tuple[Tensor, Tensor]:
    """Row and column of every patch, flat, and the bounds of the pictures; each frame counts as one."""
    frames = [(h, w) for t, h, w in grid for _ in range(t)]
    spots = np.concatenate([_spots(h, w, merge) for h, w in frames])
    bounds = np.cumsum([0, *(h * w for h, w in frames)], dtype=np.int32)
    return torch.from_numpy(spots), torch.from_numpy(bounds)


@lru_cache(maxsize=256)
def _spots(height: int, width: int, merge: int) -> Any:
    """In the order of the pixels: the four patches of one token follow each other."""
    spots = np.empty((height // merge, width // merge, merge, merge, 2), np.int32)
    spots[..., 0] = np.arange(height).reshape(-1, 1, merge, 1)
    spots[..., 1] = np.arange(width).reshape(1, -1, 1, merge)
    return spots.reshape(-1)


def to_card(values: Tensor, device: Any) -> Tensor:
    return values.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else values.to(device)
