"""The reader of Korean lines: convolutions over a picture of one line, a few mixing layers, CTC.

A picture of 32 rows becomes one row of places, eight columns each, and a place becomes two steps: a step for
four columns, so that thin letters beside each other have one each. Each step says what kind of thing it
shows (nothing, one of the signs, some syllable) and, for a syllable, its first two letters and its last one.
The three are chances of their own, so the chance of a syllable is their product and all 11,172 and the signs
sum to one: a plain CTC over all of them, at the cost of a few hundred outputs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from signs import FIRST_SYLLABLE_CLASS, NUM_FINALS, NUM_KINDS, NUM_PAIRS, SYLLABLE_KIND
from torch import Tensor, nn

NUM_INITIALS, NUM_VOWELS = 19, 21
STEP = 4  # columns of the picture for a step
NO_STEP = -1


@dataclass(frozen=True)
class LineSizes:
    """How large the network is. `blocks` of each of the three stages of convolutions."""

    height: int = 32
    widths: tuple[int, ...] = (24, 48, 96, 256)
    blocks: tuple[int, ...] = (2, 2, 3)
    mixing: int = 2
    heads: int = 4
    reach: int = 7  # steps that a mixing layer's convolution sees

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


TINY = LineSizes(widths=(12, 24, 48, 96), blocks=(1, 1, 1), mixing=1)


class Said(NamedTuple):
    """Logarithms of chances, each pictures x steps x choices."""

    kinds: Tensor
    pairs: Tensor
    finals: Tensor


class Shrink(nn.Sequential):
    """A convolution that halves rows, columns or both."""

    def __init__(self, before: int, after: int, stride: tuple[int, int]) -> None:
        super().__init__(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
        )


class Block(nn.Module):
    """A plain convolution beside what came: as quick as a separable one here, and it learns more."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.look = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, seen: Tensor) -> Tensor:
        return seen + F.relu(self.norm(self.look(seen)))


class Wide(nn.Module):
    """Each channel over 5 x 5 places, then all channels of a place: for the last stage with its many."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.look = nn.Conv2d(width, width, 5, 1, 2, groups=width, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.rise = nn.Conv2d(width, 2 * width, 1)
        self.fall = nn.Conv2d(2 * width, width, 1)

    def forward(self, seen: Tensor) -> Tensor:
        return seen + self.fall(F.relu(self.rise(self.norm(self.look(seen)))))


class Mixing(nn.Module):
    """Steps look at their neighbours, then at all steps, then each thinks for itself.

    Places are told by the convolution alone, so that a line may be of any length.
    """

    def __init__(self, width: int, heads: int, reach: int) -> None:
        super().__init__()
        self.heads = heads
        self.near = nn.Conv1d(width, width, reach, padding=reach // 2, groups=width)
        self.norm_far, self.norm_own = nn.LayerNorm(width), nn.LayerNorm(width)
        self.asked = nn.Linear(width, 3 * width)
        self.told = nn.Linear(width, width)
        self.rise, self.fall = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, steps: Tensor) -> Tensor:
        steps = steps + self.near(steps.transpose(1, 2)).transpose(1, 2)
        steps = steps + self._far(self.norm_far(steps))
        return steps + self.fall(F.relu(self.rise(self.norm_own(steps))))

    def _far(self, steps: Tensor) -> Tensor:
        count, length, width = steps.shape
        asked = self.asked(steps).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = asked.permute(2, 0, 3, 1, 4).unbind(0)
        found = F.scaled_dot_product_attention(query, key, value)
        told: Tensor = self.told(found.transpose(1, 2).reshape(count, length, width))
        return told


class Pairs(nn.Module):
    """Initials and vowels: what each adds by itself, and what the two add together.

    A rare pair is read by its parts, an often seen one by itself. `folded` gives one plain layer.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.initials, self.vowels = nn.Linear(width, NUM_INITIALS), nn.Linear(width, NUM_VOWELS, bias=False)
        self.both = nn.Linear(width, NUM_PAIRS, bias=False)
        nn.init.zeros_(self.both.weight)

    def forward(self, steps: Tensor) -> Tensor:
        parts = self.initials(steps)[..., :, None] + self.vowels(steps)[..., None, :]
        said: Tensor = parts.flatten(-2) + self.both(steps)
        return said

    def folded(self) -> nn.Linear:
        plain = nn.Linear(self.both.in_features, NUM_PAIRS)
        initials = self.initials.weight.repeat_interleave(NUM_VOWELS, 0)
        plain.weight.data = initials + self.vowels.weight.repeat(NUM_INITIALS, 1) + self.both.weight
        plain.bias.data = self.initials.bias.repeat_interleave(NUM_VOWELS, 0)
        return plain


