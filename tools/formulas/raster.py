"""Draws packed formulas at any size, with their own letters, another font's, or other letters altogether.

A layout says where each glyph stands, so a picture is polygons moved there and filled. Because letters are only
numbers here, the formula x + y may become a + k, in the picture and in the label: few layouts make many formulas.
"""

from __future__ import annotations

import io
import lzma
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from signs import NO_PLACE, marks_of_label
from vocabulary import NUMBERS, OPENING, TOKENS

FINER = 3  # drawn this much larger, then averaged: edges as a good printer's
BITS = 4  # of a pixel's fraction in OpenCV's polygons
NOWHERE = (np.nan, np.nan)
MAX_STRETCH = 1.2  # a letter may be this much wider or narrower than the one whose place it takes

LATIN = [
    (0x1D44E, "abcdefghijklmnopqrstuvwxyz"),
    (0x1D434, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    (0x30, "0123456789"),
]
GREEK = r"""
    \alpha \beta \gamma \delta \varepsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi . \pi \rho \varsigma \sigma \tau
    \upsilon \varphi \chi \psi \omega
""".split()
CLOSING, TAG = NUMBERS["}"], NUMBERS[r"\tag"]
STYLED = {NUMBERS[token] for token in TOKENS if token.startswith(r"\math") or token == r"\boldsymbol"}
STYLED -= {NUMBERS[r"\mathring"]}
OPENS = {NUMBERS[token] for token in OPENING} | {NUMBERS["{"]}


def letter_classes() -> list[dict[int, int]]:
    """Codepoint to token number, for each kind of letter that may change places within its kind."""
    made = [{first + at: NUMBERS[letter] for at, letter in enumerate(letters)} for first, letters in LATIN]
    made[0].pop(0x1D44E + 7)
    made[0][0x210E] = NUMBERS["h"]  # Unicode put the italic h elsewhere long before the others
    made.append({0x1D6FC + at: NUMBERS[token] for at, token in enumerate(GREEK) if token != "."})
    return made


@dataclass(frozen=True)
class Drawing:
    """One formula ready to draw: polygons in thousandths of an em, y upwards, and its label's numbers.

    `places` holds the middle of what draws each of the label's tokens; not a number where nothing does.
    """

    shapes: list[list[NDArray[np.float32]]]
    label: list[int]
    places: NDArray[np.float32]


class Shard:
    """A packed shard, read whole."""

    def __init__(self, file: Path) -> None:
        with np.load(io.BytesIO(lzma.decompress(file.read_bytes()))) as arrays:
            self._glyph, self._y = arrays["glyph"], arrays["y"].astype(np.float32)
            self._x = np.cumsum(arrays["dx"], dtype=np.int64).astype(np.float32)
            self._scale, self._scales = arrays["scale"], arrays["scales"].astype(np.float32) / 1000
            self._rules, self._labels = arrays["rules"].astype(np.float32), arrays["labels"]
            self._ends = np.vstack([np.zeros((1, 3), np.int64), arrays["ends"]])
            self.boxes = arrays["boxes"].astype(np.float32)
            self.lengths = np.diff(self._ends[:, 2])
            keys = [str(key) for key in arrays["keys"]]
            self._contours = _contours(arrays["points"], arrays["point_ends"], arrays["contour_ends"])
        self._extents = [_extent(contours) for contours in self._contours]
        self._fonts, self._codes = _parts(keys)
        self._plain = _numbers_by_font(self._fonts, self._codes, keys)
        self._swaps = [
            _variant(key) == "N" or code > 0x2100 for key, code in zip(keys, self._codes, strict=True)
        ]
        self.other_fonts = sorted({key.partition(":")[0] for key in keys if ":-" in key})
        self._targets = self._interchangeable(keys)

    def __len__(self) -> int:
        return len(self.boxes)

    def label(self, number: int) -> list[int]:
        return self._labels[self._ends[number, 2] : self._ends[number + 1, 2]].tolist()

    def drawing(self, number: int, dice: np.random.Generator | None = None, font: str = "") -> Drawing:
        """Returns a formula. With dice, its letters may change; with a font, they are drawn from it."""
        start, end = self._ends[number], self._ends[number + 1]
        glyphs = self._glyph[start[0] : end[0]].tolist()
        label = self.label(number)
        marks = marks_of_label(label, [self._codes[glyph] for glyph in glyphs])
        # an equation number's letters are upright in the picture and plain in the label: leave those formulas alone
        mapping = self._mapping(glyphs, dice) if dice is not None and TAG not in label else {}
        if mapping:
            label = _renamed(label, dict(pair[1] for pair in mapping.values()))
        shapes = []
        for glyph, x, y, scale in zip(
            glyphs,
            self._x[start[0] : end[0]],
            self._y[start[0] : end[0]],
            self._scale[start[0] : end[0]],
            strict=True,
        ):
            drawn = mapping[glyph][0] if glyph in mapping else glyph
            drawn = (
                self._plain.get((font, self._codes[drawn]), drawn) if font and self._swaps[drawn] else drawn
            )
            shapes.append(self._placed(glyph, drawn, x, y, self._scales[scale]))
        places = np.array(
            [_middle(shapes[mark]) if mark != NO_PLACE else NOWHERE for mark in marks], np.float32
        )
        shapes += [[_rectangle(*rule)] for rule in self._rules[start[1] : end[1]]]
        return Drawing(shapes, label, places)

    def _placed(
        self, own: int, drawn: int, x: float, y: float, scale: NDArray[np.float32]
    ) -> list[NDArray[np.float32]]:
        """A glyph's polygons at their place. Another's take the middle of the own's, at most as wide."""
        place = np.array([x, y], np.float32)
        if drawn == own:
            return [contour * scale + place for contour in self._contours[own]]
        (a0, a1), (b0, b1) = self._extents[own], self._extents[drawn]
        width = np.clip((a1 - a0) / max(1.0, b1 - b0), 1 / MAX_STRETCH, 1.0)
        shift = np.array([(a0 + a1) / 2 - (b0 + b1) / 2 * width, 0], np.float32)
        size = np.array([width, 1], np.float32)
        return [(contour * size + shift) * scale + place for contour in self._contours[drawn]]

    def _mapping(
        self, glyphs: list[int], dice: np.random.Generator
    ) -> dict[int, tuple[int, tuple[int, int]]]:
        """For each letter of the formula another one: own glyph to (new glyph, (own token, new token)).

        A token changes everywhere or nowhere, so fonts that draw one token by two glyphs are left alone.
        """
        chosen: dict[int, tuple[int, tuple[int, int]]] = {}
        for glyph in dict.fromkeys(glyphs):
            targets = self._targets.get(glyph)
            if targets:
                chosen[glyph] = targets[int(dice.integers(len(targets)))]
        return chosen

    def _interchangeable(self, keys: list[str]) -> dict[int, list[tuple[int, tuple[int, int]]]]:
        made: dict[int, list[tuple[int, tuple[int, int]]]] = {}
        for tokens in letter_classes():
            by_font: dict[str, list[tuple[int, int]]] = defaultdict(list)
            for (font, code), glyph in self._plain.items():
                if code in tokens and ":-" not in keys[glyph]:
                    by_font[font].append((glyph, tokens[code]))
            for letters in by_font.values():
                for glyph, token in letters:
                    made[glyph] = [(other, (token, to)) for other, to in letters if self._fits(glyph, other)]
        return made

    def _fits(self, own: int, other: int) -> bool:
        ratio = (self._extents[other][1] - self._extents[other][0]) / (
            self._extents[own][1] - self._extents[own][0]
        )
        return bool(1 / MAX_STRETCH**2 < ratio < MAX_STRETCH)


def _contours(
    points: NDArray[np.int16], point_ends: NDArray[np.int64], contour_ends: NDArray[np.int64]
) -> list[list[NDArray[np.float32]]]:
    pieces = [piece.astype(np.float32) for piece in np.split(points, point_ends[:-1])]
    starts = [0, *contour_ends.tolist()]
    return [pieces[a:b] for a, b in pairwise(starts)]


def _extent(contours: list[NDArray[np.float32]]) -> tuple[float, float]:
    if not contours:
        return 0.0, 1.0
    return min(float(c[:, 0].min()) for c in contours), max(float(c[:, 0].max()) for c in contours)


def _middle(shape: list[NDArray[np.float32]]) -> tuple[float, float]:
    """The middle of a glyph's box."""
    if not shape:
        return NOWHERE
    points = shape[0] if len(shape) == 1 else np.concatenate(shape)
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return (x0 + x1) / 2, (y0 + y1) / 2


def _parts(keys: list[str]) -> tuple[list[str], list[int]]:
    return [key.partition(":")[0] for key in keys], [int(key.rpartition("-")[2], 16) for key in keys]


def _variant(key: str) -> str:
    """MathJax's name of a glyph's alphabet or size: N of NCM-N-23A7. Other fonts' letters have none."""
    return key.partition(":")[2].rpartition("-")[0].rpartition("-")[2]


def _numbers_by_font(fonts: list[str], codes: list[int], keys: list[str]) -> dict[tuple[str, int], int]:
    """Glyphs in natural size by font and codepoint; the first stands where variants share a codepoint."""
    made: dict[tuple[str, int], int] = {}
    for number, (font, code, key) in enumerate(zip(fonts, codes, keys, strict=True)):
        if _variant(key) in ("", "N", "I", "B", "BI", "DS", "F"):
            made.setdefault((font, code), number)
    return made


def _rectangle(x: float, y: float, width: float, height: float) -> NDArray[np.float32]:
    return np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], np.float32)


