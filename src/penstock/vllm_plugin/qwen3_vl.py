"""Qwen3-VL's vision tower, also that of Qwen3-VL-Embedding: vLLM's forward in fewer passes and launches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from penstock.vllm_plugin import blocks
from penstock.vllm_plugin.glm_ocr import trial as trial  # pictures of noise, in the same order of patches
from penstock.vllm_plugin.graphs import over_grids
from penstock.vllm_plugin.pictures import Pictures, flat_pixels, positions, turns
from penstock.vllm_plugin.places import qwen_blocks

Tensor = Any
Tower = Any  # vllm.model_executor.models.qwen3_vl.Qwen3_VisionTransformer
Kernels = Any


def fast(tower: Tower, kernels: Kernels, mode: str, graphs: bool) -> Callable[..., Tensor]:
    """Returns what gives the same as the tower's own forward."""

    def run(pictures: Pictures) -> Tensor:
        return compute(tower, pictures, kernels)

    weight = tower.patch_embed.proj.weight
    encode = over_grids(run, weight, tower.spatial_merge_size, tower.out_hidden_size, graphs)

    def forward(x: Tensor, grid_thw: Any) -> Tensor:
        return encode(flat_pixels(tower, x), grid_thw if isinstance(grid_thw, list) else grid_thw.tolist())

    return forward


def compute(tower: Tower, pictures: Pictures, kernels: Kernels) -> Tensor:
    """Returns what the tower's own forward returns: tokens, each with what some blocks gave."""
    patch = tower.patch_embed.proj
    x = functional.linear(pictures.pixels, patch.weight.flatten(1), patch.bias)
    x = (x + _positions(tower.pos_embed.weight, pictures.spots)).to(x.dtype)
    deep: list[Tensor] = []
    mergers = zip(tower.deepstack_visual_indexes, tower.deepstack_merger_list, strict=True)
    seen = {number: partial(_kept, deep, merger) for number, merger in mergers}
    cos_sin = turns(tower.rotary_pos_emb, pictures.spots)
    x, delta = blocks.through(qwen_blocks(tower), x, cos_sin, pictures, kernels, seen)
    return torch.cat([tower.merger(x if delta is None else x + delta), *deep], dim=1)


def _kept(deep: list[Tensor], merger: Any, x: Tensor) -> None:
    deep.append(merger(x))


def _positions(table: Tensor, spots: Tensor) -> Tensor:
    """The corners of a picture are the corners of the table."""
    side = int(table.shape[0] ** 0.5)
    steps = (side - 1) / (spots[:, 2:] - 1).clamp(min=1)
    rows, columns = (spots[:, :2] * steps).unbind(1)
    return positions(table, rows, columns)
