"""Changes pictures of lines a little on the GPU, so that one drawing can be learnt from more than once."""

from __future__ import annotations

import torch
from torch.nn.functional import max_pool2d, pad

SHIFT = 2  # rows up or down, at most
GAMMA = 0.4  # of its logarithm, either way
FAINTEST = 0.75
NOISE = 0.06  # standard deviation, at most
HEAVIER = 0.4  # of the way to strokes that are a pixel thicker or thinner on each side, at most


def varied(pictures: torch.Tensor) -> torch.Tensor:
    """Pictures (lines, 1, rows, columns; ink 1, paper 0) with other strokes, ink, noise and height."""
    count = len(pictures)

    def dice(low: float, high: float) -> torch.Tensor:
        return torch.rand(count, 1, 1, 1, device=pictures.device) * (high - low) + low

    thicker = max_pool2d(pictures, 3, 1, 1)
    thinner = -max_pool2d(-pictures, 3, 1, 1)
    weight = dice(-HEAVIER, HEAVIER) * (dice(0, 1) < 0.5)
    made = (
        pictures + weight.clamp(min=0) * (thicker - pictures) + (-weight).clamp(min=0) * (thinner - pictures)
    )
    made = made.clamp(0, 1) ** torch.exp(dice(-GAMMA, GAMMA)) * dice(FAINTEST, 1)
    made = made + torch.randn_like(made) * dice(0, NOISE) * (dice(0, 1) < 0.5)
    rows = int(torch.randint(-SHIFT, SHIFT + 1, ()))
    return pad(made, (0, 0, rows, -rows)).clamp(0, 1)
