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


def add_layer_norm(x: Tensor, delta: Tensor | None, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """As `add_norm`, with the mean taken away first and a bias added last."""
    value = x.float() if delta is None else x.float() + delta.float()
    if delta is not None:
        x.copy_(value)
    return functional.layer_norm(value, weight.shape, weight.float(), bias.float(), eps).to(x.dtype)


def rotate_heads(
    qkv: Tensor, q_weight: Tensor, k_weight: Tensor, eps: float, cos: Tensor, sin: Tensor, heads: int
) -> None:
    """Normalises and turns the queries and keys of (rows, 3 x heads x size) in place. Values stay."""
    both = qkv.view(qkv.shape[0], 3, heads, -1)[:, :2]
    weight = torch.stack([q_weight, k_weight]).float()[None, :, None]
    _turn(both, _unit(both.float(), eps) * weight, cos, sin)


def turn_heads(qkv: Tensor, cos: Tensor, sin: Tensor, heads: int) -> None:
    """As `rotate_heads`, of heads that have no norm."""
    both = qkv.view(qkv.shape[0], 3, heads, -1)[:, :2]
    _turn(both, both.float(), cos, sin)


def _turn(out: Tensor, values: Tensor, cos: Tensor, sin: Tensor) -> None:
    a, b = values.chunk(2, dim=-1)
    c, s = cos.float()[:, None, None], sin.float()[:, None, None]
    out.copy_(torch.cat([a * c - b * s, b * c + a * s], dim=-1))


def gelu_product(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Returns gelu(x weight' + bias), by the formula with the hyperbolic tangent."""
    up = functional.linear(x.float(), weight.float(), bias.float())
    return functional.gelu(up, approximate="tanh").to(x.dtype)


def silu_mul(both: Tensor) -> Tensor:
    """Returns silu(first half) x second half of each row."""
    gate, up = both.float().chunk(2, dim=-1)
    return (functional.silu(gate) * up).to(both.dtype)


def _unit(value: Tensor, eps: float) -> Tensor:
    return value * torch.rsqrt(value.pow(2).mean(-1, keepdim=True) + eps)
