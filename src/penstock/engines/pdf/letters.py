"""Queries PDFium about the characters of one page: the place of each, its box, and the style of its object.

A page has thousands of characters: PDFium is asked about each object, font and letter's width once.
"""

from __future__ import annotations

import ctypes
import math
import re
from ctypes import byref, c_double, c_float, c_int
from dataclasses import dataclass

import pypdfium2.raw as raw

from penstock.box import Box
from penstock.engines.pdf import calls
from penstock.engines.pdf.calls import Placement

SAME_LINE = 0.1  # of the size: baselines that differ by more are of raised or lowered letters
SAME_SIZE = 0.12  # part by which sizes may differ in one word: rounding, not a superscript
LOOSE_HEIGHT = 1.7  # of the size; fonts that claim more overlap the lines above and below

BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|medi$|[-_, ]b$|^cm(bx|b\d|ssbx)|^sfbx|-bd|headline", re.IGNORECASE
)
ITALIC_NAME = re.compile(r"ital|obli|slanted|[-_, ]it$|^cm(ti|sl|mi|bxti)|^sf(ti|sl)", re.IGNORECASE)
FLAG_ITALIC, FLAG_FORCE_BOLD = 1 << 6, 1 << 18  # ISO 32000-1, table 123
BOLD_WEIGHT = range(700, 1001)  # PDFium derives it from the stem width; outside, the stem is invented
STROKED_FILL = 2  # text render mode: word processors fake bold by drawing the outline too


class LetterWidths(dict[str, float]):
    """The steps of a font's letters in parts of the size, before a file moves them; 0 for what it has not."""

    def __init__(self, font: int | None, stretch: float) -> None:
        super().__init__()
        self._font = font
        self._stretch = stretch  # how much wider than high the letters are drawn
        self._syllable = 0.0  # Hangul's are all of one width, and too many to ask for each

    def __missing__(self, char: str) -> float:
        if self._syllable and "\uac00" <= char <= "\ud7a3":
            self[char] = self._syllable
            return self._syllable
        width = c_float()
        if self._font:
            calls.font_width(self._font, ord(char), 1.0, byref(width))
        found = self[char] = width.value * self._stretch
        if "\uac00" <= char <= "\ud7a3":
            self._syllable = found
        return found


@dataclass(frozen=True, slots=True)
class Style:
    """What all characters of one text object share."""

    font: str
    size: float
    bold: bool
    italic: bool
    loose: bool  # PDFium's loose boxes hold: the text is not turned, its font not stranger than most
    widths: LetterWidths
    whole: bool = True  # false for a word of several objects: its first letter does not tell all heights
    width: float = 0.0  # of such a word, as its letters' widths add up, in pixels


