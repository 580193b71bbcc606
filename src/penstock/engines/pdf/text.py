"""Reads the words of a PDF page with their boxes and fonts, in the file's order.

The text comes in one call; a word then asks for its first and last characters only, because all
characters of one text object share baseline, font and size. Invisible text (what an OCR left
under a scan) is kept, text outside the page is not. A hyphen that ends a line stays. A glyph
without a meaning is U+FFFD, so that whoever judges the layer can count them.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from ctypes import byref, c_double, c_int
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pypdfium2.raw as raw

from penstock.box import Box
from penstock.engines.pdf import calls
from penstock.engines.pdf.calls import Placement
from penstock.region import Word

HYPHEN, UNKNOWN = "\x02", "\ufffd"
SECOND_HALF = "\x03"  # stands where PDFium has the second half of a character beyond the first 65,536
HYPHENS = f"{HYPHEN}\ufffe"  # what PDFium puts for a hyphen at the end of a line, joining the next to it
CONTROL = re.compile("[\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
WORD = re.compile(rf"[^\s\x00{HYPHENS}]+[{HYPHENS}]?|[{HYPHENS}]")
# Chinese, Japanese and Korean letters and their full-width forms: scripts that may run without spaces
CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{2}")  # Hebrew and Arabic letters
LOOSE_HEIGHT = 1.7  # of the size; fonts that claim more overlap the lines above and below
SAME_LINE = 0.1  # of the size: baselines that differ by more are of raised or lowered letters
SAME_SIZE = 0.12  # part by which sizes may differ in one word: rounding, not a superscript

BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|medi$|[-_, ]b$|^cm(bx|b\d|ssbx)|^sfbx|-bd|headline", re.IGNORECASE
)
ITALIC_NAME = re.compile(r"ital|obli|slanted|[-_, ]it$|^cm(ti|sl|mi|bxti)|^sf(ti|sl)", re.IGNORECASE)
FLAG_ITALIC, FLAG_FORCE_BOLD = 1 << 6, 1 << 18  # ISO 32000-1, table 123
BOLD_WEIGHT = range(700, 1001)  # PDFium derives it from the stem width; outside, the stem is invented
STROKED_FILL = 2  # text render mode: word processors fake bold by drawing the outline too


@dataclass(frozen=True, slots=True)
class _Style:
    """What all characters of one text object share."""

    font: str
    size: float
    bold: bool
    italic: bool
    loose: bool  # PDFium's loose boxes hold: the text is not turned, its font not stranger than most
    whole: bool = True  # false for a word of several objects: its first letter does not tell all heights


def read_words(page: Any, place: Placement) -> Iterator[Word]:
    """The page's words, each a run without spaces on one line."""
    textpage = raw.FPDFText_LoadPage(page)
    if not textpage:
        return
    try:
        yield from _WordReader(textpage, place).words()
    finally:
        raw.FPDFText_ClosePage(textpage)


