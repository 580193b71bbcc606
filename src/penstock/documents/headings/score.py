"""Weighs whether lines of a text layer are a heading: their type, the white around them, their words.

The weights are a logistic regression that benchmarks/quality/fit_headings.py fits (2026-11-20, 2,945 runs of
236 pages in 45 documents of four sources). What no sign of theirs tells is left to by_wording.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeGuard

from penstock.box import Box, Pixels, enclosing
from penstock.documents.headings.by_wording import COLONS, is_no_heading_by_words
from penstock.documents.headings.ink import Ink
from penstock.documents.layout.labels import CAPTION, LEADER, NOTE_SIZE, PageFacts
from penstock.documents.text.blocks import Fragment
from penstock.documents.text.code import is_typed
from penstock.region import HEADING_LABELS, Word

MAX_LINES, MAX_LETTERS = 5, 250  # of a heading
SAME_SIZE = 0.05  # share by which sizes differ within one type
LARGER = 1.06  # times the body's type
BODY_SHARE = 0.9  # of the letters of running text are no larger than the body's type
RAISED = 0.8  # of the size: figures that mark a name
ALL, SOME = 0.95, 0.1  # of the letters: a line is bold, has bold words
BOLD_BODY = 0.4  # of a page's letters: where so many are bold, bold tells nothing
HEAVY = 0.2  # of the ink's logarithm: bold in a font whose name does not say so
NEAR = 0.4  # of the size: more white than usual parts two texts
TOP, FOOT = 0.08, 0.92  # of the page's height
WHITE = (-0.5, 2.0)  # of the size, beside the usual: less and more say no more
BULLET = re.compile(r"^[•‣◦▪■□◆◇○●▶►➢✓✔※∙◾▷·]|^[-–—*]\s")
_SENTENCES = re.compile(r"[^\W\d]{2}\s?[.!?。！？]\s+[^\W\d]")
_LETTER = re.compile(r"[^\W\d_]")
_ENDS = (".", "。", "!", "?", "！", "？", *COLONS)

WEIGHTS: Mapping[str, float] = {
    "seen as a heading": 2.01,
    "seen in the margin": -0.27,
    "larger": 4.46,
    "other font": 0.66,
    "bold": 2.84,
    "partly bold": -1.85,
    "heavier": 0.41,
    "white above": 1.25,
    "white below": 0.39,
    "goes on in bold": -2.37,
    "in a sentence": -0.80,
    "over small type": -1.23,
    "at the top": -3.37,
    "at the foot": -2.93,
    "begins small": -3.37,
    "bullet": -0.93,
    "caption": -0.89,
    "sentences": -1.50,
    "long": -1.77,
}
BIAS = -5.50
# Bounds: where each source is told by the weights of the others, mean F1 is .951 and precision .920, and with
# zero for all .947 and .937. What the network takes for a heading in a type of its own stays one unless
# it clearly is none: the network is right in .92 of them, and sees designs that these sources have not.
SEEN, UNSEEN = -2.0, -0.7


@dataclass(frozen=True, slots=True)
class TextRun:
    """Lines of one type, one under the other, and the label of the region that holds them."""

    lines: tuple[Fragment, ...]
    label: str

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def box(self) -> Box:
        return enclosing([line.box for line in self.lines])

    @property
    def size(self) -> float:
        return self.lines[0].size

    @property
    def words(self) -> list[Word]:
        return [word for line in self.lines for word in line.words]


class WeighedLines:
    """Tells headings among the runs of one page. `others` are boxes of pictures, tables and formulas."""

    def __init__(
        self, runs: Sequence[TextRun], others: Sequence[Box], page: PageFacts, pixels: Pixels | None
    ) -> None:
        self._page = page
        self._lines = [line for run in runs for line in run.lines]
        self._others = others
        whites = [b.box[1] - a.box[3] for run in runs for a, b in zip(run.lines, run.lines[1:], strict=False)]
        self._white = median(whites) if whites else 0.0
        self._ink = None if pixels is None else Ink(pixels, self._lines)
        self._bold_tells = bold_share(word for run in runs for word in run.words) <= BOLD_BODY
        self._body = max(page.body, _largest_body(runs))

    def is_heading(self, run: TextRun) -> bool:
        if not may_head(run):
            return False
        features = self.features(run)
        said = BIAS + sum(WEIGHTS[name] * value for name, value in features.items())
        return said > _least(features)

    def features(self, run: TextRun) -> dict[str, float]:
        return self._of_type(run) | self._of_place(run) | _of_words(run.text)

    def _of_type(self, run: TextRun) -> dict[str, float]:
        bold = bold_share(run.words)
        heavier = median(self._ink.heavier(line) for line in run.lines) if self._ink else 0.0
        is_bold = bold >= ALL and self._bold_tells
        return {
            "seen as a heading": float(run.label in HEADING_LABELS),
            "seen in the margin": float(run.label in ("header", "footer")),
            "larger": float(run.size >= LARGER * self._body),
            "other font": float(run.lines[0].font != self._page.font),
            "bold": float(is_bold or heavier >= HEAVY),
            "partly bold": float(SOME < bold < ALL),
            "heavier": heavier,
        }

    def _of_place(self, run: TextRun) -> dict[str, float]:
        own, box = set(map(id, run.lines)), run.box
        beside = [line for line in self._lines if _shared(line.box, box) > 0 and id(line) not in own]
        middle = (box[1] + box[3]) / 2
        above = max((a for a in beside if _middle(a.box) < middle), key=lambda a: a.box[3], default=None)
        below = min((b for b in beside if _middle(b.box) > middle), key=lambda b: b.box[1], default=None)
        over, under = self._white_around(run, above, below)
        return {
            "white above": _bounded(over),
            "white below": _bounded(under),
            "goes on in bold": float(_is_alike(below, run) and under < NEAR and below.words[0].bold),
            "in a sentence": float(
                _is_alike(above, run) and over < NEAR / 2 and not above.text.endswith(_ENDS)
            ),
            "over small type": float(below is not None and below.size < NOTE_SIZE * self._page.body),
            "at the top": float(box[3] < TOP * self._page.height),
            "at the foot": float(box[1] > FOOT * self._page.height),
            "begins small": float(run.text[:1].islower() and not self._goes_on_large(run, above, over)),
        }

    def _goes_on_large(self, run: TextRun, above: Fragment | None, over: float) -> bool:
        """Whether the lines go on in the large type right above them, as a region of their own."""
        return _is_alike(above, run) and over < NEAR and run.size >= LARGER * self._body

    def _white_around(
        self, run: TextRun, above: Fragment | None, below: Fragment | None
    ) -> tuple[float, float]:
        """How much more white than between lines is above and below, in sizes of the type."""
        box = run.box
        feet = [o[3] for o in self._others if _shared(o, box) > 0 and _middle(o) < box[1]]
        tops = [o[1] for o in self._others if _shared(o, box) > 0 and _middle(o) > box[3]]
        foot = max([*feet, above.box[3]] if above else feet, default=-math.inf)
        top = min([*tops, below.box[1]] if below else tops, default=math.inf)
        return (box[1] - foot - self._white) / run.size, (top - box[3] - self._white) / run.size


def _least(features: Mapping[str, float]) -> float:
    """What a line's weights must come to."""
    if not features["seen as a heading"]:
        return UNSEEN
    has_own_type = any(features[sign] for sign in ("larger", "bold", "other font"))
    return SEEN if has_own_type else 0.0


