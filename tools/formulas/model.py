"""The network: an encoder of a picture, a transformer decoder that writes tokens.

The picture's height shrinks 16 times and its width 8 times: letters stand side by side more often than above
each other. Matrix products hold nearly all weights, so int8 products make the file a quarter of its size.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from vocabulary import PAD_ID, TOKENS

INK_SCALE = 4.0  # pictures are mostly paper, 0; so scaled they vary by about 1
SPOT_SHARE = 1.0  # of the loss for which token is drawn at a place
LOOK_SHARE = 0.3  # of the loss for where the decoder looks
PATCH = 4  # pixels of a side that become one place at first
CELL = (16, 8)  # pixels of one place of the memory, down and across
NO_CELL = -1  # where no place is known
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

    def forward(self, x: Tensor) -> Tensor:
        seen = self.norm(x)
        if seen.is_cuda and torch.is_autocast_enabled("cuda"):
            seen = seen.to(torch.get_autocast_dtype("cuda"))  # before it becomes nine times as large
        made: Tensor = x + self.mix(F.gelu(self.around(neighbours(seen))))
        return made


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

    def first_head(self, x: Tensor, keys: Tensor) -> Tensor:
        """How strongly the first head looks at each key, not yet as shares: batch x steps x keys."""
        asked = self.split(self.query(x))[:, 0]
        return asked @ keys[:, 0].transpose(1, 2) / math.sqrt(asked.shape[-1])


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

    def taught(self, x: Tensor, looked: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """A whole sequence in training, and where the first head looks at each step."""
        seen = self.norm(x)
        x = x + self.own.attend(seen, *self.own.keys_values(seen), causal=True)
        asking = self.look_norm(x)
        where = self.look.first_head(asking, looked[0])
        x = x + self.look.attend(asking, *looked)
        return x + self.feed(self.feed_norm(x)), where


def waves(count: int, width: int, device: torch.device) -> Tensor:
    """Sine and cosine waves that tell positions apart: count x width."""
    rates = torch.exp(
        torch.arange(0, width, 2, device=device, dtype=torch.float32) * (-math.log(10_000.0) / width)
    )
    angles = torch.arange(count, device=device, dtype=torch.float32)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class Said(NamedTuple):
    """What the network says in training."""

    odds: Tensor  # of the next token after each: batch x steps x tokens
    spotted: Tensor | None  # odds of the token that is drawn at the place asked about, by the encoder alone
    looks: list[Tensor]  # of each guided layer: how strongly it looks at each place, batch x steps x places


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
        nn.init.normal_(self.embedding.weight, std=0.5)  # no smaller than what the layers add to it

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

    def forward(self, pictures: Tensor, tokens: Tensor, cells: Tensor | None = None) -> Said:
        """In training: what comes after each of `tokens`. `cells` are the places where that is seen."""
        memory = self.encode(pictures)
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        looks = []
        for number, (layer, seen) in enumerate(zip(self.decoder_layers, self.looked(memory), strict=True)):
            if number < len(self.decoder_layers) // 2:  # those before find out where the writing stands
                x, _ = layer(x, seen, None)
            else:
                x, where = layer.taught(x, seen)
                looks.append(where)
        spotted = None
        if cells is not None:
            asked = cells.clamp(min=0)[..., None].expand(-1, -1, memory.shape[2])
            spotted = self.spot(memory.gather(1, asked))
        return Said(self.head(self.norm(x)), spotted, looks)

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


def written_loss(odds: Tensor, wanted: Tensor, smoothing: float = 0.05) -> Tensor:
    """How wrong the next tokens are."""
    return _cross_entropy(odds, wanted, PAD_ID, smoothing)


def loss_of(
    said: Said, wanted: Tensor, cells: Tensor, drawn: Tensor, smoothing: float = 0.05
) -> dict[str, Tensor]:
    """The parts of the loss to learn by, in their shares.

    A decoder that is only told what to write learns to guess without looking, and stays there. So the encoder
    also says which token is drawn at each place (`seen`), and one head of each later decoder layer learns to
    look at the place of the next token (`looked`).
    """
    assert said.spotted is not None
    spotted = _cross_entropy(said.spotted, wanted.masked_fill(~drawn, PAD_ID), PAD_ID)
    looked = torch.stack([_cross_entropy(look, cells, NO_CELL) for look in said.looks]).mean()
    return {
        "written": written_loss(said.odds, wanted, smoothing),
        "seen": SPOT_SHARE * spotted,
        "looked": LOOK_SHARE * looked,
    }


def _cross_entropy(odds: Tensor, wanted: Tensor, without: int, smoothing: float = 0.0) -> Tensor:
    """The mean over what is wanted; nothing, not "not a number", where nothing is."""
    together = F.cross_entropy(
        odds.flatten(0, 1).float(),
        wanted.flatten(),
        ignore_index=without,
        label_smoothing=smoothing,
        reduction="sum",
    )
    return together / (wanted != without).sum().clamp(min=1)
