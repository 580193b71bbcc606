"""Puts the words of a page into rows, fragments and text blocks, by geometry and type alone.

A row is everything on one height across the page. Gutters split it into fragments: a fragment is a line
of one column. Lines that agree in size, weight, distance and indent make a text block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock.box import Box
from penstock.documents.text.lines import (
    around,
    in_reading_direction,
    row_text,
    rows_of,
    rows_of_words,
)
from penstock.documents.text.runs import runs_of
from penstock.region import Line, Word

# In units of the font size, unless the comment names another unit.
GUTTER = 0.8  # narrowest white between columns that is still wider than a stretched space
SURE_GUTTER = 3.0  # white this wide splits columns even in a single row
SUPPORT = 3  # rows that must share a narrow gutter
BODY_SHARE = 0.25  # of a page's characters: headings have less, running text has more
SIZE_STEP = 0.08  # share by which type must differ to start another block
LOOSE = 1.35  # times the usual distance between lines: a new paragraph
INDENT = 0.8
SHORT = 3.0  # a line that ends this far before its column's edge may end its paragraph

LIST_MARK = re.compile(
    r"^(?:[•‣◦▪■□◆◇○●▶►➢✓✔※·∙◾▷\-–—*]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4}|[가나다라마바사아자차카타파하])[.)]|[①-⑳㉠-㉭])\s"
)
MARK_REACH = 4.0  # font sizes from a bullet to its text
NUMBER_REACH = 2.5
MAX_SPACED_DOTS = 8  # words of dots alone on a row; more are leaders
_BULLET_ALONE = re.compile(r"^[•‣◦▪■□◆◇○●▶►➢✓✔※·∙◾▷–—\ue000-\uf8ff-]$")
_NUMBER_ALONE = re.compile(r"^(?:\(?(?:\d{1,2}|[a-z])[.)]|[①-⑳])$")
# a bullet or a number as a word of its own, before what it marks
MARK = re.compile(rf"{_BULLET_ALONE.pattern}|{_NUMBER_ALONE.pattern}")
_SECTION_NUMBER = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?$")
_SENTENCE_END = re.compile(r"[.!?:;。！？：다요음함\"”’)\]]$")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A line of one column."""

    words: tuple[Word, ...]
    box: Box
    size: float
    font: str
    bold: bool
    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines of one column that belong together: a paragraph, a heading, an item of a list."""

    lines: tuple[Fragment, ...]
    box: Box
    size: float
    font: str
    bold: bool

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    def as_lines(self) -> tuple[Line, ...]:
        return tuple(Line(text=f.text, box=f.box) for f in self.lines)


def fragment(words: Sequence[Word]) -> Fragment:
    if len(words) == 1 or len({(w.size, w.font, w.bold) for w in words}) == 1:
        main, bold = words[0], words[0].bold
    else:
        main, bold = _main(words)
    return Fragment(
        words=tuple(words),
        box=around(words),
        size=main.size or main.box[3] - main.box[1],
        font=main.font,
        bold=bold,
        text=row_text(words),
    )


def _main(words: Sequence[Word]) -> tuple[Word, bool]:
    """A word in the type most characters have, and whether most are bold."""
    weights: Counter[tuple[float, str]] = Counter()
    for word in words:
        weights[word.size, word.font] += len(word.text)
    heavy = sum(len(word.text) for word in words if word.bold)
    best = max(weights, key=lambda kind: weights[kind])
    return next(w for w in words if (w.size, w.font) == best), 2 * heavy > weights.total()


def body_type(words: Iterable[Word]) -> tuple[float, str]:
    """The size and the font of running text: the largest that a good part of the characters has.

    Not simply the most common: a page can hold more characters in a table of small print.
    """
    counts: dict[tuple[float, str], int] = {}
    for word in words:
        kind = (round(word.size, 1), word.font)
        counts[kind] = counts.get(kind, 0) + len(word.text)
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    for (size, font), n in counts.items():
        sizes[size] += n
        fonts[font] += n
    if not counts:
        return 0.0, ""
    total = sizes.total()
    common = [size for size, n in sizes.items() if n >= BODY_SHARE * total]
    return max(common, default=sizes.most_common(1)[0][0]), fonts.most_common(1)[0][0]


def rows_of_fragments(words: Sequence[Word], em: float) -> list[list[Fragment]]:
    """The rows of the page from top to bottom, each split at gutters into fragments."""
    rows = rows_of_words(words)
    gaps = [
        (a.box[2], b.box[0]) for row in rows for a, b in pairwise(row) if b.box[0] - a.box[2] > GUTTER * em
    ]
    support = _support(gaps, em)
    return [[fragment(part) for part in _split_at_gutters(row, support, em)] for row in rows]


def _support(gaps: Sequence[tuple[float, float]], em: float) -> Counter[int]:
    """How many gaps stand over each strip of a quarter em across the page."""
    counts: Counter[int] = Counter()
    for low, high in gaps:
        counts.update(range(int(4 * low / em) + 1, min(int(4 * high / em), int(4 * low / em) + 400)))
    return counts


def _split_at_gutters(row: Sequence[Word], support: Counter[int], em: float) -> list[list[Word]]:
    if len(row) > MAX_SPACED_DOTS and sum(w.text.strip(".·…") == "" for w in row) > MAX_SPACED_DOTS:
        return [list(row)]  # dot leaders: a line of a table of contents is one line
    parts = [[row[0]]]
    for a, b in pairwise(row):
        gap = b.box[0] - a.box[2]
        if gap <= GUTTER * em or _is_mark(parts, gap, em):
            parts[-1].append(b)
            continue
        strips = range(int(4 * a.box[2] / em) + 1, int(4 * b.box[0] / em))
        if gap > SURE_GUTTER * em or any(support[s] >= SUPPORT for s in strips):
            parts.append([b])
        else:
            parts[-1].append(b)
    return _with_number(parts, em)


def _is_mark(parts: list[list[Word]], gap: float, em: float) -> bool:
    """Whether what stands before the gap is a bullet, which belongs to its text."""
    if len(parts[-1]) > 1 or gap > MARK_REACH * em:
        return False
    text = parts[-1][0].text
    # numbers only where the row starts: elsewhere (6) is the number of a formula
    return _BULLET_ALONE.match(text) is not None or (
        len(parts) == 1 and _NUMBER_ALONE.match(text) is not None
    )


def _with_number(parts: list[list[Word]], em: float) -> list[list[Word]]:
    """Puts the number of a heading back before its text, if the row holds nothing else."""
    if len(parts) != 2 or len(parts[0]) > 1 or not _SECTION_NUMBER.match(parts[0][0].text):
        return parts
    near = parts[1][0].box[0] - parts[0][0].box[2] < NUMBER_REACH * em
    return [parts[0] + parts[1]] if near else parts


def merged_rows(fragments: Sequence[Fragment]) -> list[Fragment]:
    """The lines of one column: joins fragments that stand on the same height."""
    rows = ([fragments[i] for i in row] for row in rows_of([f.box for f in fragments]))
    return [
        row[0] if len(row) == 1 else fragment(in_reading_direction([w for f in row for w in f.words]))
        for row in rows
    ]


def blocks_of(lines: Sequence[Fragment]) -> list[TextBlock]:
    """The text blocks of one column's lines, top to bottom."""
    if not lines:
        return []
    left, right = min(f.box[0] for f in lines), max(f.box[2] for f in lines)
    pitch = _pitch(lines)
    blocks = runs_of(lines, lambda block, line: not _starts_block(block, line, left, right, pitch))
    return [text_block(block) for block in blocks]


