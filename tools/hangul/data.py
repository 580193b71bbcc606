"""Batches of pictures of lines, drawn while the network trains. Batch n of a seed is always the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
import torch
from drawing import Drawn, Face, Picture, Style, drawn, picture, printed, style, with_surroundings
from lines import Texts
from numpy.typing import NDArray
from signs import classes_of, is_syllable
from torch.utils.data import Dataset

from penstock.engines.ocr.hangul_picture import HEIGHT

# at 32 rows: from a cell of a table to a line over a whole page; a page's line has some 900
WIDTHS = (96, 192, 320, 448, 576, 704, 832, 960)
SHEET = 20  # lines in one font and size: its glyphs are drawn once
STEP, NO_STEP = 4, -1  # as in model.py
TILL = 0.15  # of sheets are receipts
SQUEEZED = 1.15  # a picture that is wider than its batch by less than this is squeezed into it
TRIES = 4


@dataclass(frozen=True)
class LineRecipe:
    """How lines are made. `area`: pixels of a batch; `few`: that many of the commonest syllables, 0: all."""

    area: int = 6_000_000
    widths: tuple[int, ...] = WIDTHS
    spoil: bool = True
    few: int = 0


class LineBatch(NamedTuple):
    """`classes` are the distinct ones of a line, blank first, `wanted` numbers into them, `places` steps."""

    pictures: torch.Tensor
    classes: torch.Tensor
    wanted: torch.Tensor
    lengths: torch.Tensor
    places: torch.Tensor

    def texts(self) -> list[list[int]]:
        """The true classes of each line."""
        rows = zip(self.classes, self.wanted, self.lengths.tolist(), strict=True)
        return [classes[wanted[:length]].tolist() for classes, wanted, length in rows]


class DrawnBatches(Dataset[LineBatch]):
    """Batches of drawn lines, of pictures of one height; `_sheet` draws some in one font and size."""

    def __init__(
        self, seed: int, recipe: LineRecipe, height: int, classes: Callable[[str], list[int]]
    ) -> None:
        self._seed, self._recipe = seed, recipe
        self._height, self._classes = height, classes

    def __len__(self) -> int:
        return 10_000_000

    def __getitem__(self, number: int) -> LineBatch:
        cv2.setNumThreads(0)  # a worker is one of many
        dice = np.random.default_rng((self._seed, number))
        width = int(dice.choice(self._recipe.widths))
        count = max(2, self._recipe.area // (self._height * width))
        made: list[Picture] = []
        while len(made) < count:
            made += self._sheet(width, dice)
        return together(made[:count], width, self._classes)

    def _sheet(self, width: int, dice: np.random.Generator) -> list[Picture]:
        raise NotImplementedError


class LineBatches(DrawnBatches):
    """Draws batches in the given faces; `latin` draws Latin letters in some lines."""

    def __init__(
        self, texts: Texts, faces: list[Face], latin: list[Face], seed: int, recipe: LineRecipe = LineRecipe()
    ) -> None:
        super().__init__(seed, recipe, HEIGHT, classes_of)
        self._texts, self._latin = texts, latin
        self._till = [face for face in faces if face.till]
        self._page = [face for face in faces if not face.till]
        self._allowed = _commonest(texts, recipe.few) if recipe.few else None

    def _sheet(self, width: int, dice: np.random.Generator) -> list[Picture]:
        if self._till and (not self._page or dice.random() < TILL):
            how = style(self._till, [], dice)
        else:
            how = style(self._page, self._latin, dice)
        em = how.pen.em
        most = width * em / HEIGHT  # a line is about an em high when it is cut close
        lines = [line for _ in range(SHEET) if (line := self._line(how, most, dice)) is not None]
        found = []
        for line in lines:
            ready = (
                with_surroundings(printed(line, how, dice), lines, em, dice) if self._recipe.spoil else line
            )
            made = fitted(picture(ready, em, dice, self._recipe.spoil), width)
            found += [made] if made and made.ink.any() else []  # black and white can leave faint ink out
        return found

    def _line(self, how: Style, most: float, dice: np.random.Generator) -> Drawn | None:
        """A line that fills most of the width, mostly: blank pictures teach little."""
        longest = max(2, int(most / (0.5 * how.pen.em)))
        text = self._text(how, longest, dice)
        for _ in range(TRIES):
            if _wide(text) * how.pen.em > 0.6 * most or dice.random() < 0.15:
                break
            text += " " + self._text(how, longest, dice)
        return drawn(text, how, most, dice)

    def _text(self, how: Style, longest: int, dice: np.random.Generator) -> str:
        if how.till:
            return self._texts.receipt(dice, longest)
        text = self._texts.line(dice, longest)
        if self._allowed is None:
            return text
        return "".join(sign for sign in text if not is_syllable(sign) or sign in self._allowed)


def _wide(text: str) -> float:
    """How wide a text is, in ems, roughly."""
    return sum(0.92 if is_syllable(sign) else 0.45 for sign in text)


def _commonest(texts: Texts, count: int) -> set[str]:
    counted = Counter(sign for text in texts.korean for sign in text if is_syllable(sign))
    return {sign for sign, _ in counted.most_common(count)}


def fitted(made: Picture, width: int) -> Picture | None:
    """The picture in a batch of this width; None if it is much wider."""
    height, wide = made.ink.shape
    if wide > SQUEEZED * width:
        return None
    if wide > width:
        ink = np.asarray(cv2.resize(made.ink, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
        middles = np.where(made.middles < 0, -1, made.middles * (width / wide))
        return Picture(ink, made.text, middles.astype(np.float32))
    return made


def together(made: list[Picture], width: int, classes: Callable[[str], list[int]] = classes_of) -> LineBatch:
    """A batch of pictures of one width; what is missing of a picture is paper."""
    labels = [classes(one.text) for one in made]
    distinct = [list(dict.fromkeys(label)) for label in labels]
    longest, most = max(map(len, labels)), max(map(len, distinct))
    pictures = np.zeros((len(made), len(made[0].ink), width), np.uint8)
    lines = np.zeros((len(made), most + 1), np.int64)
    wanted = np.zeros((len(made), longest), np.int64)
    places = np.full((len(made), longest), NO_STEP, np.int64)
    for row, (one, label, own) in enumerate(zip(made, labels, distinct, strict=True)):
        pictures[row, :, : one.ink.shape[1]] = one.ink
        lines[row, 1 : len(own) + 1] = own
        number = {name: at + 1 for at, name in enumerate(own)}
        wanted[row, : len(label)] = [number[name] for name in label]
        places[row, : len(label)] = steps_of(one.middles, label, width)
    lengths = np.array([len(label) for label in labels])
    return LineBatch(*map(torch.from_numpy, (pictures, lines, wanted, lengths, places)))


def steps_of(middles: NDArray[np.float32], label: list[int], width: int) -> NDArray[np.int64]:
    """The step of each character; none for spaces and for those too near to their like or to each other."""
    steps = np.where(middles < 0, NO_STEP, (middles // STEP).clip(max=width // STEP - 1)).astype(np.int64)
    near = np.diff(steps) <= np.where(np.diff(label) == 0, 2, 0)
    steps[1:][near] = NO_STEP
    return steps