class Letters:
    """The characters of one page, by their number in PDFium's text."""

    def __init__(self, page: int, place: Placement) -> None:
        self._page = page
        self._place = place
        self.scale = place.scale
        self._styles: dict[int | None, Style] = {}
        self._widths: dict[tuple[int | None, float], LetterWidths] = {}
        self._fonts: dict[int, tuple[str, bool, bool]] = {}
        self._loose_shapes: dict[str, tuple[float, float]] = {}
        self._rect = raw.FS_RECTF()
        self._rect_ref = byref(self._rect)
        self._edges = [c_double() for _ in range(4)]
        self._edge_refs = [byref(edge) for edge in self._edges]
        self._x, self._y = self._edges[:2]
        self._x_ref, self._y_ref = self._edge_refs[:2]

    def loose_box(self, index: int) -> Box:
        """As high as the font, as wide as the letter's step: what lines are built from."""
        rect = self._rect
        calls.char_loose_box(self._page, index, self._rect_ref)
        left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
        if right > left and top > bottom:
            return left, bottom, right, top
        return self.tight_box(index)

    def tight_box(self, index: int) -> Box:
        """The ink's box, where the loose one is wrong."""
        calls.char_tight_box(self._page, index, *self._edge_refs)
        left, right, bottom, top = (edge.value for edge in self._edges)
        return min(left, right), min(bottom, top), max(left, right), max(bottom, top)

    def origin(self, index: int) -> tuple[float, float]:
        """Returns the place of the pen for a letter, in points."""
        calls.char_origin(self._page, index, self._x_ref, self._y_ref)
        return self._x.value, self._y.value

    def baseline(self, index: int) -> float:
        """Returns the place of a letter, in pixels from the top."""
        return self._place.point(*self.origin(index))[1]

    def style_at(self, index: int) -> Style:
        return self.style(index, calls.char_object(self._page, index))

    def style(self, index: int, shape: int | None) -> Style:
        """The style of a letter whose text object lies at the address `shape`."""
        style = self._styles.get(shape)
        if style is None:
            style = self._styles[shape] = self._read_style(index, shape)
        return style

    def _read_style(self, index: int, shape: int | None) -> Style:
        matrix = raw.FS_MATRIX()
        calls.char_matrix(self._page, index, byref(matrix))
        size = calls.char_font_size(self._page, index) * math.hypot(matrix.c, matrix.d) * self.scale
        level = abs(matrix.b) <= 0.02 * abs(matrix.a)
        loose = level and self._loose_height(index) <= LOOSE_HEIGHT * size
        if not shape:
            return Style("", size, False, False, loose, LetterWidths(None, 1.0), whole=loose)
        font = calls.text_font(shape)
        name, bold, italic = self._font(font)
        bold = bold or calls.text_render_mode(shape) == STROKED_FILL
        slanted = level and abs(matrix.c) > 0.1 * abs(matrix.d)  # faked by shearing the letters
        if loose and name not in self._loose_shapes and calls.char_code(self._page, index) < 0x250:
            self._loose_shapes[name] = self._loose_shape(index, size)
        widths = self._widths_of(font, abs(matrix.a / matrix.d) if matrix.d else 1.0)
        return Style(name, size, bold, italic or slanted, loose, widths, whole=loose)

    def _widths_of(self, font: int | None, stretch: float) -> LetterWidths:
        key = font, round(stretch, 3)
        widths = self._widths.get(key)
        if widths is None:
            widths = self._widths[key] = LetterWidths(*key)
        return widths

    def _loose_shape(self, index: int, size: float) -> tuple[float, float]:
        """Height of the font's loose boxes, and how far they reach below the baseline, of the size."""
        _, bottom, _, top = self.loose_box(index)
        scale = self.scale / max(size, 1e-6)
        return (top - bottom) * scale, (self.origin(index)[1] - bottom) * scale

    def usual_baseline(self, box: Box, style: Style) -> float | None:
        """The baseline by the box, where that is the font's usual one: asking PDFium takes much longer."""
        height, drop = self._loose_shapes.get(style.font, (0.0, 0.0))
        if not style.whole or abs(box[3] - box[1] - height * style.size) > 0.02 * style.size:
            return None
        return box[3] - drop * style.size

    def _loose_height(self, index: int) -> float:
        _, bottom, _, top = self.loose_box(index)
        return (top - bottom) * self.scale

    def _font(self, font: int | None) -> tuple[str, bool, bool]:
        if not font:
            return "", False, False
        known = self._fonts.get(font)
        if known is None:
            known = self._fonts[font] = _read_font(font)
        return known


def _read_font(font: int) -> tuple[str, bool, bool]:
    """Name without its subset tag, bold, italic."""
    buffer = ctypes.create_string_buffer(256)
    calls.font_name(font, buffer, len(buffer))
    name = re.sub(r"^[A-Z]{6}\+", "", buffer.value.decode("utf-8", "replace"))
    flags, angle = max(0, calls.font_flags(font)), c_int()
    calls.font_italic_angle(font, byref(angle))
    bold = bool(BOLD_NAME.search(name) or flags & FLAG_FORCE_BOLD or calls.font_weight(font) in BOLD_WEIGHT)
    italic = bool(ITALIC_NAME.search(name) or flags & FLAG_ITALIC or angle.value != 0)
    return name, bold, italic
