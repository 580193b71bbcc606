"""Triton kernels for a vision tower: each reads its rows once and writes them once.

`add_norm` adds what the last product wrote to the residual and normalises the sum; `rotate_heads` normalises
and turns queries and keys where they lie in the fused product; `silu_mul` gates. All compute in float32 and
round once. tests/support/vision_formulas.py has the same functions in plain torch.
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
    out,
    scale,
    eps,
    ADD: tl.constexpr,
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
    value *= tl.rsqrt(tl.sum(value * value, axis=0) / WIDE + eps)
    value *= tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    if FP8:
        step = tl.maximum(tl.max(tl.abs(value), axis=0), 1e-12) / MAX_FP8
        tl.store(scale + row, step)
        value /= step
    tl.store(out + here, value.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _rotate_heads(
    qkv, q_weight, k_weight, cos, sin, eps, HEADS: tl.constexpr, BLOCK: tl.constexpr, HALF: tl.constexpr
):
    """One row of the fused product: its queries and keys lie side by side, head after head."""
    row = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, BLOCK)[:, None]
    at = tl.arange(0, HALF)[None, :]
    inside = (head < 2 * HEADS) & (at < HALF)
    left = row * (6 * HEADS * HALF) + head * (2 * HALF) + at
    a = tl.load(qkv + left, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(qkv + left + HALF, mask=inside, other=0.0).to(tl.float32)
    size = tl.rsqrt(tl.sum(a * a + b * b, axis=1) / (2 * HALF) + eps)[:, None]
    is_key = head >= HEADS
    a *= size * tl.where(is_key, tl.load(k_weight + at), tl.load(q_weight + at)).to(tl.float32)
    b *= size * tl.where(is_key, tl.load(k_weight + at + HALF), tl.load(q_weight + at + HALF)).to(tl.float32)
    c = tl.load(cos + row * HALF + at).to(tl.float32)
    s = tl.load(sin + row * HALF + at).to(tl.float32)
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
    return _normalised(x, delta, weight, eps, torch.empty_like(x), None)


def add_norm_fp8(x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """As `add_norm`, in eight bits with a scale a row."""
    out = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    scale = x.new_empty((x.shape[0], 1), dtype=torch.float32)
    return _normalised(x, delta, weight, eps, out, scale), scale


def _normalised(
    x: Tensor, delta: Tensor | None, weight: Tensor, eps: float, out: Tensor, scale: Tensor | None
) -> Tensor:
    rows, wide = x.shape
    block = triton.next_power_of_2(wide)
    _add_norm[(rows,)](
        x,
        x if delta is None else delta,
        weight,
        out,
        x if scale is None else scale,
        eps,
        ADD=delta is not None,
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
    half = cos.shape[1]
    block = triton.next_power_of_2(2 * heads)
    _rotate_heads[(qkv.shape[0],)](
        qkv,
        q_weight,
        k_weight,
        cos,
        sin,
        eps,
        HEADS=heads,
        BLOCK=block,
        HALF=half,
        num_warps=_warps(block * half),
    )


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