def _renamed(label: list[int], names: dict[int, int]) -> list[int]:
    """The label with letters changed, except where a style holds them."""
    made, depth, held = [], 0, 0
    for number in label:
        made.append(names.get(number, number) if not held else number)
        if number in OPENS:
            depth += 1
            if number in STYLED and not held:
                held = depth
        elif number == CLOSING:
            if held == depth:
                held = 0
            depth -= 1
    return made


@dataclass(frozen=True)
class Geometry:
    """How a formula becomes pixels: points times the matrix, plus the offset."""

    width: int
    height: int
    matrix: NDArray[np.float32]
    offset: NDArray[np.float32]

    def __call__(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        moved: NDArray[np.float32] = points @ self.matrix.T + self.offset
        return moved


def geometry(
    box: NDArray[np.float32],
    em: float,
    margins: tuple[float, float, float, float],
    turn: NDArray[np.float32] | None = None,
) -> Geometry:
    """A formula at `em` pixels, with margins left, top, right, bottom in pixels.

    `turn` is a 2 x 2 matrix that rotates or shears around the middle.
    """
    width = max(1, int(np.ceil((box[2] - box[0]) / 1000 * em + margins[0] + margins[2])))
    height = max(1, int(np.ceil((box[3] - box[1]) / 1000 * em + margins[1] + margins[3])))
    unit = em / 1000
    matrix = np.array([[unit, 0], [0, -unit]], np.float32)
    offset = np.array([margins[0] - box[0] * unit, margins[1] + box[3] * unit], np.float32)
    if turn is not None:
        middle = np.array([width, height], np.float32) / 2
        matrix, offset = turn @ matrix, turn @ (offset - middle) + middle
    return Geometry(width, height, matrix, offset)


def picture(drawing: Drawing, where: Geometry) -> NDArray[np.uint8]:
    """Draws ink (255) on nothing (0)."""
    canvas = np.zeros((where.height * FINER, where.width * FINER), np.uint8)
    for contours in drawing.shapes:
        polygons = [np.round(where(contour) * (FINER << BITS)).astype(np.int32) for contour in contours]
        cv2.fillPoly(canvas, polygons, 255, cv2.LINE_8, BITS)
    return cv2.resize(canvas, (where.width, where.height), interpolation=cv2.INTER_AREA)
