"""The signs of a formula with their places, before anything is known of how they belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.box import Box
from penstock.documents.formulas.signs import (
    ACCENTS,
    CLOSING,
    INTEGRALS,
    OPENING,
    OPERATORS,
    RADICAL,
    WITH_LIMITS,
    UnknownSign,
    as_latex,
    in_plain_signs,
)
from penstock.region import Word

AXIS = 0.25  # of the size: fraction bars and tall signs are centred so far above the baseline
RISE, FALL = 0.75, 0.25  # of the size: how far letters reach above and below their baseline
TALL = 1.25  # times the other signs' size: a bracket so tall holds something
BARS = frozenset("|∣‖∥")


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign, some signs on one baseline, or a finished part such as a fraction. In pixels, y downwards."""

    latex: str
    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    baseline: float
    size: float

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def has_limits(self) -> bool:
        """Whether what stands right above or below it are its bounds."""
        return self.text in OPERATORS or self.text in WITH_LIMITS

    @property
    def is_fence(self) -> bool:
        return self.text in OPENING or self.text in CLOSING or self.text in BARS

    @property
    def is_plain(self) -> bool:
        """Whether its own baseline says which row it is of: no finished part, nothing centred on the axis."""
        return bool(self.text) and not self.is_drawn_round_the_axis

    @property
    def is_drawn_round_the_axis(self) -> bool:
        return self.text in OPERATORS or self.text in INTEGRALS or self.is_fence or self.text == RADICAL


def marks_of(words: Sequence[Word]) -> list[Mark]:
    """The signs of these words. Raises UnknownSign."""
    marks = [_mark(part) for word in words for part in _parts(word)]
    return _levelled(_accented(marks))


def bars_of(strokes: Iterable[Box], box: Box) -> list[Box]:
    """The level strokes inside a formula's box, shortest first."""
    left, top, right, bottom = box
    inside = [
        stroke
        for stroke in strokes
        if left - 4 <= stroke[0]
        and stroke[2] <= right + 4
        and top - 4 <= stroke[1]
        and stroke[3] <= bottom + 4
    ]
    level = [stroke for stroke in inside if stroke[2] - stroke[0] > 3 * (stroke[3] - stroke[1])]
    return sorted(level, key=lambda stroke: stroke[2] - stroke[0])


def _parts(word: Word) -> Iterator[Word]:
    """What has one baseline and one size; brackets at a part's ends stand alone, for they may be tall."""
    for part in word.parts or (word,):
        text = in_plain_signs(part.text, part.font)
        alone = len(text) == 1 or not any(sign in OPERATORS or sign in INTEGRALS for sign in text)
        if alone:
            yield replace(part, text=text)
            continue
        width = (part.box[2] - part.box[0]) / len(text)
        for number, sign in enumerate(text):
            x0 = part.box[0] + number * width
            yield replace(part, text=sign, box=(x0, part.box[1], x0 + width, part.box[3]))


def _mark(part: Word) -> Mark:
    x0, top, x1, bottom = part.box
    latex = as_latex(part.text, part.font, italic=part.italic, bold=part.bold)
    return Mark(latex, part.text, x0, x1, top, bottom, part.baseline, part.size)


def _accented(marks: list[Mark]) -> list[Mark]:
    """The marks with each accent on the letter that it stands over. Raises UnknownSign if there is none."""
    letters = [mark for mark in marks if mark.text not in ACCENTS]
    for accent in marks:
        if accent.text not in ACCENTS:
            continue
        under = [at for at, mark in enumerate(letters) if mark.x0 <= accent.middle <= mark.x1]
        if not under:
            raise UnknownSign(accent.text)
        at = min(under, key=lambda one: abs(letters[one].baseline - accent.baseline))
        letters[at] = _with_accent(letters[at], accent)
    return letters


def _with_accent(mark: Mark, accent: Mark) -> Mark:
    """Puts the accent on the letter under it, each letter being as wide as the others."""
    tokens = mark.latex.split(" ")
    at = int((accent.middle - mark.x0) / max(mark.x1 - mark.x0, 1e-6) * len(tokens))
    at = min(at, len(tokens) - 1)
    tokens[at] = f"{accent.latex}{{{tokens[at]}}}"
    return replace(mark, latex=" ".join(tokens))


def _levelled(marks: list[Mark]) -> list[Mark]:
    """Signs get the height of their ink, and those centred on the axis the baseline that belongs to it."""
    plain = [mark.size for mark in marks if not mark.is_drawn_round_the_axis] or [mark.size for mark in marks]
    size = max(plain, default=0.0)
    return [_on_the_axis(mark, size) if _is_tall(mark, size) else _with_ink_height(mark) for mark in marks]


def _is_tall(mark: Mark, size: float) -> bool:
    if not mark.is_drawn_round_the_axis:
        return False
    is_always = mark.text in OPERATORS or mark.text == RADICAL
    return is_always or mark.size > TALL * size or mark.bottom - mark.top > 2 * size


def _on_the_axis(mark: Mark, size: float) -> Mark:
    return replace(mark, size=size, baseline=(mark.top + mark.bottom) / 2 + AXIS * size)


def _with_ink_height(mark: Mark) -> Mark:
    return replace(mark, top=mark.baseline - RISE * mark.size, bottom=mark.baseline + FALL * mark.size)


def joined(marks: list[Mark], parts: list[Mark], latex: str, baseline: float) -> list[Mark]:
    """Returns the marks with these parts made one, whose LaTeX holds all their signs."""
    whole = Mark(
        latex,
        "",
        min(part.x0 for part in parts),
        max(part.x1 for part in parts),
        min(part.top for part in parts),
        max(part.bottom for part in parts),
        baseline,
        max(part.size for part in parts),
    )
    return [mark for mark in marks if not any(mark is part for part in parts)] + [whole]