class LineSteps(nn.Module):
    """Pictures (n x 1 x height x width, paper 0, ink up to 1) to steps, without saying what they show."""

    def __init__(self, sizes: LineSizes) -> None:
        super().__init__()
        self.sizes = sizes
        first, second, third, width = sizes.widths
        self.seeing = nn.Sequential(
            Shrink(1, first, (2, 2)),
            Shrink(first, second, (2, 2)),
            *(Block(second) for _ in range(sizes.blocks[0])),
            Shrink(second, third, (2, 1)),
            *(Block(third) for _ in range(sizes.blocks[1])),
            Shrink(third, width, (2, 2)),
            *(Wide(width) for _ in range(sizes.blocks[2])),
        )
        rows = -(-sizes.height // 16)
        self.flat = nn.Conv2d(width, width, (rows, 1))
        self.mixing = nn.ModuleList(Mixing(width, sizes.heads, sizes.reach) for _ in range(sizes.mixing))
        self.split = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width)

    def steps(self, pictures: Tensor) -> Tensor:
        steps = self.flat(self.seeing(pictures)).squeeze(2).transpose(1, 2)
        for layer in self.mixing:
            steps = layer(steps)
        made: Tensor = self.norm(self.split(steps).reshape(steps.shape[0], -1, self.sizes.widths[-1]))
        return made


class LineReaderNetwork(LineSteps):
    """Pictures to what each step shows: its kind, and the parts of a syllable."""

    def __init__(self, sizes: LineSizes = LineSizes()) -> None:
        super().__init__(sizes)
        width = sizes.widths[-1]
        self.kinds, self.finals = nn.Linear(width, NUM_KINDS), nn.Linear(width, NUM_FINALS)
        self.pairs: nn.Module = Pairs(width)

    def forward(self, pictures: Tensor) -> Said:
        steps = self.steps(pictures)
        return Said(
            *(head(steps).float().log_softmax(dim=-1) for head in (self.kinds, self.pairs, self.finals))
        )


