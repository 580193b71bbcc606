"""Which cells answer for which box, and what they pay (task-aligned assignment, quality focal loss, GIoU)."""

from __future__ import annotations

import torch
from network import STRIDES
from torch import Tensor
from torch.nn import functional

CHOSEN = 9  # cells of a box at most
SHARPNESS = 4.0  # of the overlap against the score


def centres(height: int, width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Centres of all cells in pixels (cells, 2), and their strides (cells,)."""
    points, strides = [], []
    for stride in STRIDES:
        y = (torch.arange(height // stride, device=device) + 0.5) * stride
        x = (torch.arange(width // stride, device=device) + 0.5) * stride
        grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).reshape(-1, 2)
        points.append(grid)
        strides.append(torch.full((len(grid),), float(stride), device=device))
    return torch.cat(points), torch.cat(strides)


def overlap(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """IoU and GIoU of boxes that broadcast."""
    sides = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0)
    hull = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    shared = sides[..., 0] * sides[..., 1]
    both = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - shared
    iou = shared / both.clamp(min=1e-6)
    area = hull[..., 0] * hull[..., 1]
    return iou, iou - (area - both) / area.clamp(min=1e-6)


@torch.no_grad()
def assign(
    scores: Tensor, found: Tensor, points: Tensor, strides: Tensor, boxes: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor]:
    """For each cell the number of its box (or -1) and how well it does, (n, cells) both."""
    there = labels >= 0
    # a line thinner than a cell still holds the nearest centre of the finest map
    middle, half = (boxes[..., :2] + boxes[..., 2:]) / 2, (boxes[..., 2:] - boxes[..., :2]) / 2
    reach = torch.maximum(
        half[:, :, None], strides[None, None, :, None] * 0.51 * (strides == STRIDES[0])[None, None, :, None]
    )
    inside = ((points - middle[:, :, None]).abs() < reach).all(-1) & there[:, :, None]
    iou, _ = overlap(boxes[:, :, None], found[:, None])
    of_label = scores.transpose(1, 2).gather(
        1, labels.clamp(min=0)[..., None].expand(-1, -1, scores.shape[1])
    )
    quality = of_label.clamp(min=1e-4).sqrt() * iou.clamp(min=1e-3) ** SHARPNESS * inside
    best = quality.topk(CHOSEN, dim=2)
    chosen = torch.zeros_like(inside).scatter_(2, best.indices, best.values > 0)
    quality = quality * chosen
    value, owner = quality.max(1)
    # of each box the best cell is to score what it overlaps, the others in proportion
    won = (owner[:, None] == torch.arange(boxes.shape[1], device=boxes.device)[None, :, None]) & (quality > 0)
    highest = (quality * won).amax(2, keepdim=True)
    most = (iou * won).amax(2, keepdim=True)
    target = (quality / highest.clamp(min=1e-9) * most * won).sum(1)
    return torch.where(value > 0, owner, -1), target


def detection_loss(
    logits: Tensor, sides: Tensor, size: tuple[int, int], boxes: Tensor, labels: Tensor, doubtful: Tensor
) -> dict[str, Tensor]:
    """Losses of a batch. `boxes` are pixels, `labels` -1 where there is none, `doubtful` boxes that cost nothing."""  # noqa: E501
    points, strides = centres(*size, logits.device)
    logits, sides = logits.float(), sides.float()
    found = torch.cat([points - sides[..., :2], points + sides[..., 2:]], -1)
    owner, target = assign(logits.detach().sigmoid(), found.detach(), points, strides, boxes, labels)
    positive = owner >= 0
    at = owner.clamp(min=0)
    wanted = functional.one_hot(labels.gather(1, at).clamp(min=0), logits.shape[-1]) * target[..., None]
    within = (
        ((points[:, None] > doubtful[:, None, :, :2]) & (points[:, None] < doubtful[:, None, :, 2:]))
        .all(-1)
        .any(-1)
    )
    counts = (~within | positive).float()[..., None]
    chance = logits.sigmoid()
    weight = torch.where(wanted > 0, wanted, 0.75 * chance.detach() ** 2)
    kinds = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * weight * counts
    total = target.sum().clamp(min=1.0)
    truth = boxes.gather(1, at[..., None].expand(-1, -1, 4))[positive]
    mine, heavy = found[positive], target[positive]
    _, giou = overlap(mine, truth)
    real = torch.cat(
        [
            points.expand_as(found[..., :2])[positive] - truth[:, :2],
            truth[:, 2:] - points.expand_as(found[..., :2])[positive],
        ],
        -1,
    )
    scale = (truth[:, 2:] - truth[:, :2]).repeat(1, 2).clamp(min=8)
    far = functional.smooth_l1_loss(sides[positive] / scale, real / scale, reduction="none", beta=0.02).sum(
        -1
    )
    return {
        "kinds": kinds.sum() / total, "giou": ((1 - giou) * heavy).sum() / total, "sides": (far * heavy).sum() / total,  # noqa: E501
    }  # fmt: skip
