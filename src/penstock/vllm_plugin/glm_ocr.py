"""GLM-OCR's vision tower over kernels that are given: the formulas of vLLM's forward, in fewer passes.

What differs from vLLM's own: the residual is added where the next norm reads it; queries and keys are
normalised and turned inside the fused product, and attention reads all three there; the two convolutions
whose windows do not overlap are products; and nothing waits for the card, since the longest picture is known
before it is needed (vLLM fetches from the card once a block).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from penstock.vllm_plugin.fp8 import Eight
from penstock.vllm_plugin.graphs import over_grids
from penstock.vllm_plugin.pictures import Pictures, flat_pixels, turns

Tensor = Any
Tower = Any  # vllm.model_executor.models.glm_ocr.GlmOcrVisionTransformer
Kernels = Any  # kernels.py, or functions of the same names
Products = Any  # Plain, or fp8.Eight

TRIAL = ((1, 4, 6), (1, 2, 2))  # frames, rows and columns of patches


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


def fast(tower: Tower, kernels: Kernels, mode: str, graphs: bool) -> Callable[..., Tensor]:
    """Returns what gives the same as the tower's own forward."""
    do = Eight(kernels) if mode == "fp8" else Plain(kernels)

    def run(pictures: Pictures) -> Tensor:
        return compute(tower, pictures, kernels, do)

    weight = tower.patch_embed.proj.weight
    encode = over_grids(run, weight, tower.spatial_merge_size, tower.out_hidden_size, graphs)

    def forward(x: Tensor, grid: Any) -> Tensor:
        return encode(flat_pixels(tower, x), grid if isinstance(grid, list) else grid.tolist())

    return forward


def trial(tower: Tower) -> tuple[Tensor, Tensor]:
    """Arguments of the forward: small pictures of noise."""
    grid = torch.tensor(TRIAL)
    dice = torch.Generator().manual_seed(0)
    x = torch.randn(int(grid.prod(1).sum()), tower.patch_embed.proj.weight[0].numel(), generator=dice)
    return x.to(tower.device, tower.dtype), grid


def compute(tower: Tower, pictures: Pictures, kernels: Kernels, do: Products) -> Tensor:
    """Returns what the tower's own forward returns."""
    product = tower.patch_embed.proj
    x = functional.linear(pictures.pixels, product.weight.flatten(1), product.bias)
    cos, sin = turns(tower.rotary_pos_emb, pictures.spots)
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
