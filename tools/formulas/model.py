"""The network: an encoder of a picture, a transformer decoder that writes tokens.

The picture's height shrinks 16 times and its width 8 times: letters stand side by side more often than above
each other. Matrix products hold nearly all weights, so int8 products make the file a quarter of its size.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from vocabulary import PAD_ID, TOKENS

INK_SCALE = 4.0  # pictures are mostly paper, 0; so scaled they vary by about 1
SPOT_SHARE = 0.02  # of the loss for which tokens a picture holds, summed over tokens
PATCH = 4  # pixels of a side that become one place at first
PLACE_SCALE = 0.5  # what is seen outweighs where it is seen


@dataclass(frozen=True)
class Sizes:
    """How large the network is. The default makes 12 M weights."""

    widths: tuple[int, int, int] = (64, 128, 256)
    depths: tuple[int, int, int] = (2, 4, 8)
    heads: int = 8
    encoder_layers: int = 2
    decoder_layers: int = 4
    tokens: int = len(TOKENS)
    max_steps: int = 320

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


TINY = Sizes(widths=(16, 32, 64), depths=(1, 1, 2), heads=4, encoder_layers=1, decoder_layers=2)


class Block(nn.Module):
    """Looks at the eight neighbours of each place, then mixes channels.

    The neighbours are laid side by side and multiplied at once: a product is quick everywhere and becomes
    int8, where a convolution of single channels is slow to learn on a GPU (one step a second).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.around, self.mix = nn.Linear(9 * width, width), nn.Linear(width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        seen = self.norm(x)
        if seen.is_cuda and torch.is_autocast_enabled("cuda"):
            seen = seen.to(torch.get_autocast_dtype("cuda"))  # before it becomes nine times as large
        return x + self.scale * self.mix(F.gelu(self.around(neighbours(seen))))


def neighbours(x: Tensor) -> Tensor:
    """Each place (batch, height, width, channels) with its eight neighbours: nine times the channels."""
    height, width = x.shape[1], x.shape[2]
    framed = F.pad(x, (0, 0, 1, 1, 1, 1))
    return torch.cat(
        [framed[:, row : row + height, column : column + width] for row in range(3) for column in range(3)],
        dim=-1,
    )


def packed(x: Tensor, rows: int, columns: int) -> Tensor:
    """Squares of rows x columns places become one place with all their channels."""
    batch, height, width, channels = x.shape
    split = x.reshape(batch, height // rows, rows, width // columns, columns, channels)
    return split.permute(0, 1, 3, 2, 4, 5).reshape(
        batch, height // rows, width // columns, rows * columns * channels
    )


class Shrink(nn.Module):
    """Makes the picture smaller by `by` (rows, columns) and its channels more."""

    def __init__(self, before: int, after: int, by: tuple[int, int]) -> None:
        super().__init__()
        self.by = by
        self.norm = nn.LayerNorm(before)
        self.smaller = nn.Linear(before * by[0] * by[1], after)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.smaller(packed(self.norm(x), *self.by))
        return made


class Attention(nn.Module):
    """Attention with keys and values from elsewhere (`memory`) or from the steps so far."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key_value = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = self.key_value(memory).chunk(2, dim=-1)
        return self.split(keys), self.split(values)

    def attend(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        found = F.scaled_dot_product_attention(
            self.split(self.query(x)), keys, values, attn_mask=mask, is_causal=causal
        )
        made: Tensor = self.out(found.transpose(1, 2).flatten(2))
        return made


class Feed(nn.Sequential):
    def __init__(self, width: int) -> None:
        super().__init__(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.feed_norm, self.feed = nn.LayerNorm(width), Feed(width)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.norm(x)
        x = x + self.attention.attend(seen, *self.attention.keys_values(seen))
        made: Tensor = x + self.feed(self.feed_norm(x))
        return made


class DecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm, self.own = nn.LayerNorm(width), Attention(width, heads)
        self.look_norm, self.look = nn.LayerNorm(width), Attention(width, heads)
        self.feed_norm, self.feed = nn.LayerNorm(width), Feed(width)

    def forward(
        self, x: Tensor, looked: tuple[Tensor, Tensor], past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """`past` holds keys and values of earlier steps; without it, x is a whole sequence."""
        seen = self.norm(x)
        keys, values = self.own.keys_values(seen)
        if past is not None:
            keys, values = torch.cat([past[0], keys], dim=2), torch.cat([past[1], values], dim=2)
        x = x + self.own.attend(seen, keys, values, causal=past is None)
        x = x + self.look.attend(self.look_norm(x), *looked)
        return x + self.feed(self.feed_norm(x)), (keys, values)


def waves(count: int, width: int, device: torch.device) -> Tensor:
    """Sine and cosine waves that tell positions apart: count x width."""
    rates = torch.exp(
        torch.arange(0, width, 2, device=device, dtype=torch.float32) * (-math.log(10_000.0) / width)
    )
    angles = torch.arange(count, device=device, dtype=torch.float32)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class FormulaNetwork(nn.Module):
    """The whole network."""

    def __init__(self, sizes: Sizes | None = None) -> None:
        super().__init__()
        self.sizes = sizes = sizes or Sizes()
        first, second, width = sizes.widths
        self.stem = nn.Sequential(nn.Linear(PATCH * PATCH, first), nn.LayerNorm(first))
        self.stages = nn.Sequential(
            *(Block(first) for _ in range(sizes.depths[0])),
            Shrink(first, second, (2, 2)),
            *(Block(second) for _ in range(sizes.depths[1])),
            Shrink(second, width, (2, 1)),
            *(Block(width) for _ in range(sizes.depths[2])),
            nn.LayerNorm(width),
        )
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(width, sizes.heads) for _ in range(sizes.encoder_layers)
        )
        self.encoder_norm = nn.LayerNorm(width)
        self.embedding = nn.Embedding(sizes.tokens, width)
        self.positions = nn.Parameter(torch.randn(sizes.max_steps, width) * 0.02)
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(width, sizes.heads) for _ in range(sizes.decoder_layers)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, sizes.tokens)
        self.spot = nn.Linear(width, sizes.tokens)  # in training only
        nn.init.normal_(self.embedding.weight, std=0.02)

    def encode(self, pictures: Tensor) -> Tensor:
        """Pictures (batch, 1, height, width) to memory (batch, places, width)."""
        x = self.stages(self.stem(packed(pictures.permute(0, 2, 3, 1) * INK_SCALE, PATCH, PATCH)))
        rows, columns, width = x.shape[1], x.shape[2], x.shape[3]
        down, across = waves(rows, width // 2, x.device), waves(columns, width // 2, x.device)
        place = torch.cat([down[:, None].expand(-1, columns, -1), across[None].expand(rows, -1, -1)], dim=-1)
        x = (x + PLACE_SCALE * place.to(x.dtype)).flatten(1, 2)
        for layer in self.encoder_layers:
            x = layer(x)
        made: Tensor = self.encoder_norm(x)
        return made

    def looked(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """What each decoder layer sees of the memory."""
        return [layer.look.keys_values(memory) for layer in self.decoder_layers]

    def step(
        self,
        tokens: Tensor,
        at: Tensor,
        looked: list[tuple[Tensor, Tensor]],
        past: list[tuple[Tensor, Tensor]],
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """One token for each picture at step `at`; returns the next one's odds and what to remember."""
        x = self.embedding(tokens) + self.positions[at]
        kept = []
        for layer, seen, before in zip(self.decoder_layers, looked, past, strict=True):
            x, now = layer(x, seen, before)
            kept.append(now)
        return self.head(self.norm(x)), kept

    def forward(self, pictures: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """In training: odds of the next token after each of `tokens`, and of each token to be there."""
        memory = self.encode(pictures)
        looked = self.looked(memory)
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        for layer, seen in zip(self.decoder_layers, looked, strict=True):
            x, _ = layer(x, seen, None)
        return self.head(self.norm(x)), self.spot(memory).amax(dim=1)

    @torch.no_grad()
    def read(self, pictures: Tensor, start: int, end: int, max_steps: int | None = None) -> list[list[int]]:
        """Greedy reading of a batch, for checks while training."""
        looked = self.looked(self.encode(pictures))
        count = len(pictures)
        empty = looked[0][0].new_zeros(count, self.sizes.heads, 0, self.sizes.widths[2] // self.sizes.heads)
        past = [(empty, empty) for _ in self.decoder_layers]
        tokens = torch.full((count, 1), start, device=pictures.device)
        found, open_ = [], torch.ones(count, dtype=torch.bool, device=pictures.device)
        for at in range(max_steps or self.sizes.max_steps):
            odds, past = self.step(tokens, torch.tensor([at], device=pictures.device), looked, past)
            tokens = odds[:, -1:].argmax(-1)
            found.append(torch.where(open_, tokens[:, 0], end))
            open_ &= tokens[:, 0] != end
            if not bool(open_.any()):
                break
        return [row[: row.index(end)] if end in row else row for row in torch.stack(found, 1).tolist()]


def loss_of(odds: Tensor, spotted: Tensor, wanted: Tensor, smoothing: float = 0.05) -> tuple[Tensor, Tensor]:
    """The loss to learn by, and the part of it that is about what was written.

    A decoder first learns to guess without looking, and may stay there long. That the encoder must say which
    tokens the picture holds makes it worth looking at.
    """
    written = F.cross_entropy(
        odds.flatten(0, 1).float(), wanted.flatten(), ignore_index=PAD_ID, label_smoothing=smoothing
    )
    held = torch.zeros_like(spotted, dtype=torch.float32).scatter_(1, wanted, 1.0)
    seen = F.binary_cross_entropy_with_logits(spotted.float(), held, reduction="none").sum(dim=1).mean()
    return written + SPOT_SHARE * seen, written.detach()
