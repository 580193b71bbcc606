"""Draws lines of text as documents show them: in many fonts and sizes, with what stands around a line.

Glyphs are drawn one by one with Pillow and kept while a sheet of lines is in one font and size. That is
quick, and tells where each character stands.
"""

from __future__ import annotations

import base64
import json
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from degrade import spoiled
from numpy.typing import NDArray
from PIL import Image, ImageFont
from receipts import banded, dotted
from signs import ALIKE, FIRST_SYLLABLE, NUM_SYLLABLES, UNKNOWN, is_syllable

from penstock.engines.ocr.hangul_picture import prepared

Grey = NDArray[np.uint8]
Dice = np.random.Generator
LEFT = 0.15  # of a line's ink must be left by a bad printer, else it cannot be read
# the ways to draw what the reader writes as one sign
DRAWN_AS: dict[str, list[str]] = {}
for _code, _sign in ALIKE.items():
    if _sign != " ":  # D2Coding draws a dot for a space that does not break
        DRAWN_AS.setdefault(str(_sign), []).append(chr(_code))


@dataclass(frozen=True)
class Face:
    """A font file, what it can draw, and how often it is drawn."""

    file: Path
    family: str
    share: float
    signs: frozenset[str]
    syllables: NDArray[np.bool_]
    test: bool = False
    latin: bool = False
    till: bool = False

    def has(self, sign: str) -> bool:
        if is_syllable(sign):
            return bool(self.syllables[ord(sign) - FIRST_SYLLABLE])
        return sign in self.signs

    @cached_property
    def unknown(self) -> list[str]:
        """Chinese characters and kana, in an order that is the same each time."""
        found = (sign for sign in self.signs if "\u3040" <= sign < "\u3130" or "\u4e00" <= sign < "\ua000")
        return sorted(found)


def faces(folder: Path, unpacked: Path) -> list[Face]:
    """The fonts that prepare.py packed, unpacked into a folder."""
    if not unpacked.is_dir():
        with zipfile.ZipFile(folder / "fonts.zip") as packed:
            packed.extractall(unpacked)
    return [
        Face(
            unpacked / told["file"],
            told["family"],
            told["share"],
            frozenset(told["signs"]),
            np.unpackbits(np.frombuffer(base64.b64decode(told["syllables"]), np.uint8))[:NUM_SYLLABLES] > 0,
            told["test"],
            told["latin"],
            told["till"],
        )
        for told in json.loads((folder / "fonts.json").read_text())
    ]


class Glyph(NamedTuple):
    ink: Grey
    left: int
    top: int  # from the baseline, upwards negative
    advance: float


class Pen:
    """One face at one size, with the glyphs it drew so far."""

    def __init__(self, face: Face, em: float) -> None:
        self.face, self.em = face, em
        self._font = ImageFont.truetype(str(face.file), em, layout_engine=ImageFont.Layout.BASIC)
        self._drawn: dict[str, Glyph] = {}

    def glyph(self, sign: str) -> Glyph:
        found = self._drawn.get(sign)
        if found is None:
            found = self._drawn[sign] = self._draw(sign)
        return found

    def _draw(self, sign: str) -> Glyph:
        # as ImageDraw.text does it, without a sheet of its own for each glyph: half of the time of a line
        core, (left, top) = self._font.getmask2(sign, mode="L", anchor="ls")
        advance = self._font.getlength(sign)
        if 0 in core.size:
            return Glyph(np.zeros((0, 0), np.uint8), 0, 0, advance)
        return Glyph(np.asarray(Image.Image()._new(core)), left, top, advance)


@dataclass(frozen=True)
class Style:
    """How the lines of a sheet are set."""

    pen: Pen
    latin: Pen | None
    tracking: float  # of an em, between characters
    stretch: float  # of widths
    space: float  # of a space's own width

    @property
    def till(self) -> bool:
        """Whether a till prints it."""
        return self.pen.face.till


class Drawn(NamedTuple):
    """A line's ink before anything happens to it. `middles`: the columns of its characters, -1 for spaces."""

    ink: Grey
    text: str
    middles: NDArray[np.float32]
    top: int
    bottom: int


