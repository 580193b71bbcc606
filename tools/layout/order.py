"""The order network: from boxes and labels to the chance that one is read before another."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, PAIR = 80, 4, 3, 24


def pairs(boxes: Tensor) -> Tensor:
    """How each two boxes lie to each other, (n, m, m, 10)."""
    first, second = boxes[:, :, None], boxes[:, None]
    low, high = torch.maximum(first[..., :2], second[..., :2]), torch.minimum(first[..., 2:], second[..., 2:])
    shared = high - low
    smaller = torch.minimum(first[..., 2:] - first[..., :2], second[..., 2:] - second[..., :2])
    return torch.cat(
        [second - first, shared, (shared / (smaller + 1e-3)).clamp(-2, 2), second[..., :2] - first[..., 2:]],
        -1,
    )


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, count, _ = x.shape
        q, k, v = (
            self.qkv(self.norm1(x)).reshape(batch, count, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        )
        weights = (q @ k.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + bias).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, count, WIDTH))
        return x + self.mlp(self.norm2(x))


class Order(nn.Module):
    """Boxes (n, m, 4) of 0..1 and labels (n, m), -1 for none; answers logits that i is read before j, (n, m, m)."""  # noqa: E501

    def __init__(self, classes: int = 25) -> None:
        super().__init__()
        self.label = nn.Embedding(classes + 1, WIDTH)
        self.box = nn.Sequential(nn.Linear(6, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.pair = nn.Sequential(nn.Linear(10, PAIR), nn.ReLU(), nn.Linear(PAIR, HEADS * LAYERS + PAIR))
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.ends = nn.Linear(WIDTH, 2 * PAIR)
        self.last = nn.Sequential(nn.ReLU(), nn.Linear(PAIR, 1))

    def forward(self, boxes: Tensor, labels: Tensor) -> Tensor:
        sizes = boxes[..., 2:] - boxes[..., :2]
        x = self.box(torch.cat([boxes, sizes], -1) * 4 - 2) + self.label(labels + 1)
        near = self.pair(pairs(boxes) * 4)
        nothing = (labels < 0)[:, None, None].to(x.dtype) * -1e4
        biases = near[..., : HEADS * LAYERS].permute(0, 3, 1, 2)
        for number, layer in enumerate(self.layers):
            x = layer(x, biases[:, number * HEADS : (number + 1) * HEADS] + nothing)
        before, after = self.ends(self.norm(x)).chunk(2, -1)
        one = self.last(near[..., HEADS * LAYERS :] + before[:, :, None] + after[:, None])[..., 0]
        return one - one.transpose(1, 2)


def order_loss(logits: Tensor, labels: Tensor, ranks: Tensor) -> Tensor:
    there = labels >= 0
    both = there[:, :, None] & there[:, None] & (ranks[:, :, None] != ranks[:, None])
    truth = (ranks[:, :, None] < ranks[:, None]).float()
    losses = functional.binary_cross_entropy_with_logits(logits.float(), truth, reduction="none")
    # a page counts by the root of its pairs: newspapers should not be all that counts
    pairs_of = both.sum((1, 2)).clamp(min=1).float()
    return ((losses * both).sum((1, 2)) / pairs_of.sqrt()).sum() / pairs_of.sqrt().sum()


@torch.no_grad()
def disordered(logits: Tensor, labels: Tensor, ranks: Tensor) -> tuple[int, int]:
    """Pairs in the wrong order when boxes are sorted by their votes, and pairs in all."""
    there = labels >= 0
    votes = (logits.sigmoid() * there[:, None]).sum(2)
    both = there[:, :, None] & there[:, None] & (ranks[:, :, None] < ranks[:, None])
    return int((both & (votes[:, :, None] < votes[:, None])).sum()), int(both.sum())
