"""Sets lines of any script with HarfBuzz: which glyph stands where, and which character it belongs to.

Glyphs are drawn from their outlines, several times too large, and kept while a sheet of lines is in one face
and size. Fonts are opened once a process.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import uharfbuzz as hb
from numpy.typing import NDArray
from script_signs import DROPPED

from penstock.engines.ocr.visual_order import turned_pieces

Mask = NDArray[np.uint8]
TAGS = {
    "cyrillic": "Cyrl",
    "greek": "Grek",
    "arabic": "Arab",
    "hebrew": "Hebr",
    "devanagari": "Deva",
    "thai": "Thai",
}
CURVE = (0.2, 0.4, 0.6, 0.8, 1.0)  # places on a curve at which it becomes straight lines
FINE = 16  # parts of a pixel in which corners are told


@dataclass(frozen=True)
class ScriptFace:
    """The files that draw a script in one family and weight, its own first, Latin last."""

    family: str
    script: str
    files: tuple[Path, ...]
    share: float
    test: bool


class Placed(NamedTuple):
    """A glyph of a file, in ems from the line's start and its baseline, upwards."""

    file: Path
    glyph: int
    x: float
    y: float


class SetLine(NamedTuple):
    """A line's glyphs, its width, and the middle of each character of the text (-1: it has none)."""

    glyphs: list[Placed]
    width: float
    middles: list[float]


class OpenFont(NamedTuple):
    font: Any
    upem: int
    held: frozenset[int]


@cache
def opened(file: Path) -> OpenFont:
    face = hb.Face(hb.Blob.from_file_path(str(file)))
    return OpenFont(hb.Font(face), face.upem, frozenset(face.unicodes))


def can_draw(face: ScriptFace, sign: str) -> bool:
    return ord(sign) in DROPPED or any(ord(sign) in opened(file).held for file in face.files)


def set_line(text: str, face: ScriptFace, order: list[int], tracking: float, space: float) -> SetLine:
    """Sets a text as written; `order` is that in which its characters are seen, from left to right."""
    rank = {at: number for number, at in enumerate(order)}
    made = _Setting(text, face, rank, tracking, space)
    for piece in turned_pieces(text):
        parts = _by_file(text, piece.begin, piece.end, face)
        for begin, end, file in reversed(parts) if piece.right_to_left else parts:
            made.add(begin, end, file, piece.right_to_left)
    return SetLine(made.glyphs, made.x, made.middles)


def _by_file(text: str, begin: int, end: int, face: ScriptFace) -> list[tuple[int, int, Path]]:
    """Stretches that one file draws. Marks, spaces and what has no shape stay with what is before them."""
    found: list[tuple[int, int, Path]] = []
    for at in range(begin, end):
        sign, before = text[at], found[-1][2] if found else None
        loose = sign == " " or unicodedata.category(sign) in ("Mn", "Mc", "Cf")
        if before and (ord(sign) in DROPPED or (loose and ord(sign) in opened(before).held)):
            file = before
        else:
            file = next((one for one in face.files if ord(sign) in opened(one).held), face.files[0])
        if file == before:
            found[-1] = (found[-1][0], at + 1, file)
        else:
            found.append((at, at + 1, file))
    return found


