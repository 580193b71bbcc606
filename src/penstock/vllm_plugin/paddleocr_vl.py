"""PaddleOCR-VL's vision tower and projector for all pictures of a step at once.

vLLM encodes one picture after the other, and waits for the card five times for each. Patches are brought into
the order in which the projector wants them before the first layer: attention does not mind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional

from penstock.vllm_plugin import blocks
from penstock.vllm_plugin.graphs import over_grids
from penstock.vllm_plugin.pictures import Pictures, positions
from penstock.vllm_plugin.places import siglip_blocks

Tensor = Any
Model = Any  # vllm.model_executor.models.paddleocr_vl.PaddleOCRVLForConditionalGeneration
Kernels = Any

MERGE = 2  # of the projector: fixed in vLLM's code
TRIAL = ((1, 4, 6), (1, 2, 2))


def fast(model: Model, kernels: Kernels, mode: str, graphs: bool) -> Callable[..., tuple[Tensor, ...]]:
    """Returns what gives the same as the model's own `_process_image_input`."""
    patch = model.visual.vision_model.embeddings.patch_embedding

    def run(pictures: Pictures) -> Tensor:
        return compute(model, pictures, kernels)

    encode = over_grids(run, patch.weight, MERGE, model.mlp_AR.linear_2.out_features, graphs)

    def process(given: Any) -> tuple[Tensor, ...]:
        grid = given.image_grid_thw.tolist()
        pixels = patches_of(given.pixel_values, grid).to(patch.weight.device, patch.weight.dtype)
        return tuple(encode(pixels, grid).split([t * h * w // MERGE**2 for t, h, w in grid]))

    return process


def trial(model: Model) -> tuple[Any]:
    """Arguments of `_process_image_input`: small pictures of noise."""
    weight = model.visual.vision_model.embeddings.patch_embedding.weight
    dice = torch.Generator().manual_seed(0)
    noise = [torch.randn(t * h * w, *weight.shape[1:], generator=dice) for t, h, w in TRIAL]
    pixels = [patches.to(weight.device, weight.dtype) for patches in noise]
    return (SimpleNamespace(pixel_values=pixels, image_grid_thw=torch.tensor(TRIAL)),)


def patches_of(pictures: Sequence[Tensor], grid: Sequence[Sequence[int]]) -> Tensor:
    """The patches of all pictures, flat, the four of a token together."""
    parts = []
    for patches, (t, h, w) in zip(pictures, grid, strict=True):
        square = patches.reshape(t, h // MERGE, MERGE, w // MERGE, MERGE, -1)
        parts.append(square.transpose(2, 3).reshape(t * h * w, -1))
    return torch.cat(parts)


def compute(model: Model, pictures: Pictures, kernels: Kernels) -> Tensor:
    """Returns the tokens of all pictures."""
    tower = model.visual.vision_model
    patch = tower.embeddings.patch_embedding
    x = functional.linear(pictures.pixels, patch.weight.flatten(1), patch.bias)
    x = (x + _positions(tower.embeddings.position_embedding.weight, pictures.spots)).to(x.dtype)
    turns = _turns(tower.encoder.rotary_pos_emb.inv_freq, pictures.spots)
    x, delta = blocks.through(siglip_blocks(model), x, turns, pictures, kernels)
    norm, last = tower.post_layernorm, model.mlp_AR
    x = kernels.add_layer_norm(x, delta, norm.weight, norm.bias, norm.eps)
    return last.linear_2(last.act(last.linear_1(last.pre_norm(x).view(-1, last.hidden_size))))


def _positions(table: Tensor, spots: Tensor) -> Tensor:
    """As `interpolate` does it without aligned corners: the middle of a patch is what counts."""
    side = int(table.shape[0] ** 0.5)
    rows, columns = ((spots[:, :2].float() + 0.5) * side / spots[:, 2:] - 0.5).unbind(1)
    return positions(table, rows, columns)


def _turns(frequencies: Tensor, spots: Tensor) -> tuple[Tensor, Tensor]:
    angles = (spots[:, :2].float().unsqueeze(2) * frequencies).flatten(1)
    return angles.cos(), angles.sin()
