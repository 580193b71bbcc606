"""Pictures as a tower is given them, whatever the model: patches, where each lies, and where pictures end.

Everything that depends on the pictures' sizes is made on the CPU and sent without waiting for the card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

Tensor = Any
Grid = Sequence[Sequence[int]]  # frames, rows and columns of patches, for each picture

MAX_POSITIONS = 8192  # rows or columns of patches that a rotary table holds


@dataclass(frozen=True, slots=True)
class Pictures:
    """Patches of pictures one after another, those of a token together, and the pictures' bounds."""

    pixels: Tensor
    spots: Tensor  # of each patch its row and column, and how many of both its picture has
    bounds: Tensor
    longest: Tensor  # on the CPU, so that reading it does not wait for the card


def pictures_of(pixels: Tensor, grid: Grid, merge: int) -> Pictures:
    """Brings what describes the pictures to the card of their pixels."""
    spots, bounds = layout(grid, merge)
    device = pixels.device
    return Pictures(pixels, to_card(spots, device), to_card(bounds, device), bounds.diff().max())


def flat_pixels(tower: Any, x: Tensor) -> Tensor:
    """The patches on the tower's card and in its numbers."""
    x = x.to(tower.device)
    return tower.input_norm(x, tower.dtype) if hasattr(tower, "input_norm") else x.to(tower.dtype)


def layout(grid: Grid, merge: int) -> tuple[Tensor, Tensor]:
    """The spots of every patch, and the bounds of the pictures; each frame counts as one."""
    frames = [(h, w) for t, h, w in grid for _ in range(t)]
    spots = np.concatenate([_spots(h, w, merge) for h, w in frames])
    bounds = np.cumsum([0, *(h * w for h, w in frames)], dtype=np.int32)
    return torch.from_numpy(spots), torch.from_numpy(bounds)


@lru_cache(maxsize=256)
def _spots(height: int, width: int, merge: int) -> Any:
    """In the order of the pixels: the patches of one token follow each other."""
    spots = np.empty((height // merge, width // merge, merge, merge, 4), np.int32)
    spots[..., 0] = np.arange(height).reshape(-1, 1, merge, 1)
    spots[..., 1] = np.arange(width).reshape(1, -1, 1, merge)
    spots[..., 2:] = height, width
    return spots.reshape(-1, 4)


def turns(rotary: Any, spots: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine of each patch's row and column, side by side, from vLLM's rotary table."""
    flat = spots[:, :2].reshape(-1)
    cos, sin = (
        table.index_select(0, flat).view(spots.shape[0], -1) for table in rotary.get_cos_sin(MAX_POSITIONS)
    )
    return cos, sin


def positions(table: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The table of a square's learned positions, read between its rows and columns; in float32."""
    side = int(table.shape[0] ** 0.5)
    rows, columns = rows.clamp(0, side - 1), columns.clamp(0, side - 1)
    found = 0.0
    for row, row_share in _neighbours(rows, side):
        for column, column_share in _neighbours(columns, side):
            found = found + table[row * side + column] * (row_share * column_share)[:, None]
    return found


def _neighbours(values: Tensor, side: int) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    low = values.long()
    share = values - low
    return (low, 1 - share), ((low + 1).clamp(max=side - 1), share)


def to_card(values: Tensor, device: Any) -> Tensor:
    return values.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else values.to(device)