def style(faces_: list[Face], latin: list[Face], dice: Dice) -> Style:
    shares = np.cumsum([face.share for face in faces_])
    face = faces_[int(np.searchsorted(shares, dice.random() * shares[-1]))]
    em = float(np.exp(dice.uniform(np.log(13), np.log(46))))
    companion = latin[int(dice.integers(len(latin)))] if latin and dice.random() < 0.2 else None
    tracking = float(dice.choice((0.0, dice.normal(-0.02, 0.03), dice.uniform(0, 0.15)), p=(0.5, 0.38, 0.12)))
    stretch = 1.0 if dice.random() < 0.65 else float(dice.uniform(0.82, 1.1))
    return Style(
        Pen(face, em),
        Pen(companion, em) if companion else None,
        tracking,
        stretch,
        float(dice.uniform(0.7, 1.5)),
    )


def drawn(text: str, how: Style, most: float, dice: Dice) -> Drawn | None:
    """The text in a style, as much of it as fits into so many pixels; None if that is nothing."""
    placed, kept, middles, x = [], [], [], how.pen.em * float(dice.uniform(0.0, 0.6))
    for sign in text:
        pen, shown = _shown(sign, how, dice)
        if pen is None or (sign == " " and (not kept or kept[-1] == " ")):
            continue
        glyph = pen.glyph(shown)
        wide = glyph.advance * how.stretch * (how.space if sign == " " else 1) + how.tracking * how.pen.em
        if x + wide > most:
            break
        kept.append(sign)
        middles.append(-1.0 if sign == " " else x + (glyph.left + glyph.ink.shape[1] / 2) * how.stretch)
        placed.append((glyph, x))
        x += wide
    while kept and kept[-1] == " ":
        kept.pop(), middles.pop(), placed.pop()
    if not any(glyph.ink.size for glyph, _ in placed):
        return None
    return _inked(placed, kept, middles, x, how, dice)


def _shown(sign: str, how: Style, dice: Dice) -> tuple[Pen | None, str]:
    """Who draws a sign, and as what."""
    if sign == UNKNOWN:
        choices = how.pen.face.unknown
        return (how.pen, choices[int(dice.integers(len(choices)))]) if choices else (None, sign)
    if how.latin is not None and sign.isascii() and how.latin.face.has(sign):
        return how.latin, sign
    if sign in DRAWN_AS and dice.random() < 0.5:
        other = DRAWN_AS[sign][int(dice.integers(len(DRAWN_AS[sign])))]
        if how.pen.face.has(other):
            return how.pen, other
    return (how.pen, sign) if how.pen.face.has(sign) else (None, sign)


def _inked(
    placed: list[tuple[Glyph, float]],
    kept: list[str],
    middles: list[float],
    width: float,
    how: Style,
    dice: Dice,
) -> Drawn:
    em = how.pen.em
    top = min(glyph.top for glyph, _ in placed if glyph.ink.size)
    bottom = max(glyph.top + len(glyph.ink) for glyph, _ in placed if glyph.ink.size)
    room = int(em)
    total = int(width + em * dice.uniform(0.05, 0.8)) + 4
    plain = round(total / how.stretch) + 4
    ink = np.zeros((bottom - top + 2 * room, plain), np.uint8)
    for glyph, x in placed:
        if glyph.ink.size:
            row, column = room + glyph.top - top, max(0, round(x / how.stretch) + glyph.left)
            part = ink[row : row + len(glyph.ink), column : column + glyph.ink.shape[1]]
            np.maximum(part, glyph.ink[: part.shape[0], : part.shape[1]], out=part)
    if how.stretch != 1.0:
        ink = np.asarray(cv2.resize(ink, (total, len(ink)), interpolation=cv2.INTER_LINEAR), np.uint8)
    return Drawn(ink, "".join(kept), np.array(middles, np.float32), room, room + bottom - top)


