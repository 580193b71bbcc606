"""Draws lines of other scripts as documents show them, with what stands around a line."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from drawing import Drawn, Picture, cut_out
from script_signs import ALIKE, DROPPED, is_known
from shaping import GlyphMask, Placed, ScriptFace, can_draw, mask, set_line

from penstock.engines.ocr.hangul_picture import SCRIPTS_HEIGHT, prepared
from penstock.engines.ocr.visual_order import turned

Dice = np.random.Generator
TRACKED = frozenset(("cyrillic", "greek", "hebrew", "thai"))  # letters of the others hang together
FINEST = 72.0  # pixels an em at which small glyphs are drawn before they are shrunk
TRIES = 3


def script_faces(folder: Path, unpacked: Path) -> list[ScriptFace]:
    """The faces that script_prepare.py packed, unpacked into a folder."""
    if not unpacked.is_dir():
        with zipfile.ZipFile(folder / "fonts.zip") as packed:
            packed.extractall(unpacked)
    return [
        ScriptFace(
            told["family"],
            told["script"],
            tuple(unpacked / name for name in told["files"]),
            told["share"],
            told["test"],
        )
        for told in json.loads((folder / "fonts.json").read_text())
    ]


@dataclass(frozen=True)
class ScriptStyle:
    """How the lines of a sheet are set."""

    face: ScriptFace
    em: float
    tracking: float  # of an em, between characters
    stretch: float  # of widths
    space: float  # of a space's own width
    masks: dict[tuple[Path, int], GlyphMask]

    @property
    def finer(self) -> int:
        """How many times too large glyphs are drawn."""
        return max(2, round(FINEST / self.em))

    def mask(self, placed: Placed) -> GlyphMask:
        key = (placed.file, placed.glyph)
        if key not in self.masks:
            self.masks[key] = mask(*key, self.em * self.finer)
        return self.masks[key]


def script_style(faces: list[ScriptFace], latin: list[Path], dice: Dice) -> ScriptStyle:
    """A style in one of the faces; sometimes with another family's Latin letters."""
    shares = np.cumsum([face.share for face in faces])
    face = faces[int(np.searchsorted(shares, dice.random() * shares[-1]))]
    if latin and dice.random() < 0.2:
        face = replace(face, files=(*face.files[:-1], latin[int(dice.integers(len(latin)))]))
    em = float(np.exp(dice.uniform(np.log(13), np.log(46))))
    tracking = 0.0
    if face.script in TRACKED and dice.random() < 0.4:
        tracking = float(dice.normal(-0.005, 0.015)) if dice.random() < 0.75 else float(dice.uniform(0, 0.15))
    stretch = 1.0 if dice.random() < 0.65 else float(dice.uniform(0.82, 1.12))
    return ScriptStyle(face, em, tracking, stretch, float(dice.uniform(0.7, 1.5)), {})


def script_drawn(text: str, how: ScriptStyle, most: float, dice: Dice) -> Drawn | None:
    """The text in a style, as much of it as fits into so many pixels; None if that is nothing."""
    text = " ".join("".join(sign for sign in text if is_known(sign) and can_draw(how.face, sign)).split())
    for _ in range(TRIES):
        seen, order = turned(text)
        line = set_line(text, how.face, order, how.tracking, how.space)
        width = line.width * how.em * how.stretch
        if width <= most:
            break
        text = _shorter(text, int(len(text) * 0.97 * most / width))
    else:
        return None
    if not seen.strip():
        return None
    kept = [number for number, sign in enumerate(seen) if ord(sign) not in DROPPED]
    middles = np.array([line.middles[order[number]] for number in kept], np.float32)
    label = "".join(seen[number] for number in kept).translate(ALIKE)
    return _inked(line.glyphs, line.width, label, middles, how, dice)


def _shorter(text: str, length: int) -> str:
    """The start of a text, up to a space if there is one near, and without half a letter at its end."""
    cut = text[:length]
    at = cut.rfind(" ")
    if at > 0.6 * length:
        return cut[:at]
    while length and length < len(text) and not text[length].isalpha() and text[length] != " ":
        length -= 1  # marks would be torn off their letters
    return text[:length].strip()


def _inked(
    glyphs: list[Placed],
    width: float,
    label: str,
    middles: np.ndarray,
    how: ScriptStyle,
    dice: Dice,
) -> Drawn | None:
    finer, em = how.finer, how.em
    size = em * finer
    placed = [(how.mask(glyph), glyph) for glyph in glyphs]
    shown = [
        (found.ink, round(glyph.x * size) + found.left, round(-glyph.y * size) + found.top)
        for found, glyph in placed
        if found.ink.size
    ]
    if not shown:
        return None
    top, bottom = min(y for _, _, y in shown), max(y + len(ink) for ink, _, y in shown)
    before = em * float(dice.uniform(0.05, 0.6))
    room, start = int(em), round(before * finer / how.stretch)
    low, high = (-(-value // finer) * finer for value in (max(0, -min(x for _, x, _ in shown)), bottom - top))
    total = int(before + low / finer + width * em * how.stretch + em * dice.uniform(0.05, 0.8)) + 4
    canvas = np.zeros((high + 2 * room * finer, round(total * finer / how.stretch)), np.uint8)
    for ink, x, y in shown:
        row, column = room * finer + y - top, start + low + x
        part = canvas[row : row + len(ink), column : column + ink.shape[1]]
        np.maximum(part, ink[: part.shape[0], : part.shape[1]], out=part)
    made = cv2.resize(canvas, (total, len(canvas) // finer), interpolation=cv2.INTER_AREA)
    columns = (start + low) / finer * how.stretch + middles * em * how.stretch
    marked = np.where(middles < 0, -1, columns).astype(np.float32)
    return Drawn(np.asarray(made, np.uint8), label, marked, room, room + high // finer)


def script_picture(line: Drawn, em: float, dice: Dice, spoil: bool = True) -> Picture:
    """The line cut out and prepared as the reader prepares it."""
    made = prepared(cut_out(line, em, dice, spoil), SCRIPTS_HEIGHT, small_marks=True)
    middles = np.where(line.middles < 0, -1, line.middles * made.scale).astype(np.float32)
    return Picture(made.ink, line.text, middles)