class _Setting:
    """A line that is being set."""

    def __init__(
        self, text: str, face: ScriptFace, rank: dict[int, int], tracking: float, space: float
    ) -> None:
        self.text, self.script, self.rank = text, face.script, rank
        self.tracking, self.space = tracking, space
        self.glyphs: list[Placed] = []
        self.middles = [-1.0] * len(text)
        self.x = 0.0

    def add(self, begin: int, end: int, file: Path, right_to_left: bool) -> None:
        """Shapes a stretch and puts it to the right of what is there."""
        own = opened(file)
        buffer = hb.Buffer()
        buffer.add_str(self.text[begin:end])
        buffer.direction = "rtl" if right_to_left else "ltr"
        buffer.script = TAGS[self.script] if _has_own(self.text[begin:end]) else "Latn"
        hb.shape(own.font, buffer)
        infos, places = buffer.glyph_infos, buffer.glyph_positions
        starts = sorted({info.cluster for info in infos})
        following = dict(zip(starts, [*starts[1:], end - begin], strict=True))
        left, cluster = self.x, infos[0].cluster if infos else 0
        for info, place in zip(infos, places, strict=True):
            if info.cluster != cluster:
                self._close(begin + cluster, begin + following[cluster], left)
                left, cluster = self.x, info.cluster
            x, y = self.x + place.x_offset / own.upem, place.y_offset / own.upem
            self.glyphs.append(Placed(file, info.codepoint, x, y))
            self.x += place.x_advance / own.upem
        if infos:
            self._close(begin + cluster, begin + following[cluster], left)

    def _close(self, begin: int, end: int, left: float) -> None:
        """Spreads the characters of a cluster over its width."""
        if self.text[begin] == " ":
            self.x = left + (self.x - left) * self.space
        shown = [at for at in range(begin, end) if self.text[at] != " " and ord(self.text[at]) not in DROPPED]
        shown.sort(key=self.rank.__getitem__)
        for number, at in enumerate(shown):
            self.middles[at] = left + (self.x - left) * (number + 0.5) / len(shown)
        self.x += self.tracking


def _has_own(text: str) -> bool:
    return any(sign > "\u036f" and sign.isalpha() for sign in text)


@cache
def outline(file: Path, glyph: int) -> list[tuple[NDArray[np.float32], bool]]:
    """The closed lines around a glyph, in ems, downwards, and which way round each goes."""
    own = opened(file)
    lines: list[list[tuple[float, float]]] = []
    own.font.draw_glyph(glyph, _outlining(), lines)
    scale = np.array((1 / own.upem, -1 / own.upem), np.float32)
    found = [np.array(line, np.float32) * scale for line in lines if len(line) > 2]
    return [(line, _area(line) > 0) for line in found]


@lru_cache(maxsize=1)
def _outlining() -> Any:
    funcs = hb.DrawFuncs()
    funcs.set_move_to_func(lambda x, y, lines: lines.append([(x, y)]))
    funcs.set_line_to_func(lambda x, y, lines: lines[-1].append((x, y)))
    funcs.set_quadratic_to_func(_quadratic)
    funcs.set_cubic_to_func(_cubic)
    funcs.set_close_path_func(lambda lines: None)
    return funcs


def _quadratic(cx: float, cy: float, x: float, y: float, lines: list[list[tuple[float, float]]]) -> None:
    from_x, from_y = lines[-1][-1]
    for t in CURVE:
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        lines[-1].append((a * from_x + b * cx + c * x, a * from_y + b * cy + c * y))


def _cubic(
    x1: float, y1: float, x2: float, y2: float, x: float, y: float, lines: list[list[tuple[float, float]]]
) -> None:
    from_x, from_y = lines[-1][-1]
    for t in CURVE:
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        lines[-1].append((a * from_x + b * x1 + c * x2 + d * x, a * from_y + b * y1 + c * y2 + d * y))


class GlyphMask(NamedTuple):
    """A glyph's ink and where its corner is, from its origin: right and down."""

    ink: Mask
    left: int
    top: int


def mask(file: Path, glyph: int, size: float) -> GlyphMask:
    """A glyph at so many pixels an em, black and white. Parts that overlap are both ink."""
    lines = outline(file, glyph)
    if not lines:
        return GlyphMask(np.zeros((0, 0), np.uint8), 0, 0)
    every = np.concatenate([line for line, _ in lines]) * size
    low = np.floor(every.min(axis=0)).astype(int)
    high = np.ceil(every.max(axis=0)).astype(int) + 1
    shape = (int(high[1] - low[1]), int(high[0] - low[0]))
    turns = np.zeros(shape, np.int8)
    for line, forwards in lines:
        corners = np.round((line * size - low) * FINE).astype(np.int32)
        filled = np.zeros(shape, np.int8)
        cv2.fillPoly(filled, [corners], 1 if forwards else -1, shift=4)
        turns += filled
    return GlyphMask((turns != 0).astype(np.uint8) * 255, int(low[0]), int(low[1]))


def _area(line: NDArray[np.float32]) -> float:
    x, y = line[:, 0], line[:, 1]
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
