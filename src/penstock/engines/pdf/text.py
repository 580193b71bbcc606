"""Reads the words of a PDF page with their boxes and fonts, in the file's order.

The text comes in one call; a word then needs its first and last characters only, because all
characters of one text object share baseline, font and size. Invisible text (what an OCR left
under a scan) is kept, text outside the page is not. A hyphen that ends a line stays. A glyph
without a meaning is U+FFFD, so that the judge of the layer can count them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pypdfium2.raw as raw

from penstock.box import Box
from penstock.engines.pdf import calls
from penstock.engines.pdf.calls import Placement
from penstock.engines.pdf.letters import SAME_LINE, SAME_SIZE, Letters, Style
from penstock.engines.pdf.missing_spaces import may_hold_space, missing_spaces
from penstock.region import Word

HYPHEN, UNKNOWN = "\x02", "\ufffd"
SECOND_HALF = "\x03"  # in place of the second half of a character beyond the first 65,536
HYPHENS = f"{HYPHEN}\ufffe"  # what PDFium puts for a hyphen at the end of a line, joining the next to it
CONTROL = re.compile("[\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
WORD = re.compile(rf"[^\s\x00{HYPHENS}]+[{HYPHENS}]?|[{HYPHENS}]")
# Chinese, Japanese and Korean letters and their full-width forms: scripts that may run without spaces
CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{2}")  # Hebrew and Arabic letters


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
    """Reads one page's characters, and queries PDFium about each object and font once."""

    def __init__(self, textpage: Any, place: Placement) -> None:
        self._handle = textpage
        self._page = calls.address_of(textpage)
        self._place = place
        self._letters = Letters(self._page, place)

    def words(self) -> Iterator[Word]:
        text = self._text()
        for match in WORD.finditer(text):
            for first, last, style in self._pieces(text, match.start(), match.end() - 1):
                word = self._word(text, first, last, style)
                held = may_hold_space(word, style)
                begins = missing_spaces(self._letters, text, first, last, style) if held else ()
                if begins:
                    yield from self._apart(text, [first, *begins], last, style)
                elif self._place.shows(word.box):
                    yield word if style.whole else self._with_parts(text, first, last, word)

    def _apart(self, text: str, begins: Sequence[int], last: int, run: Style) -> Iterator[Word]:
        """The words of a run that PDFium took for one."""
        for first, after in zip(begins, [*begins[1:], last + 1], strict=True):
            own = self._letters.style_at(first)
            word = self._word(text, first, after - 1, replace(own, whole=own.whole and run.whole))
            if self._place.shows(word.box):
                yield word if run.whole else self._with_parts(text, first, after - 1, word)

    def _with_parts(self, text: str, first: int, last: int, word: Word) -> Word:
        parts = self._unlike(text, first, last)
        return replace(word, parts=parts) if parts else word

    def _word(self, text: str, first: int, last: int, style: Style) -> Word:
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
            baseline=self._letters.usual_baseline(box, style) or self._letters.baseline(first),
        )

    def _with_ligatures(self, said: str, first: int) -> str:
        """The word with the letters of one glyph in their order: PDFium turns lam-alef round to alef-lam."""
        if not RIGHT_TO_LEFT.search(said):
            return said
        places = range(first, first + len(said))
        glyphs = groupby(zip(places, said, strict=True), key=lambda one: self._letters.tight_box(one[0]))
        written = ["".join(letter for _, letter in glyph) for _, glyph in glyphs]
        return "".join(glyph[::-1] if RIGHT_TO_LEFT.match(glyph) else glyph for glyph in written)

    def _unlike(self, text: str, first: int, last: int) -> tuple[Word, ...]:
        """The parts of a word whose letters have several sizes, fonts or baselines; none for other words."""
        starts: list[int] = []
        held: int | None = None
        style: Style | None = None
        line = 0.0
        for index in range(first, last + 1):
            shape = calls.char_object(self._page, index)
            if shape == held:
                continue
            before, before_line = style, line
            held, style, line = shape, self._letters.style(index, shape), self._letters.baseline(index)
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
        style = self._letters.style_at(first)
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
        return rejoined([calls.char_code(self._page, index) for index in range(count)], self._char)

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

    def _pieces(self, text: str, first: int, last: int) -> Iterator[tuple[int, int, Style]]:
        """Cuts a run where the line changes, or the size in text that has no spaces anyway."""
        held = calls.char_object(self._page, first)
        style = self._letters.style(first, held)
        if first == last or calls.char_object(self._page, last) == held:
            yield first, last, style
            return
        start, begun, width = first, style, 0.0
        for index in range(first + 1, last + 1):
            width += style.size * style.widths[text[index - 1]]
            shape = calls.char_object(self._page, index)
            if shape == held:
                continue
            held, before, style = shape, style, self._letters.style(index, shape)
            if self._parts(text, index, before, style):
                yield start, index - 1, _mixed(begun, start, index - 1, width)
                start, begun, width = index, style, 0.0
        yield start, last, _mixed(begun, start, last, width + style.size * style.widths[text[last]])

    def _parts(self, text: str, index: int, before: Style, after: Style) -> bool:
        if CJK.match(text[index - 1]) or CJK.match(text[index]):
            larger = max(before.size, after.size)
            if abs(before.size - after.size) > SAME_SIZE * larger:
                return True
        return before.loose and after.loose and self._line_changes(index)

    def _line_changes(self, index: int) -> bool:
        _, low, _, high = self._letters.loose_box(index - 1)
        _, next_low, _, next_high = self._letters.loose_box(index)
        return next_high <= low or next_low >= high

    def _bounds(self, first: int, last: int, style: Style) -> Box:
        """Left, bottom, right, top of characters first..last, in points."""
        char_box = self._letters.loose_box if style.loose else self._letters.tight_box
        left, bottom, right, top = char_box(first)
        # one object's letters share their loose height; all are asked where that does not hold
        for index in range(first + 1, last + 1) if not style.whole else (last,):
            x0, y0, x1, y1 = char_box(index)
            left, bottom, right, top = min(left, x0), min(bottom, y0), max(right, x1), max(top, y1)
        return left, bottom, right, top


def rejoined(codes: list[int], char: Callable[[int], str]) -> str:
    """Returns the characters, those in two halves as one and a sign that keeps the count."""
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


def _alike(one: Style, other: Style) -> bool:
    return one.font == other.font and abs(one.size - other.size) <= SAME_SIZE * max(one.size, other.size)


def _mixed(style: Style, first: int, last: int, width: float = 0.0) -> Style:
    """The style of a word whose letters come from several objects: its first, box by box."""
    return replace(style, whole=False, width=width) if last > first else style