def chances_of(said: Said, classes: Tensor) -> Tensor:
    """Logarithms of the chances of some classes (pictures x classes): pictures x steps x classes."""
    syllable = (classes - FIRST_SYLLABLE_CLASS).clamp(min=0)
    kind = classes.clamp(max=SYLLABLE_KIND)
    is_syllable = classes >= FIRST_SYLLABLE_CLASS
    of_kind = picked(said.kinds, kind)
    of_parts = picked(said.pairs, syllable // NUM_FINALS) + picked(said.finals, syllable % NUM_FINALS)
    return of_kind + of_parts * is_syllable[:, None, :]


def picked(chances: Tensor, choices: Tensor) -> Tensor:
    """The chances of some choices of each picture (pictures x choices)."""
    return chances.gather(2, choices[:, None, :].expand(-1, chances.shape[1], -1))


def whole_chances(said: Said) -> Tensor:
    """Logarithms of the chances of all classes, as large as the factors are there to avoid. To check by."""
    syllables = said.kinds[..., -1:, None] + said.pairs[..., :, None] + said.finals[..., None, :]
    return torch.cat([said.kinds[..., :-1], syllables.flatten(2)], 2)


class Ctc(torch.autograd.Function):
    """CTC over the classes of a line alone, blank first.

    PyTorch's gradient takes for granted that the chances of all classes are there and sum to one. With some
    of them the part that it adds for that is taken off again: what is left is the posterior alone.
    """

    @staticmethod
    def forward(ctx: Any, chances: Tensor, wanted: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        steps = torch.full_like(lengths, chances.shape[0])
        with torch.enable_grad():
            alone = chances.detach().requires_grad_()
            loss = F.ctc_loss(alone, wanted, steps, lengths, reduction="none", zero_infinity=False)
            [gradient] = torch.autograd.grad(loss.sum(), alone)
        reached = torch.isfinite(loss)
        posterior = torch.where(reached[None, :, None], gradient - alone.detach().exp(), 0.0)
        ctx.save_for_backward(posterior)
        return torch.where(reached, loss.detach(), 0.0)

    @staticmethod
    def backward(ctx: Any, grown: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        [posterior] = ctx.saved_tensors
        return posterior * grown[None, :, None], None, None


def loss_of(
    said: Said, classes: Tensor, wanted: Tensor, lengths: Tensor, places: Tensor
) -> dict[str, Tensor]:
    """The parts of the loss, means over characters: of reading (CTC), and of seeing each where it stands.

    `classes` are the distinct ones of each line with blank first, `wanted` numbers into them, `places` the
    step at which each character's middle is drawn, or NO_STEP.
    """
    return loss_of_chances(chances_of(said, classes), wanted, lengths, places)


def loss_of_chances(chances: Tensor, wanted: Tensor, lengths: Tensor, places: Tensor) -> dict[str, Tensor]:
    """The same of the chances of each line's own classes, blank first."""
    read = Ctc.apply(chances.transpose(0, 1), wanted, lengths)
    known = places != NO_STEP
    at = chances.gather(1, places.clamp(min=0)[:, :, None].expand(-1, -1, chances.shape[2]))
    seen = -at.gather(2, wanted[:, :, None]).squeeze(2)
    return {
        "read": read.sum() / lengths.sum().clamp(min=1),
        "seen": (seen * known).sum() / known.sum().clamp(min=1),
    }


def best_paths(said: Said) -> list[list[int]]:
    """The classes that each picture shows: the likeliest kind a step, then the likeliest syllable."""
    kind = said.kinds.argmax(-1)
    syllable = said.pairs.argmax(-1) * NUM_FINALS + said.finals.argmax(-1)
    return collapsed(torch.where(kind == SYLLABLE_KIND, FIRST_SYLLABLE_CLASS + syllable, kind))


def collapsed(best: Tensor) -> list[list[int]]:
    """The classes of steps (pictures x steps) without blanks and what is said again at once."""
    fresh = torch.ones_like(best, dtype=torch.bool)
    fresh[:, 1:] = best[:, 1:] != best[:, :-1]
    kept = (best != 0) & fresh
    return [row[keep].tolist() for row, keep in zip(best.cpu(), kept.cpu(), strict=True)]


def loss_error(device: torch.device, lines: int = 32, steps: int = 120, length: int = 20) -> float:
    """How far the gradient of a line's own classes is from that of all classes, on this device."""
    dice = torch.Generator().manual_seed(1)
    shapes = [(lines, steps, size) for size in (NUM_KINDS, NUM_PAIRS, NUM_FINALS)]
    raw = [torch.randn(shape, generator=dice).to(device).requires_grad_() for shape in shapes]
    said = Said(*(part.log_softmax(-1) for part in raw))
    label = torch.randint(1, FIRST_SYLLABLE_CLASS + 11172, (lines, length), generator=dice).to(device)
    lengths, every = torch.full((lines,), length, device=device), torch.full((lines,), steps, device=device)
    whole = F.ctc_loss(whole_chances(said).transpose(0, 1), label, every, lengths, reduction="none")
    classes = F.pad(label, (1, 0))
    wanted = torch.arange(1, length + 1, device=device).expand(lines, -1)
    few = Ctc.apply(chances_of(said, classes).transpose(0, 1), wanted, lengths)
    grown = [torch.autograd.grad(loss.sum(), raw, retain_graph=True) for loss in (whole, few)]
    return max(float((one - other).abs().max()) for one, other in zip(*grown, strict=True))