def with_surroundings(line: Drawn, neighbours: list[Drawn], em: float, dice: Dice) -> Drawn:
    """The line as cut from a page: underlined, in a table, beside other lines."""
    ink = line.ink.copy()
    if neighbours and dice.random() < 0.3:
        _beside(ink, line, neighbours[int(dice.integers(len(neighbours)))], dice)
    thick = max(1, round(em * dice.uniform(0.03, 0.09)))
    if dice.random() < 0.05:
        at = line.bottom + round(em * dice.uniform(0.0, 0.15))
        ink[at : at + thick] = 255
    if dice.random() < 0.07:
        at = (
            line.bottom + round(em * dice.uniform(0.2, 0.45))
            if dice.random() < 0.5
            else round(em * dice.uniform(0.4, 0.75))
        )
        ink[at : at + thick] = int(dice.integers(120, 256))
    if dice.random() < 0.07:
        at = 0 if dice.random() < 0.5 else ink.shape[1] - thick
        ink[:, at : at + thick] = int(dice.integers(120, 256))
    return line._replace(ink=ink)


def _beside(ink: Grey, line: Drawn, other: Drawn, dice: Dice) -> None:
    """Puts the lower end of a line above this one, or the upper end of one below it, into the picture."""
    letters = other.ink[other.top : other.bottom]
    high = int(dice.integers(1, max(2, line.top - 1)))
    width = min(ink.shape[1], letters.shape[1])
    if dice.random() < 0.5:
        rows, part = ink[:high, :width], letters[-high:, :width]
    else:
        rows, part = ink[-high:, :width], letters[:high, :width]
    rows[: len(part)] = np.maximum(rows[: len(part)], part)


def printed(line: Drawn, how: Style, dice: Dice) -> Drawn:
    """The line as its printer leaves it: a till's is often dotted or faint, and cut by the paper's edge."""
    if not how.till:
        return line
    ink, em = line.ink, how.pen.em
    if dice.random() < 0.4:
        ink = dotted(ink, em, dice)
    if dice.random() < 0.25:
        ink = banded(ink, dice)
    if ink.sum() < LEFT * line.ink.sum():  # a row of hyphens can fall between the needles
        return line
    if dice.random() < 0.06 and len(line.text) > 4:
        ink = _cut_at_the_edge(ink, em, dice)
    return line._replace(ink=ink)


def _cut_at_the_edge(ink: Grey, em: float, dice: Dice) -> Grey:
    """The first letter without its left half or less: it is still to be read."""
    first = int(np.flatnonzero(ink.any(axis=0))[0])
    made = ink.copy()
    made[:, : first + round(em * dice.uniform(0.05, 0.22))] = 0
    return made


class Picture(NamedTuple):
    """What the network sees of a line, its text, and the columns at which its characters stand (-1: none)."""

    ink: Grey
    text: str
    middles: NDArray[np.float32]


def cut_out(line: Drawn, em: float, dice: Dice, spoil: bool = True) -> Grey:
    """The line turned a little, spoiled, and cut as the line finder cuts: a grey picture."""
    ink = line.ink
    if spoil and dice.random() < 0.3:
        ink = _sheared(ink, em, dice)
    above, below = (round(em * min(0.95, max(0.0, dice.normal(0.26, 0.14)))) for _ in range(2))
    cut = ink[max(0, line.top - above) : line.bottom + below]
    grey = spoiled(cut, em, dice) if spoil else 255 - cut
    if spoil and dice.random() < 0.08:
        grey = 255 - grey
    return np.ascontiguousarray(grey)


def picture(line: Drawn, em: float, dice: Dice, spoil: bool = True) -> Picture:
    """The line cut out and prepared as the reader prepares it."""
    made = prepared(cut_out(line, em, dice, spoil))
    middles = np.where(line.middles < 0, -1, line.middles * made.scale).astype(np.float32)
    return Picture(made.ink, line.text, middles)


def _sheared(ink: Grey, em: float, dice: Dice) -> Grey:
    """Slanted, and rising or falling by a part of an em over the whole line."""
    height, width = ink.shape
    slant = float(dice.normal(0, 0.06)) if dice.random() < 0.7 else float(dice.uniform(0.1, 0.25))
    rise = float(np.clip(dice.normal(0, 0.12), -0.3, 0.3)) * em / width
    middle = height / 2
    turn = np.array([[1, -slant, slant * middle], [rise, 1, -rise * width / 2]], np.float32)
    return np.asarray(cv2.warpAffine(ink, turn, (width, height), flags=cv2.INTER_LINEAR), np.uint8)
