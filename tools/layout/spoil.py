"""Turns clean pages into scans and photographs, on the device that trains."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional


def _uniform(count: int, low: float, high: float, device: torch.device) -> Tensor:
    return torch.rand(count, device=device) * (high - low) + low


def _some(count: int, share: float, device: torch.device) -> Tensor:
    return torch.rand(count, device=device) < share


def shapes(count: int, device: torch.device) -> Tensor:
    """Matrices (n, 3, 3) from a picture's places (-1..1) to the page's: size, cut, skew, slant, perspective."""  # noqa: E501
    near = _some(count, 0.22, device)
    zoom = torch.where(near, _uniform(count, 1.15, 2.0, device), _uniform(count, 0.72, 1.08, device))
    wide, high = (
        1 / (zoom * _uniform(count, 0.9, 1.1, device)),
        1 / (zoom * _uniform(count, 0.9, 1.1, device)),
    )
    angle = _uniform(count, -3.0, 3.0, device) * _some(count, 0.35, device) * math.pi / 180
    free_x, free_y = (1 - wide).abs(), (1 - high).abs()
    x, y = _uniform(count, -1, 1, device) * free_x, _uniform(count, -1, 1, device) * free_y
    made = torch.zeros(count, 3, 3, device=device)
    made[:, 0, 0], made[:, 0, 1], made[:, 0, 2] = wide * angle.cos(), -high * angle.sin(), x
    made[:, 1, 0], made[:, 1, 1], made[:, 1, 2] = wide * angle.sin(), high * angle.cos(), y
    slanted = _some(count, 0.15, device)
    made[:, 2, 0] = _uniform(count, -0.06, 0.06, device) * slanted
    made[:, 2, 1] = _uniform(count, -0.06, 0.06, device) * slanted
    made[:, 2, 2] = 1
    return made


def seen_through(pages: Tensor, shape: Tensor, size: tuple[int, int]) -> Tensor:
    """Pages (n, 3, h, w) through matrices; around them lies a colour by lot, mostly white."""
    count, device = len(pages), pages.device
    y = (torch.arange(size[0], device=device) + 0.5) / size[0] * 2 - 1
    x = (torch.arange(size[1], device=device) + 0.5) / size[1] * 2 - 1
    grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).reshape(1, -1, 2)
    grid = torch.cat([grid, torch.ones_like(grid[..., :1])], -1) @ shape.transpose(1, 2)
    grid = (grid[..., :2] / grid[..., 2:]).reshape(count, *size, 2)
    # the edge goes on outside for most; the others lie on something
    fill = torch.where(_some(count, 0.8, device), 1.0, torch.rand(count, device=device))[:, None, None, None]
    return functional.grid_sample(pages - fill, grid, align_corners=False) + fill


def moved(boxes: Tensor, shape: Tensor) -> tuple[Tensor, Tensor]:
    """Boxes (n, m, 4) of 0..1 where the matrices show them, and the share of each that is still in view."""
    back = torch.linalg.inv(shape)
    x0, y0, x1, y1 = (boxes * 2 - 1).unbind(-1)
    corners = torch.stack(
        [torch.stack([x, y, torch.ones_like(x)], -1) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))], 2
    )
    placed = corners @ back[:, None].transpose(2, 3)
    placed = placed[..., :2] / placed[..., 2:]
    placed = (placed + 1) / 2
    # a turned box fills its hull poorly: half way between the hull and the mean of its sides
    outer = torch.cat([placed.amin(2), placed.amax(2)], -1)
    xs, ys = placed[..., 0].sort(2).values, placed[..., 1].sort(2).values
    inner = torch.stack(
        [xs[..., :2].mean(2), ys[..., :2].mean(2), xs[..., 2:].mean(2), ys[..., 2:].mean(2)], -1
    )
    whole = (outer + inner) / 2
    cut = whole.clamp(0, 1)
    area = lambda b: (b[..., 2:] - b[..., :2]).clamp(min=0).prod(-1)  # noqa: E731
    return cut, area(cut) / area(whole).clamp(min=1e-9)


def _cosines(device: torch.device) -> Tensor:
    k, n = torch.arange(8, device=device)[:, None], torch.arange(8, device=device)[None]
    made = torch.cos((2 * n + 1) * k * math.pi / 16) * 0.5
    made[0] *= 2**-0.5
    return made


def blocky(x: Tensor, step: Tensor) -> Tensor:
    """What JPEG does to blocks of eight: waves rounded to steps, the short ones to coarser."""
    count, channels, height, width = x.shape
    cosines = _cosines(x.device).to(x.dtype)
    waves = torch.arange(8, device=x.device)
    coarse = (1 + (waves[:, None] + waves[None]) * 0.6).to(x.dtype) * step.to(x.dtype)[
        :, None, None, None, None, None
    ]
    parts = x.reshape(count, channels, height // 8, 8, width // 8, 8).transpose(3, 4)
    told = cosines @ parts @ cosines.T
    told = (told / coarse).round() * coarse
    return (cosines.T @ told @ cosines).transpose(3, 4).reshape(x.shape)


def _blurred(x: Tensor, sigma: float, along: str = "both") -> Tensor:
    reach = max(1, math.ceil(2.5 * sigma))
    at = torch.arange(-reach, reach + 1, device=x.device, dtype=torch.float32)
    kernel = torch.exp(-(at**2) / (2 * sigma**2))
    kernel = (kernel / kernel.sum()).to(x.dtype).expand(x.shape[1], 1, -1)
    x = functional.pad(x, (reach, reach, reach, reach), mode="replicate")
    x = functional.conv2d(x, kernel[..., None], groups=x.shape[1])
    return functional.conv2d(x, kernel[:, :, None], groups=x.shape[1])


def light(x: Tensor) -> Tensor:
    """Paper, ink, shade, focus, grain, compression, by lot. Pictures of 0..1 in and out."""
    count, device = len(x), x.device
    col = lambda t: t.to(x.dtype)[:, None, None, None]  # noqa: E731
    grey = x.mean(1, keepdim=True)
    x = torch.where(col(_some(count, 0.55, device)) > 0, grey.expand_as(x), x)
    x = torch.where(col(_some(count, 0.04, device)) > 0, 1 - x, x)
    few = _some(count, 0.35, device).nonzero()[:, 0]
    if len(few):  # coarse: less than the resolution the network sees
        share = float(torch.rand(1)) * 0.5 + 0.4
        small = functional.interpolate(x[few], scale_factor=share, mode="bilinear", antialias=True)
        x[few] = functional.interpolate(small, size=x.shape[2:], mode="bilinear")
    few = _some(count, 0.3, device).nonzero()[:, 0]
    if len(few):
        x[few] = _blurred(x[few], float(torch.rand(1)) * 1.1 + 0.4)
    few = _some(count, 0.12, device).nonzero()[:, 0]
    if len(few):  # heavier or thinner ink
        thick = (
            -functional.max_pool2d(-x[few], 3, 1, 1)
            if torch.rand(1) < 0.65
            else functional.max_pool2d(x[few], 3, 1, 1)
        )
        x[few] = x[few] * 0.35 + thick * 0.65
    paper = torch.ones(count, 3, device=device) - torch.rand(count, 3, device=device) * torch.tensor(
        [0.12, 0.16, 0.3], device=device
    )
    paper = torch.where(_some(count, 0.4, device)[:, None], paper, torch.ones_like(paper)) * _uniform(
        count, 0.75, 1.0, device
    )[:, None].where(_some(count, 0.4, device)[:, None], torch.tensor(1.0, device=device))
    ink = _uniform(count, 0.0, 0.45, device) * _some(count, 0.5, device)
    x = x * (paper.to(x.dtype)[:, :, None, None] - col(ink)) + col(ink)
    few = _some(count, 0.35, device).nonzero()[:, 0]
    if len(few):
        shade = torch.rand(len(few), 1, 4, 3, device=device, dtype=torch.float32) * float(torch.rand(1)) * 0.5
        x[few] = x[few] * (
            1 - functional.interpolate(shade, size=x.shape[2:], mode="bicubic").clamp(0, 0.7)
        ).to(x.dtype)
    few = _some(count, 0.25, device).nonzero()[:, 0]
    if len(few):  # stains of the paper
        stain = (
            torch.randn(len(few), 1, x.shape[2] // 16, x.shape[3] // 16, device=device)
            * 0.04
            * float(torch.rand(1))
        )
        x[few] = x[few] + functional.interpolate(stain, size=x.shape[2:], mode="bilinear").to(x.dtype)
    grain = _uniform(count, 0, 0.09, device) * _some(count, 0.45, device)
    x = x + torch.randn_like(x[:, :1]) * col(grain)
    few = _some(count, 0.08, device).nonzero()[:, 0]
    if len(few):  # black and white
        x[few] = ((x[few].mean(1, keepdim=True) - 0.62) * 12 + 0.5).clamp(0, 1).expand(-1, 3, -1, -1)
    x = (x.clamp(0, 1) + 1e-4) ** col(torch.exp(torch.randn(count, device=device) * 0.2))
    few = _some(count, 0.25, device).nonzero()[:, 0]
    if len(few):
        x[few] = blocky(x[few], _uniform(len(few), 0.01, 0.12, device))
    return x.clamp(0, 1)
