"""The student: finds the blocks of a page in one pass, and which way up the page lies.

Plain convolutions with norms that fold into them, two layers of attention over the coarsest map (15 x 11
places: each place knows the whole page), and one head for each of the strides 8, 16 and 32.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

STRIDES = (8, 16, 32)
CLASSES = 25
WIDTHS = (24, 48, 96, 168, 264)
NECK = (96, 112, 128)
FARTHEST = 6.0  # of the logarithm of a side over its stride
PRIOR = -4.6  # logit of one cell in a hundred


def conv(inside: int, outside: int, kernel: int = 1, stride: int = 1, relu: bool = True) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outside, eps=1e-3, momentum=0.03),
    ]
    return nn.Sequential(*layers, nn.ReLU(inplace=True)) if relu else nn.Sequential(*layers)


class Block(nn.Module):
    """A bottleneck: half the width, three by three, and back, added to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        half = width // 2
        self.inner = nn.Sequential(conv(width, half), conv(half, half, 3), conv(half, width, relu=False))

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.inner(x))


class Look(nn.Module):
    """A layer in which every place looks at every other."""

    def __init__(self, width: int, heads: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, count, width = x.shape
        q, k, v = (
            self.qkv(self.norm1(x))
            .reshape(batch, count, 3, self.heads, width // self.heads)
            .permute(2, 0, 3, 1, 4)
        )
        seen = functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, count, width))
        return x + self.mlp(self.norm2(x))


def places(height: int, width: int, channels: int, device: torch.device) -> Tensor:
    """Sines of each cell's place on the page from 0 to 1, (cells, channels)."""
    rates = torch.pi * 2 ** torch.arange(channels // 4, device=device).mul(6 * 4 / channels)
    y = ((torch.arange(height, device=device) + 0.5) / height)[:, None] * rates
    x = ((torch.arange(width, device=device) + 0.5) / width)[:, None] * rates
    rows = torch.cat([y.sin(), y.cos()], 1)[:, None].expand(-1, width, -1)
    columns = torch.cat([x.sin(), x.cos()], 1)[None].expand(height, -1, -1)
    return torch.cat([rows, columns], 2).reshape(height * width, channels)


class Student(nn.Module):
    """Pictures (n, 3, h, w), 0..1 less a half, sides multiples of 64.

    Answers logits (n, cells, classes), sides in pixels (n, cells, 4: left, up, right, down) of all strides'
    cells, and logits of the four ways up (n, 4).
    """

    def __init__(self, classes: int = CLASSES) -> None:
        super().__init__()
        a, b, c, d, e = WIDTHS
        self.stem = nn.Sequential(conv(3, a, 3, 2), conv(a, b, 3, 2))
        self.eighth = nn.Sequential(conv(b, c, 3, 2), Block(c), Block(c))
        self.sixteenth = nn.Sequential(conv(c, d, 3, 2), *(Block(d) for _ in range(4)))
        self.thirtysecond = nn.Sequential(conv(d, e, 3, 2), *(Block(e) for _ in range(3)))
        self.coarse = conv(e, e, 3, 2)
        self.place = nn.Linear(e, e)
        self.looks = nn.ModuleList(Look(e) for _ in range(2))
        self.way = nn.Linear(e, 4)
        n8, n16, n32 = NECK
        self.back = conv(e, e, relu=False)
        self.top = nn.Sequential(conv(e, n32), Block(n32))
        self.mid1, self.mid2 = conv(d, n16, relu=False), conv(n32, n16, relu=False)
        self.mid = Block(n16)
        self.low1, self.low2 = conv(c, n8, relu=False), conv(n16, n8, relu=False)
        self.low = Block(n8)
        self.up16, self.up32 = conv(n8, n16, 3, 2, relu=False), conv(n16, n32, 3, 2, relu=False)
        self.out16, self.out32 = Block(n16), Block(n32)
        self.kinds = nn.ModuleList(nn.Sequential(Block(n), nn.Conv2d(n, classes, 1)) for n in NECK)
        self.sides = nn.ModuleList(nn.Sequential(Block(n), nn.Conv2d(n, 4, 1)) for n in NECK)
        for kind, side in zip(self.kinds, self.sides, strict=True):
            nn.init.constant_(kind[-1].bias, PRIOR)
            nn.init.constant_(side[-1].bias, 1.0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        c8 = self.eighth(self.stem(x))
        c16 = self.sixteenth(c8)
        c32 = self.thirtysecond(c16)
        c64 = self.coarse(c32)
        height, width = c64.shape[-2:]
        seen = c64.flatten(2).transpose(1, 2)
        seen = seen + self.place(places(height, width, seen.shape[-1], x.device).to(seen.dtype))
        for look in self.looks:
            seen = look(seen)
        way = self.way(seen.mean(1))
        wide = self.back(seen.transpose(1, 2).unflatten(2, (height, width)))
        p32 = self.top(functional.relu(c32 + functional.interpolate(wide, scale_factor=2.0)))
        p16 = self.mid(
            functional.relu(self.mid1(c16) + functional.interpolate(self.mid2(p32), scale_factor=2.0))
        )
        p8 = self.low(
            functional.relu(self.low1(c8) + functional.interpolate(self.low2(p16), scale_factor=2.0))
        )
        n16 = self.out16(functional.relu(p16 + self.up16(p8)))
        n32 = self.out32(functional.relu(p32 + self.up32(n16)))
        kinds, sides = [], []
        for level, (kind, side, stride) in enumerate(zip(self.kinds, self.sides, STRIDES, strict=True)):
            map_ = (p8, n16, n32)[level]
            kinds.append(kind(map_).flatten(2))
            sides.append(side(map_).float().clamp(-4, FARTHEST).exp().mul(stride).flatten(2))
        return torch.cat(kinds, 2).transpose(1, 2), torch.cat(sides, 2).transpose(1, 2), way
