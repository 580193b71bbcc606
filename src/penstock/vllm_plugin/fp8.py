"""The blocks' large products in eight bits: weights with a scale a row, activations with a scale a patch.

The norm and the gate write eight bits in the same pass, so that numbers are never read again to be rounded.
What attention gives goes through its small product in full.
"""

from __future__ import annotations

from typing import Any

import torch

Tensor = Any
MAX_FP8 = 448.0  # of e4m3, the format that Hopper multiplies


class Eight:
    """Products of eight-bit copies of the weights, made at their first use."""

    def __init__(self, kernels: Any) -> None:
        self._kernels = kernels
        self._copies: dict[int, tuple[Tensor, Tensor]] = {}

    def qkv(self, block: Any, x: Tensor, delta: Tensor | None) -> Tensor:
        norm = block.norm1
        rows = self._kernels.add_norm_fp8(x, delta, norm.weight, norm.variance_epsilon)
        return self._product(block.attn.qkv, *rows)

    def feed_forward(self, block: Any, x: Tensor, delta: Tensor) -> Tensor:
        norm, mlp = block.norm2, block.mlp
        rows = self._kernels.add_norm_fp8(x, delta, norm.weight, norm.variance_epsilon)
        both = self._product(mlp.gate_up_proj, *rows)
        return self._product(mlp.down_proj, *self._kernels.silu_mul_fp8(both))

    def _product(self, layer: Any, rows: Tensor, scale: Tensor) -> Tensor:
        if id(layer) not in self._copies:
            self._copies[id(layer)] = rounded(layer.weight)
        weight, weight_scale = self._copies[id(layer)]
        return torch._scaled_mm(
            rows,
            weight.t(),
            scale_a=scale,
            scale_b=weight_scale,
            bias=layer.bias,
            out_dtype=layer.weight.dtype,
            use_fast_accum=True,
        )


def rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """The weight in eight bits, and the scale of each of its rows, lying flat."""
    scale = (weight.float().abs().amax(1, keepdim=True) / MAX_FP8).clamp(min=1e-12)
    return (weight.float() / scale).to(torch.float8_e4m3fn), scale.t().contiguous()