def _largest_body(runs: Sequence[TextRun]) -> float:
    """The size that running text seldom passes: a page may set each paragraph in a size of its own."""
    sizes = sorted((run.size, len(run.text)) for run in runs if len(run.text) > MAX_LETTERS)
    allowed = BODY_SHARE * sum(letters for _, letters in sizes)
    for size, letters in sizes:
        allowed -= letters
        if allowed <= 0:
            return size
    return 0.0


def _is_alike(line: Fragment | None, run: TextRun) -> TypeGuard[Fragment]:
    """Whether there is such a line, in type as large."""
    return line is not None and abs(line.size - run.size) < SAME_SIZE * run.size


def may_head(run: TextRun) -> bool:
    """Whether lines may be a heading at all: few, of letters, neither code nor an address."""
    text = run.text
    if len(run.lines) > MAX_LINES or len(text) > MAX_LETTERS or not _LETTER.search(text):
        return False
    if any(word.text.isdigit() and word.size < RAISED * run.size for word in run.words):
        return False  # names of authors
    return not (is_typed(run.words) or "://" in text or LEADER.search(text) or is_no_heading_by_words(text))


def _of_words(text: str) -> dict[str, float]:
    return {
        "bullet": float(BULLET.match(text) is not None),
        "caption": float(CAPTION.match(text) is not None),
        "sentences": float(_SENTENCES.search(text) is not None),
        "long": min(1.0, max(0.0, len(text) / 60 - 1)),
    }


def bold_share(words: Iterable[Word]) -> float:
    """Returns the part of the letters that is bold."""
    shown = [(len(word.text), word.bold) for word in words]
    return sum(length for length, bold in shown if bold) / max(1, sum(length for length, _ in shown))


def _shared(first: Box, second: Box) -> float:
    return min(first[2], second[2]) - max(first[0], second[0])


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _bounded(white: float) -> float:
    return max(WHITE[0], min(WHITE[1], white))