def _pitch(lines: Sequence[Fragment]) -> float:
    """The usual distance from line to line in units of the font size."""
    steps = sorted(
        (b.box[3] - a.box[3]) / a.size for a, b in pairwise(lines) if a.size > 0 and _alike(a.size, b.size)
    )
    steps = [s for s in steps if 0.5 < s < 3.0]
    # the lower third: the wide gaps between paragraphs of one line are no line spacing
    return steps[len(steps) // 3] if steps else 1.5


def _alike(a: float, b: float) -> bool:
    return abs(a - b) <= SIZE_STEP * max(a, b)


def _starts_block(block: list[Fragment], line: Fragment, left: float, right: float, pitch: float) -> bool:
    last = block[-1]
    em = last.size or 1.0
    if not _alike(last.size, line.size) or last.bold != line.bold:
        return True
    if line.box[3] - last.box[3] > LOOSE * pitch * em or LIST_MARK.match(line.text):
        return True
    indented = line.box[0] - last.box[0]
    hanging = LIST_MARK.match(block[0].text) is not None
    if not hanging and INDENT * em < indented < 4 * em and last.box[0] - left < INDENT * em:
        return True
    ends_short = right - last.box[2] > SHORT * em
    return ends_short and _SENTENCE_END.search(last.text) is not None


def text_block(lines: Sequence[Fragment]) -> TextBlock:
    return TextBlock(
        lines=tuple(lines),
        box=around(lines),
        size=lines[0].size,
        font=lines[0].font,
        bold=all(f.bold for f in lines),
    )
