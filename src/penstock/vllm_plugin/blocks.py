"""The blocks that Qwen3-VL's and PaddleOCR-VL's towers are made of, in fewer passes over memory.

The residual is added where the next norm reads it, queries and keys are turned inside the fused product,
and the product before the gate bends its own result instead of leaving it to another pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.vllm_plugin.pictures import Pictures
from penstock.vllm_plugin.places import TowerBlock

Tensor = Any
Kernels = Any  # kernels.py, or functions of the same names
Turns = tuple[Tensor, Tensor]


def through(
    blocks: Sequence[TowerBlock],
    x: Tensor,
    turns: Turns,
    pictures: Pictures,
    kernels: Kernels,
    seen: Mapping[int, Callable[[Tensor], None]] | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Returns the two parts of the last block's result. `seen` gets the results of some blocks."""
    delta = None
    for number, block in enumerate(blocks):
        qkv = _own(block.qkv(_normalised(block.norm1, x, delta, kernels)))
        kernels.turn_heads(qkv, *turns, block.heads)
        delta = _attend(block, qkv, pictures)
        delta = _feed_forward(block, _normalised(block.norm2, x, delta, kernels), kernels)
        if seen and number in seen:
            x, delta = x + delta, None
            seen[number](x)
    return x, delta


def _normalised(norm: Any, x: Tensor, delta: Tensor | None, kernels: Kernels) -> Tensor:
    return kernels.add_layer_norm(x, delta, norm.weight, norm.bias, norm.eps)


def _attend(block: TowerBlock, qkv: Tensor, pictures: Pictures) -> Tensor:
    q, k, v = qkv.view(1, qkv.shape[0], 3, block.heads, -1).unbind(2)
    seen = block.attention(query=q, key=k, value=v, cu_seqlens=pictures.bounds, max_seqlen=pictures.longest)
    return _own(block.proj(seen.reshape(qkv.shape[0], -1)))


def _feed_forward(block: TowerBlock, x: Tensor, kernels: Kernels) -> Tensor:
    weight = block.up.weight
    if weight.dtype == x.dtype and weight.dim() == 2:
        return _own(block.down(kernels.gelu_product(x, weight, block.up.bias)))
    return _own(
        block.down(block.bend(_own(block.up(x))))
    )  # eight bits, or packed: only vLLM's layer reads them


def _own(result: Any) -> Tensor:
    """What a layer of vLLM's gives: some return their bias with it."""
    return result[0] if isinstance(result, tuple) else result
