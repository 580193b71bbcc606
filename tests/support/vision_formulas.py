"""The kernels' formulas in plain torch: what they are tested against, and what a CPU can run."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

Tensor = Any


def add_norm(x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
    """Adds `delta` to `x` in place and returns the sum, normalised and weighed."""
    value = x.float() if delta is None else x.float() + delta.float()
    if delta is not None:
        x.copy_(value)
    return (_unit(value, eps) * weight.float()).to(x.dtype)


def rotate_heads(
    qkv: Tensor, q_weight: Tensor, k_weight: Tensor, eps: float, cos: Tensor, sin: Tensor, heads: int
) -> None:
    """Normalises and turns the queries and keys of (rows, 3 x heads x size) in place. Values stay."""
    both = qkv.view(qkv.shape[0], 3, heads, -1)[:, :2]
    weight = torch.stack([q_weight, k_weight]).float()[None, :, None]
    a, b = (_unit(both.float(), eps) * weight).chunk(2, dim=-1)
    c, s = cos.float()[:, None, None], sin.float()[:, None, None]
    both.copy_(torch.cat([a * c - b * s, b * c + a * s], dim=-1))


def silu_mul(both: Tensor) -> Tensor:
    """Returns silu(first half) x second half of each row."""
    gate, up = both.float().chunk(2, dim=-1)
    return (functional.silu(gate) * up).to(both.dtype)


def _unit(value: Tensor, eps: float) -> Tensor:
    return value * torch.rsqrt(value.pow(2).mean(-1, keepdim=True) + eps)
