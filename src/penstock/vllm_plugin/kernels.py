"""Triton kernels for a vision tower: each reads its rows once and writes them once.

`add_norm` and `add_layer_norm` add what the last product wrote to the residual and normalise the sum;
`turn_heads` turns queries and keys where they lie in the fused product, and `rotate_heads` normalises them
first; `silu_mul` gates. All compute in float32 and round once. `gelu_product` is no kernel of ours: cuBLAS
bends a product's result before it writes it. tests/support/vision_formulas.py has the same in plain torch.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

Tensor = Any
MAX_FP8 = tl.constexpr(448.0)  # of e4m3, the format that Hopper multiplies


@triton.jit
def _add_norm(
    x,
    delta,
    weight,
    bias,
    out,
    scale,
    eps,
    ADD: tl.constexpr,
    CENTRE: tl.constexpr,
    FP8: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < WIDE
    here = row * WIDE + at
    value = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
    if ADD:
        value += tl.load(delta + here, mask=inside, other=0.0).to(tl.float32)
        tl.store(x + here, value, mask=inside)
    if CENTRE:
        value = tl.where(inside, value - tl.sum(value, axis=0) / WIDE, 0.0)
    value *= tl.rsqrt(tl.sum(value * value, axis=0) / WIDE + eps)
    value *= tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    if CENTRE:
        value += tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
    if FP8:
        step = tl.maximum(tl.max(tl.abs(value), axis=0), 1e-12) / MAX_FP8
        tl.store(scale + row, step)
        value /= step
    tl.store(out + here, value.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _rotate_heads(
    qkv,
    q_weight,
    k_weight,
    cos,
    sin,
    eps,
    NORM: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    HALF: tl.constexpr,
    HALF_BLOCK: tl.constexpr,
):
    """One row of the fused product: its queries and keys lie side by side, head after head."""
    row = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, BLOCK)[:, None]
    at = tl.arange(0, HALF_BLOCK)[None, :]
    inside = (head < 2 * HEADS) & (at < HALF)
    left = row * (6 * HEADS * HALF) + head * (2 * HALF) + at
    a = tl.load(qkv + left, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(qkv + left + HALF, mask=inside, other=0.0).to(tl.float32)
    known = at < HALF
    if NORM:
        size = tl.rsqrt(tl.sum(a * a + b * b, axis=1) / (2 * HALF) + eps)[:, None]
        is_key = head >= HEADS
        q_left = tl.load(q_weight + at, mask=known, other=0.0)
        q_right = tl.load(q_weight + at + HALF, mask=known, other=0.0)
        k_left = tl.load(k_weight + at, mask=known, other=0.0)
        k_right = tl.load(k_weight + at + HALF, mask=known, other=0.0)
        a *= size * tl.where(is_key, k_left, q_left).to(tl.float32)
        b *= size * tl.where(is_key, k_right, q_right).to(tl.float32)
    c = tl.load(cos + row * HALF + at, mask=known, other=0.0).to(tl.float32)
    s = tl.load(sin + row * HALF + at, mask=known, other=0.0).to(tl.float32)
    tl.store(qkv + left, a * c - b * s, mask=inside)
    tl.store(qkv + left + HALF, b * c + a * s, mask=inside)


@triton.jit
def _silu_mul(both, out, scale, FP8: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < WIDE
    gate = tl.load(both + row * (2 * WIDE) + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(both + row * (2 * WIDE) + WIDE + at, mask=inside, other=0.0).to(tl.float32)
    value = gate / (1.0 + tl.exp(-gate)) * up
    if FP8:
        step = tl.maximum(tl.max(tl.abs(value), axis=0), 1e-12) / MAX_FP8
        tl.store(scale + row, step)
        value /= step
    tl.store(out + row * WIDE + at, value.to(out.dtype.element_ty), mask=inside)


def add_norm(x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
    """Adds `delta` to `x` in place and returns the sum, normalised and weighed."""
    return _normalised(x, delta, weight, None, eps, torch.empty_like(x), None)


def add_layer_norm(x: Tensor, delta: Tensor | None, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """As `add_norm`, with the mean taken away first and a bias added last."""
    return _normalised(x, delta, weight, bias, eps, torch.empty_like(x), None)


def add_norm_fp8(x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """As `add_norm`, in eight bits with a scale a row."""
    out = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    scale = x.new_empty((x.shape[0], 1), dtype=torch.float32)
    return _normalised(x, delta, weight, None, eps, out, scale), scale


def _normalised(
    x: Tensor,
    delta: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    out: Tensor,
    scale: Tensor | None,
) -> Tensor:
    rows, wide = x.shape
    block = triton.next_power_of_2(wide)
    _add_norm[(rows,)](
        x,
        x if delta is None else delta,
        weight,
        weight if bias is None else bias,
        out,
        x if scale is None else scale,
        eps,
        ADD=delta is not None,
        CENTRE=bias is not None,
        FP8=scale is not None,
        WIDE=wide,
        BLOCK=block,
        num_warps=_warps(block),
    )
    return out


def rotate_heads(
    qkv: Tensor, q_weight: Tensor, k_weight: Tensor, eps: float, cos: Tensor, sin: Tensor, heads: int
) -> None:
    """Normalises and turns the queries and keys of (rows, 3 x heads x size) in place. Values stay."""
    _turned(qkv, q_weight, k_weight, eps, cos, sin, heads, norm=True)


def turn_heads(qkv: Tensor, cos: Tensor, sin: Tensor, heads: int) -> None:
    """As `rotate_heads`, of heads that have no norm."""
    _turned(qkv, cos, cos, 0.0, cos, sin, heads, norm=False)


def _turned(
    qkv: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    eps: float,
    cos: Tensor,
    sin: Tensor,
    heads: int,
    norm: bool,
) -> None:
    half = cos.shape[1]
    block, half_block = triton.next_power_of_2(2 * heads), triton.next_power_of_2(half)
    _rotate_heads[(qkv.shape[0],)](
        qkv,
        q_weight,
        k_weight,
        cos,
        sin,
        eps,
        NORM=norm,
        HEADS=heads,
        BLOCK=block,
        HALF=half,
        HALF_BLOCK=half_block,
        num_warps=_warps(block * half_block),
    )


def gelu_product(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Returns gelu(x weight' + bias), by the formula with the hyperbolic tangent."""
    return torch._addmm_activation(bias, x, weight.t(), use_gelu=True)


def silu_mul(both: Tensor) -> Tensor:
    """Returns silu(first half) x second half of each row."""
    return _gated(both, torch.empty_like(both[:, : both.shape[1] // 2]), None)


def silu_mul_fp8(both: Tensor) -> tuple[Tensor, Tensor]:
    """As `silu_mul`, in eight bits with a scale a row."""
    rows, wide = both.shape
    out = both.new_empty((rows, wide // 2), dtype=torch.float8_e4m3fn)
    scale = both.new_empty((rows, 1), dtype=torch.float32)
    return _gated(both, out, scale), scale


def _gated(both: Tensor, out: Tensor, scale: Tensor | None) -> Tensor:
    rows, wide = out.shape
    block = triton.next_power_of_2(wide)
    _silu_mul[(rows,)](
        both,
        out,
        both if scale is None else scale,
        FP8=scale is not None,
        WIDE=wide,
        BLOCK=block,
        num_warps=_warps(block // 2),
    )
    return out


def _warps(elements: int) -> int:
    """Eight elements a thread: one load of 16 bytes."""
    return max(1, min(8, elements // 256))