class _WordReader:
    """Reads one page's characters, and asks PDFium about each object and font once."""

    def __init__(self, textpage: Any, place: Placement) -> None:
        self._handle = textpage
        self._page = calls.address_of(textpage)
        self._place = place
        self._scale = place.scale
        self._styles: dict[int, _Style] = {}
        self._fonts: dict[int, tuple[str, bool, bool]] = {}
        self._loose_shapes: dict[str, tuple[float, float]] = {}
        self._rect = raw.FS_RECTF()
        self._rect_ref = byref(self._rect)
        self._edges = [c_double() for _ in range(4)]
        self._edge_refs = [byref(edge) for edge in self._edges]

    def words(self) -> Iterator[Word]:
        text = self._text()
        place = self._place
        for match in WORD.finditer(text):
            for first, last, style in self._pieces(text, match.start(), match.end() - 1):
                word = self._word(text, first, last, style)
                if place.shows(word.box):
                    parts = () if style.whole else self._unlike(text, first, last)
                    yield replace(word, parts=parts) if parts else word

    def _word(self, text: str, first: int, last: int, style: _Style) -> Word:
        box = self._place.box(*self._bounds(first, last, style))
        said = self._with_ligatures(text[first : last + 1], first).replace(SECOND_HALF, "")
        if said[-1] in HYPHENS:
            said = said[:-1] + "-"
        size = (
            style.size if style.size >= 1 else box[3] - box[1]
        )  # some fonts hide their size in their glyphs
        return Word(
            text=said,
            box=box,
            font=style.font,
            size=size,
            bold=style.bold,
            italic=style.italic,
            baseline=self._usual_baseline(box, style) or self._baseline(first),
        )

    def _with_ligatures(self, said: str, first: int) -> str:
        """The word with the letters of one glyph in their order: PDFium turns lam-alef round to alef-lam."""
        if not RIGHT_TO_LEFT.search(said):
            return said
        places = range(first, first + len(said))
        glyphs = groupby(zip(places, said, strict=True), key=lambda one: self._tight_box(one[0]))
        written = ["".join(letter for _, letter in glyph) for _, glyph in glyphs]
        return "".join(glyph[::-1] if RIGHT_TO_LEFT.match(glyph) else glyph for glyph in written)

    def _baseline(self, index: int) -> float:
        """Where a letter stands, in pixels from the top."""
        return self._place.point(*self._origin(index))[1]

    def _origin(self, index: int) -> tuple[float, float]:
        calls.char_origin(self._page, index, *self._edge_refs[:2])
        return self._edges[0].value, self._edges[1].value

    def _unlike(self, text: str, first: int, last: int) -> tuple[Word, ...]:
        """The parts of a word whose letters have several sizes, fonts or baselines; none for other words."""
        starts: list[int] = []
        held: int | None = None
        style: _Style | None = None
        line = 0.0
        for index in range(first, last + 1):
            shape = calls.char_object(self._page, index)
            if shape == held:
                continue
            before, before_line = style, line
            held, style, line = shape, self._style(index, shape), self._baseline(index)
            if (
                before is None
                or not _alike(style, before)
                or abs(line - before_line) > SAME_LINE * style.size
            ):
                starts.append(index)
        if len(starts) < 2:
            return ()
        ends = [*(start - 1 for start in starts[1:]), last]
        return tuple(self._part(text, *ends_of) for ends_of in zip(starts, ends, strict=True))

    def _part(self, text: str, first: int, last: int) -> Word:
        style = self._style(first, calls.char_object(self._page, first))
        return self._word(text, first, last, _mixed(style, first, last))

    def _text(self) -> str:
        """All characters of the page, so that text[i] is PDFium's character i."""
        count = raw.FPDFText_CountChars(self._handle)
        if count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (2 * count + 2))()
        raw.FPDFText_GetText(self._handle, 0, count, buffer)
        text = bytes(buffer).decode("utf-16-le", "replace").split("\0", 1)[0]
        if len(text) == count and not CONTROL.search(text):
            return text
        # PDFium leaves some characters without a meaning out of its text, and counts rare ones twice
        return _rejoined([calls.char_code(self._page, index) for index in range(count)], self._char)

    def _char(self, index: int) -> str:
        """One character; U+FFFD for a glyph whose font does not say what it means."""
        code = calls.char_code(self._page, index)
        if 0xD800 <= code < 0xE000:  # half of a character without its other half
            return UNKNOWN
        if 0x20 <= code < 0x7F or 0xA0 <= code < 0x110000:
            return chr(code)
        if code == ord(HYPHEN):
            return HYPHEN if calls.char_is_hyphen(self._page, index) == 1 else UNKNOWN
        if code < 0x20:
            return chr(code) if calls.char_is_generated(self._page, index) == 1 else UNKNOWN
        # fonts that call themselves Latin-1 mean Windows-1252: curly quotes and dashes
        return bytes([code]).decode("cp1252", "replace") if code < 0xA0 else UNKNOWN

    def _pieces(self, text: str, first: int, last: int) -> Iterator[tuple[int, int, _Style]]:
        """Cuts a run where the line changes, or the size in text that has no spaces anyway."""
        held = calls.char_object(self._page, first)
        style = self._style(first, held)
        if first == last or calls.char_object(self._page, last) == held:
            yield first, last, style
            return
        start, begun = first, style
        for index in range(first + 1, last + 1):
            shape = calls.char_object(self._page, index)
            if shape == held:
                continue
            held, before, style = shape, style, self._style(index, shape)
            if self._parts(text, index, before, style):
                yield start, index - 1, _mixed(begun, start, index - 1)
                start, begun = index, style
        yield start, last, _mixed(begun, start, last)

    def _parts(self, text: str, index: int, before: _Style, after: _Style) -> bool:
        if CJK.match(text[index - 1]) or CJK.match(text[index]):
            larger = max(before.size, after.size)
            if abs(before.size - after.size) > SAME_SIZE * larger:
                return True
        return before.loose and after.loose and self._line_changes(index)

    def _line_changes(self, index: int) -> bool:
        _, low, _, high = self._loose_box(index - 1)
        _, next_low, _, next_high = self._loose_box(index)
        return next_high <= low or next_low >= high

    def _bounds(self, first: int, last: int, style: _Style) -> Box:
        """Left, bottom, right, top of characters first..last, in points."""
        char_box = self._loose_box if style.loose else self._tight_box
        left, bottom, right, top = char_box(first)
        # one object's letters share their loose height; all are asked where that does not hold
        for index in range(first + 1, last + 1) if not style.whole else (last,):
            x0, y0, x1, y1 = char_box(index)
            left, bottom, right, top = min(left, x0), min(bottom, y0), max(right, x1), max(top, y1)
        return left, bottom, right, top

    def _loose_box(self, index: int) -> Box:
        """As high as the font, as wide as the letter's step: what lines are built from."""
        rect = self._rect
        calls.char_loose_box(self._page, index, self._rect_ref)
        left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
        if right > left and top > bottom:
            return left, bottom, right, top
        return self._tight_box(index)

    def _tight_box(self, index: int) -> Box:
        """The ink's box, where the loose one is wrong."""
        calls.char_tight_box(self._page, index, *self._edge_refs)
        left, right, bottom, top = (edge.value for edge in self._edges)
        return min(left, right), min(bottom, top), max(left, right), max(bottom, top)

    def _style(self, index: int, shape: int) -> _Style:
        style = self._styles.get(shape)
        if style is None:
            style = self._styles[shape] = self._read_style(index, shape)
        return style

    def _read_style(self, index: int, shape: int | None) -> _Style:
        matrix = raw.FS_MATRIX()
        calls.char_matrix(self._page, index, byref(matrix))
        size = calls.char_font_size(self._page, index) * math.hypot(matrix.c, matrix.d) * self._scale
        level = abs(matrix.b) <= 0.02 * abs(matrix.a)
        loose = level and self._loose_height(index) <= LOOSE_HEIGHT * size
        if not shape:
            return _Style("", size, False, False, loose, whole=loose)
        font = calls.text_font(shape)
        name, bold, italic = self._font(font)
        bold = bold or calls.text_render_mode(shape) == STROKED_FILL
        slanted = level and abs(matrix.c) > 0.1 * abs(matrix.d)  # faked by shearing the letters
        if loose and name not in self._loose_shapes and calls.char_code(self._page, index) < 0x250:
            self._loose_shapes[name] = self._loose_shape(index, size)
        return _Style(name, size, bold, italic or slanted, loose, whole=loose)

    def _loose_shape(self, index: int, size: float) -> tuple[float, float]:
        """Height of the font's loose boxes, and how far they reach below the baseline, of the size."""
        _, bottom, _, top = self._loose_box(index)
        scale = self._scale / max(size, 1e-6)
        return (top - bottom) * scale, (self._origin(index)[1] - bottom) * scale

    def _usual_baseline(self, box: Box, style: _Style) -> float | None:
        """The baseline by the box, where that is the font's usual one: asking PDFium takes much longer."""
        height, drop = self._loose_shapes.get(style.font, (0.0, 0.0))
        if not style.whole or abs(box[3] - box[1] - height * style.size) > 0.02 * style.size:
            return None
        return box[3] - drop * style.size

    def _loose_height(self, index: int) -> float:
        _, bottom, _, top = self._loose_box(index)
        return (top - bottom) * self._scale

    def _font(self, font: int | None) -> tuple[str, bool, bool]:
        if not font:
            return "", False, False
        known = self._fonts.get(font)
        if known is None:
            known = self._fonts[font] = _read_font(font)
        return known


def _rejoined(codes: list[int], char: Callable[[int], str]) -> str:
    """The characters, those in two halves as one and a sign that keeps the count."""
    found: list[str] = []
    for index, code in enumerate(codes):
        after = codes[index + 1] if index + 1 < len(codes) else 0
        if found and found[-1] > "\uffff" and 0xDC00 <= code < 0xE000:
            found.append(SECOND_HALF)
        elif 0xD800 <= code < 0xDC00 <= after < 0xE000:
            found.append(chr(0x10000 + ((code - 0xD800) << 10) + (after - 0xDC00)))
        else:
            found.append(char(index))
    return "".join(found)


def _alike(one: _Style, other: _Style) -> bool:
    return one.font == other.font and abs(one.size - other.size) <= SAME_SIZE * max(one.size, other.size)


def _mixed(style: _Style, first: int, last: int) -> _Style:
    """The style of a word whose letters come from several objects: its first, box by box."""
    return replace(style, whole=False) if last > first else style


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
