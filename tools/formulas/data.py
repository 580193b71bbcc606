"""Batches for training: formulas of one canvas size, drawn and spoiled as they are asked for.

Batch number n is always the same batch, whichever process makes it, so a run that resumes at n sees what it
would have seen. Batches of small pictures hold more of them; canvases are drawn so that every formula is
equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
import torch
from degrade import spoiled, turn, with_neighbours
from model import CELL, NO_CELL
from numpy.typing import NDArray
from raster import NOWHERE, Drawing, Shard, geometry, picture
from torch.utils.data import Dataset
from vocabulary import END_ID, NUMBERS, PAD_ID, START_ID

from penstock.engines.formula.picture import MAX_HEIGHT, MAX_WIDTH, levelled

HEIGHTS, WIDTHS = (64, 128, MAX_HEIGHT), (192, 384, 640, MAX_WIDTH)
MIN_EM, MAX_EM = 14.0, 46.0  # pixels; an x-height of 6 to 20
SMALLEST_EM = 11.0  # long formulas are drawn smaller, as the reader makes them
MARGIN = 7  # pixels at each side, at most
POOL = 2048  # candidates a batch is chosen from
MAX_STEPS = 320
QUAD, BREAK, TAG = NUMBERS[r"\quad"], NUMBERS[r"\\"], NUMBERS[r"\tag"]
ALIGNED = NUMBERS[r"\begin{aligned}"], NUMBERS[r"\end{aligned}"]
MAX_BATCH = 256  # more steps, not larger ones, while formulas are short
MAX_SHIFT = 32  # pixels from a canvas's upper left corner: a reader's frame leaves no more free
LENGTH_STEP = 16  # lengths of a batch: each new one costs a card time


@dataclass(frozen=True)
class Recipe:
    """What is varied. Shares are of all pictures."""

    area: int = 6_300_000  # pixels of a batch
    other_letters: float = 0.55
    other_fonts: float = 0.45
    beside: float = 0.08  # two formulas in one line
    below: float = 0.06  # some formulas as lines of one
    neighbours: float = 0.07
    spoil: bool = True
    shortest: int = 8  # tokens of the longest formulas in the first batch
    growth: int = 0  # batches until formulas of all lengths come; 0: from the first

    def max_tokens(self, number: int) -> int:
        """The longest formulas of a batch: twice as long after equally many batches."""
        if number >= self.growth:
            return MAX_STEPS
        return int(self.shortest * (MAX_STEPS / self.shortest) ** (number / self.growth))


class Batch(NamedTuple):
    """Pictures with what they say and where. Start and end are among the steps."""

    pictures: torch.Tensor  # uint8 of count x height x width
    tokens: torch.Tensor  # int64 of count x steps
    cells: torch.Tensor  # int64: where to look for each token, counted along the encoder's rows; or NO_CELL
    drawn: torch.Tensor  # bool: whether the token itself is drawn there, not only the next one


class Sample(NamedTuple):
    picture: NDArray[np.uint8]
    label: list[int]
    cells: NDArray[np.int64]
    drawn: NDArray[np.bool_]


class Batches(Dataset[Batch]):
    """`batches[n]` is batch number n."""

    def __init__(self, shards: list[Shard], count: int, seed: int, recipe: Recipe | None = None) -> None:
        self._shards, self._count, self._seed, self._recipe = shards, count, seed, recipe or Recipe()
        self._owner = np.concatenate([np.full(len(shard), at) for at, shard in enumerate(shards)])
        self._number = np.concatenate([np.arange(len(shard)) for shard in shards])
        boxes = np.concatenate([shard.boxes for shard in shards]) / 1000
        self._wide, self._high = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
        lengths = np.concatenate([shard.lengths for shard in shards])
        self._by_length = np.argsort(lengths, kind="stable")
        self._lengths = lengths[self._by_length]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Batch:
        cv2.setNumThreads(1)
        dice = np.random.default_rng((self._seed, number))
        size, chosen, ems = self._choice(dice, self._recipe.max_tokens(number))
        drawn = [self._sample(one, em, size, dice) for one, em in zip(chosen, ems, strict=True)]
        samples = [sample for sample in drawn if sample is not None]
        # every batch of a canvas has the same size: the card tunes itself for each new one
        return together([samples[at % len(samples)] for at in range(len(drawn))])

    def _choice(
        self, dice: np.random.Generator, longest: int
    ) -> tuple[tuple[int, int], list[list[int]], list[float]]:
        """A canvas, formulas that fit it (each a list of one or more), and their sizes."""
        canvases, groups, ems = self._candidates(dice, longest)
        kinds, counts = np.unique(canvases[canvases >= 0], return_counts=True)
        shares = counts / np.array([self._batch_size(kind) for kind in kinds])
        kind = int(dice.choice(kinds, p=shares / shares.sum()))
        fitting = np.flatnonzero(canvases == kind)
        while len(fitting) < self._batch_size(kind) and len(groups) < 8 * POOL:
            more, more_groups, more_ems = self._candidates(dice, longest)
            canvases, groups, ems = (
                np.concatenate([canvases, more]),
                groups + more_groups,
                np.concatenate([ems, more_ems]),
            )
            fitting = np.flatnonzero(canvases == kind)
        fitting = np.resize(fitting, self._batch_size(kind))
        return canvas(kind), [groups[at] for at in fitting], [float(ems[at]) for at in fitting]

    def _batch_size(self, kind: int) -> int:
        height, width = canvas(kind)
        return max(1, min(MAX_BATCH, self._recipe.area // (height * width)))

    def _candidates(
        self, dice: np.random.Generator, longest: int
    ) -> tuple[NDArray[np.int64], list[list[int]], NDArray[np.float64]]:
        """Formulas of at most `longest` tokens. Several make one only when all lengths come."""
        known = max(1, int(np.searchsorted(self._lengths, longest, "right")))
        several = self._recipe.beside + self._recipe.below if longest >= MAX_STEPS else 0.0
        groups = [[int(one)] for one in self._by_length[dice.integers(0, known, POOL)]]
        wide, high = self._wide[[g[0] for g in groups]].copy(), self._high[[g[0] for g in groups]].copy()
        for at, kind in enumerate(dice.random(POOL)):
            if kind < several:
                beside = kind < self._recipe.beside
                groups[at] += [
                    int(one)
                    for one in dice.integers(0, len(self._number), 1 if beside else dice.integers(1, 4))
                ]
                if not beside:
                    groups[at].append(-1)  # marks lines below each other
                members = [one for one in groups[at] if one >= 0]
                widths, heights = self._wide[members], self._high[members]
                wide[at] = widths.sum() + 2 if beside else widths.max()
                high[at] = heights.max() * 1.4 if beside else heights.sum() + 0.5 * len(members)
        ems = np.exp(dice.uniform(np.log(MIN_EM), np.log(MAX_EM), POOL))
        ems = np.minimum(ems, np.minimum((MAX_WIDTH - 2 * MARGIN) / wide, (MAX_HEIGHT - 2 * MARGIN) / high))
        kinds = canvas_kinds(wide * ems + 2 * MARGIN, high * ems + 2 * MARGIN)
        kinds[ems < SMALLEST_EM] = -1
        return kinds, groups, ems

    def _sample(
        self, group: list[int], em: float, size: tuple[int, int], dice: np.random.Generator
    ) -> Sample | None:
        drawing, box = self._drawing(group, dice)
        recipe = self._recipe
        margins = tuple(dice.uniform(1, MARGIN, 4))
        turned = turn(dice, (box[2] - box[0]) / 1000 * em) if recipe.spoil else None
        where = geometry(box, em, margins, turned)
        ink = picture(drawing, where)
        if recipe.spoil and dice.random() < recipe.neighbours:
            other, other_box = self._drawing([int(dice.integers(0, len(self._number)))], dice)
            ink = with_neighbours(ink, picture(other, geometry(other_box, em, (0, 0, 0, 0))), dice)
        grey = spoiled(ink, em, dice) if recipe.spoil else 255 - ink
        levels = (levelled(grey) * 255).astype(np.uint8)[: size[0], : size[1]]
        frame = np.zeros(size, np.uint8)
        top = int(dice.integers(0, min(MAX_SHIFT, size[0] - levels.shape[0]) + 1))
        left = int(dice.integers(0, min(MAX_SHIFT, size[1] - levels.shape[1]) + 1))
        frame[top : top + levels.shape[0], left : left + levels.shape[1]] = levels
        if len(drawing.label) > MAX_STEPS - 2:
            return None
        cells, drawn = cells_of(where(drawing.places) + np.array([left, top], np.float32), size)
        return Sample(frame, drawing.label, cells, drawn)

    def _drawing(self, group: list[int], dice: np.random.Generator) -> tuple[Drawing, NDArray[np.float32]]:
        parts = [self._one(number, dice) for number in group if number >= 0]
        if len(parts) == 1 or any(TAG in part[0].label for part in parts[:-1]):
            return parts[0]
        return below(parts) if group[-1] < 0 else beside(parts, float(dice.uniform(1000, 2000)))

    def _one(self, number: int, dice: np.random.Generator) -> tuple[Drawing, NDArray[np.float32]]:
        shard, own = self._shards[self._owner[number]], int(self._number[number])
        other = dice.random() < self._recipe.other_letters
        font = (
            str(dice.choice(shard.other_fonts))
            if shard.other_fonts and dice.random() < self._recipe.other_fonts
            else ""
        )
        return shard.drawing(own, dice if other else None, font), shard.boxes[own]


def beside(
    parts: list[tuple[Drawing, NDArray[np.float32]]], gap: float
) -> tuple[Drawing, NDArray[np.float32]]:
    """Two formulas on one baseline."""
    (first, a), (second, b) = parts[:2]
    shift = np.array([a[2] + gap - b[0], 0], np.float32)
    shapes = first.shapes + [[contour + shift for contour in shape] for shape in second.shapes]
    box = np.array([a[0], min(a[1], b[1]), b[2] + shift[0], max(a[3], b[3])], np.float32)
    places = np.vstack([first.places, [NOWHERE], second.places + shift]).astype(np.float32)
    return Drawing(shapes, [*first.label, QUAD, *second.label], places), box


def below(parts: list[tuple[Drawing, NDArray[np.float32]]]) -> tuple[Drawing, NDArray[np.float32]]:
    """Formulas as lines that start at one edge. Those that are aligned themselves stay out."""
    parts = [part for part in parts if ALIGNED[0] not in part[0].label] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    shapes: list[list[NDArray[np.float32]]] = []
    label, places = [ALIGNED[0]], [np.array([NOWHERE], np.float32)]
    top = parts[0][1][3]
    for number, (drawing, box) in enumerate(parts):
        shift = np.array([-box[0], top - box[3]], np.float32)
        shapes += [[contour + shift for contour in shape] for shape in drawing.shapes]
        label += [*([BREAK] if number else []), *drawing.label]
        places += [places[0][: number > 0], drawing.places + shift]
        top -= box[3] - box[1] + 450
    width = max(box[2] - box[0] for _, box in parts)
    box = np.array([0, top + 450, width, parts[0][1][3]], np.float32)
    return Drawing(shapes, [*label, ALIGNED[1]], np.concatenate([*places, places[0]])), box


def cells_of(
    places: NDArray[np.float32], size: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where to look for each token and the end, and which of them are drawn there.

    A brace or a subscript's beginning is no ink: whether it comes is seen at what is drawn next.
    """
    rows, columns = size[0] // CELL[0], size[1] // CELL[1]
    known = ~np.isnan(places[:, 0])
    if not known.any():
        return np.full(len(places) + 1, NO_CELL), np.zeros(len(places) + 1, bool)
    filled = places[known]
    row = np.clip(filled[:, 1] // CELL[0], 0, rows - 1).astype(np.int64)
    column = np.clip(filled[:, 0] // CELL[1], 0, columns - 1).astype(np.int64)
    following = np.append(np.cumsum(known) - known, len(filled)).clip(max=len(filled) - 1)
    return (row * columns + column)[following], np.append(known, False)


def canvas(kind: int) -> tuple[int, int]:
    return HEIGHTS[kind // len(WIDTHS)], WIDTHS[kind % len(WIDTHS)]


def canvas_kinds(wide: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
    """The smallest canvas for each picture. None is larger than the largest by more than rounding."""
    row = np.minimum(np.searchsorted(HEIGHTS, high), len(HEIGHTS) - 1)
    return (row * len(WIDTHS) + np.minimum(np.searchsorted(WIDTHS, wide), len(WIDTHS) - 1)).astype(np.int64)


def together(samples: list[Sample]) -> Batch:
    """A batch of samples, labels with start and end and filled up to one length."""
    longest = -(-(max(len(sample.label) for sample in samples) + 2) // LENGTH_STEP) * LENGTH_STEP
    tokens = np.full((len(samples), longest), PAD_ID, np.int64)
    cells, drawn = np.full_like(tokens, NO_CELL), np.zeros(tokens.shape, bool)
    for row, sample in enumerate(samples):
        end = len(sample.label) + 2
        tokens[row, :end] = [START_ID, *sample.label, END_ID]
        cells[row, 1:end], drawn[row, 1:end] = sample.cells, sample.drawn
    pictures = np.stack([sample.picture for sample in samples])
    return Batch(*(torch.from_numpy(made) for made in (pictures, tokens, cells, drawn)))
