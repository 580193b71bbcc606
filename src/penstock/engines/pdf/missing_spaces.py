"""Measures the gaps between the letters of a run, and finds the spaces that PDFium did not see in them."""

from __future__ import annotations

import re
from itertools import pairwise

from penstock.engines.pdf.letters import SAME_LINE, SAME_SIZE, Letters, Style
from penstock.engines.pdf.word_gaps import MIN_GAP, cuts
from penstock.region import Word

MIN_RUN = 4  # of two words: shorter runs are not searched
WIDER = 0.7 * MIN_GAP  # of the size: a run this much wider than its letters may hold a gap, kerned as it is
# fonts of formulas, whose letters stand apart without being words
FORMULA_FONT = re.compile(r"^(cm|lm|eu|rm|px|tx)(mi|sy|ex|bsy)|math|^ms[ab]m|symbol", re.IGNORECASE)


def may_hold_space(word: Word, style: Style) -> bool:
    """Whether a word is wider than its letters by more than kerning."""
    text, (left, top, right, bottom) = word.text, word.box
    if len(text) < MIN_RUN or not style.loose:
        return False
    width = max(right - left, bottom - top)  # words of a page that lies on its side run upwards
    letters = style.width or style.size * sum(map(style.widths.__getitem__, text))
    return width > letters + WIDER * style.size


def missing_spaces(letters: Letters, text: str, first: int, last: int, style: Style) -> list[int]:
    """Returns the letters of the run first..last, apart from its first, at which a word begins."""
    gaps = _gaps(letters, text, first, last, style)
    if max(gaps) < MIN_GAP:
        return []
    space = _space_beside(letters, text, first, last)
    return [first + place for place in cuts(text[first : last + 1], gaps, space)]


def _gaps(letters: Letters, text: str, first: int, last: int, style: Style) -> list[float]:
    """The room between neighbours in parts of the size: 0 where it shows nothing of spaces."""
    run = range(first, last + 1)
    styles = [style] * len(run) if style.whole else [letters.style_at(index) for index in run]
    pens = [letters.origin(index) for index in run]
    gaps: list[float] = []
    for place, (one, other) in enumerate(pairwise(styles)):
        here, after = pens[place], pens[place + 1]
        gap = (after[0] - here[0]) * letters.scale / max(one.size, 1e-6) - one.widths[text[first + place]]
        if here == after or (place > 0 and here == pens[place - 1]):
            gap = 0.0  # letters of one ligature, whose width no letter has
        elif gap >= MIN_GAP:
            rise = abs(after[1] - here[1]) * letters.scale
            is_level = rise <= SAME_LINE * one.size and _are_alike(one, other)
            gap = min(gap, _room(letters, first + place, one.size)) if is_level else 0.0
        gaps.append(gap)
    return gaps


def _room(letters: Letters, index: int, size: float) -> float:
    """The gap after a letter by its box: some fonts state widths that their files do not use."""
    return (letters.origin(index + 1)[0] - letters.loose_box(index)[2]) * letters.scale / max(size, 1e-6)


def _are_alike(one: Style, other: Style) -> bool:
    """Returns whether neighbouring letters have one size, and none is of a formula's font."""
    if FORMULA_FONT.search(one.font) or FORMULA_FONT.search(other.font):
        return False
    return abs(one.size - other.size) <= SAME_SIZE * max(one.size, other.size)


def _space_beside(letters: Letters, text: str, first: int, last: int) -> float | None:
    """The narrowest space before and after a run on its line, in parts of the size."""
    spaces: list[float] = []
    for before, after in ((first - 2, first), (last, last + 2)):
        if before >= 0 and after < len(text) and text[before + 1] == " " and not text[before].isspace():
            style = letters.style_at(before)
            steps = (letters.origin(after)[0] - letters.origin(before)[0]) * letters.scale
            spaces.append(steps / max(style.size, 1e-6) - style.widths[text[before]])
    return min((space for space in spaces if space > 0), default=None)
