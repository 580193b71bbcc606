"""DeepSeek-OCR's two encoders: recorded for the shapes of a page's views, with lighter attention in SAM.

vLLM 0.26 writes a table of one number for each pair of patches, so that attention can add where two patches
lie to each other. That number is a sum of two products, so it fits into the product of queries and keys: a
query gets what it thinks of each row and each column, a key the ones at its own row and column.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from penstock.vllm_plugin.graphs import ShapeGraphs

Tensor = Any
Model = Any  # vllm.model_executor.models.deepseek_ocr.DeepseekOCRForCausalLM
Kernels = Any

VIEW, TILE = 1024, 640  # pixels a side, where a request does not say otherwise
MAX_TILES = 6


def fast(model: Model, kernels: Kernels, mode: str, graphs: bool) -> Callable[..., list[Tensor]]:
    """Returns what gives the same as the model's own `_pixel_values_to_embedding`."""
    encode: Callable[[Tensor], Tensor] = partial(features, model)
    if graphs:
        shapes = [(tiles, 3, TILE, TILE) for tiles in range(MAX_TILES, 1, -1)]
        weight = model.sam_model.patch_embed.proj.weight
        encode = ShapeGraphs(encode, weight, [(1, 3, VIEW, VIEW), *shapes])
    return partial(pages, model, encode)


def trial(model: Model) -> tuple[Tensor, Tensor, Tensor]:
    """Arguments of `_pixel_values_to_embedding`: a picture of noise in two tiles, and one without."""
    weight = model.sam_model.patch_embed.proj.weight
    dice = torch.Generator().manual_seed(0)
    views, tiles = (torch.randn(2, 3, side, side, generator=dice) for side in (VIEW, TILE))
    return views.to(weight), tiles.to(weight), torch.tensor([[2, 1], [1, 1]], device=weight.device)


def pages(
    model: Model, encode: Callable[[Tensor], Tensor], views: Tensor, tiles: Tensor, shapes: Tensor
) -> list[Tensor]:
    """The tokens of each picture: its tiles row by row, the whole view, and a separator."""
    results, at = [], 0
    for number, (wide, high) in enumerate(shapes.tolist()):
        count = wide * high if max(wide, high) > 1 else 0
        parts = [_rows(model, encode(tiles[at : at + count]), wide, high)] if count else []
        parts += [_rows(model, encode(views[number : number + 1]), 1, 1), model.view_seperator[None, :]]
        results.append(torch.cat(parts))
        at += count
    return results


def _rows(model: Model, tokens: Tensor, wide: int, high: int) -> Tensor:
    """Puts tiles in their rows and columns, and a new line after each row of tokens."""
    side, width = int(tokens.shape[1] ** 0.5), tokens.shape[2]
    square = tokens.view(high, wide, side, side, width).transpose(1, 2)
    square = square.reshape(high * side, wide * side, width)
    ends = model.image_newline.expand(high * side, 1, width)
    return torch.cat([square, ends], dim=1).flatten(0, 1)


def features(model: Model, pictures: Tensor) -> Tensor:
    """Both encoders' features of pictures of one shape, in the language model's width."""
    first = sam(model.sam_model, pictures)
    second = model.vision_model(pictures, first)
    return model.projector(torch.cat((second[:, 1:], first.flatten(2).transpose(1, 2)), dim=-1))


def sam(encoder: Any, pictures: Tensor) -> Tensor:
    """Returns what the encoder's own forward returns."""
    x = encoder.patch_embed(pictures)
    if encoder.pos_embed is not None:
        x = x + encoder.get_abs_pos(encoder.pos_embed, x.size(1))
    for block in encoder.blocks:
        x = _sam_block(block, x)
    return encoder.net_3(encoder.net_2(encoder.neck(x.permute(0, 3, 1, 2))))


def _sam_block(block: Any, x: Tensor) -> Tensor:
    code = sys.modules[type(block).__module__]  # vLLM's, whose windows are as good as any
    seen = block.norm1(x)
    if block.window_size > 0:
        size = seen.shape[1:3]
        seen, padded = code.window_partition(seen, block.window_size)
        seen = code.window_unpartition(attend(block.attn, seen, code), block.window_size, padded, size)
    else:
        seen = attend(block.attn, seen, code)
    x = x + seen
    return x + block.mlp(block.norm2(x))


def attend(attention: Any, x: Tensor, code: Any) -> Tensor:
    """Attention that adds, for each pair of patches, how far apart their rows and columns are."""
    count, height, width, _ = x.shape
    heads = attention.num_heads
    q, k, v = attention.qkv(x).view(count, height * width, 3, heads, -1).permute(2, 0, 3, 1, 4)
    size, square = q.shape[-1], q.unflatten(2, (height, width))
    rows = code.get_rel_pos(height, height, attention.rel_pos_h)
    columns = code.get_rel_pos(width, width, attention.rel_pos_w)
    of_rows = torch.einsum("bnhwc,hkc->bnhwk", square, rows).flatten(2, 3)
    of_columns = torch.einsum("bnhwc,wkc->bnhwk", square, columns).flatten(2, 3)
    own = _own_spots(height, width, x).expand(count, heads, -1, -1)
    q = torch.cat([q * attention.scale, of_rows, of_columns], -1)
    k = torch.cat([k, own], -1)
    v = functional.pad(v, (0, q.shape[-1] - size))  # one width for all three, or no fast kernel takes them
    seen = functional.scaled_dot_product_attention(q, k, v, scale=1.0)[..., :size]
    return attention.proj(seen.transpose(1, 2).reshape(count, height, width, -1))


def _own_spots(height: int, width: int, like: Tensor) -> Tensor:
    """For each patch ones at its row and at its column."""
    rows, columns = (torch.eye(side, dtype=like.dtype, device=like.device) for side in (height, width))
    return torch.cat([rows.repeat_interleave(width, 0), columns.repeat(height, 1)], -1)
