"""Puts the words of a text layer into lines, with the spaces a reader would see.

Words come in the file's order, which need not be the page's. A space stands between two words
where the page shows one: layers often leave it out, or break a word in two at a change of font.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from penstock.box import Box, HasBox, enclosing
from penstock.documents.text import rotated_text
from penstock.region import Word
from penstock.scripts import is_unspaced, reads_right_to_left

# All in units of the font size.
SPACE = 0.05  # a typeset space is 0.25, squeezed 0.1; pieces of one word lie within 0.05
UNSPACED_SPACE = 0.6  # Chinese and Japanese show a space only as a missing character
SMALL, RAISED, NEAR = 0.8, 0.1, 0.2  # of a power: its size, how far its foot is raised, how near it stands
OVER, MIN_OVER = 0.3, 3  # of the narrower of two words; letters, for signs of formulas stand over each other
SAME_PLACE = 0.15  # a word printed twice to look bold is moved by less than this

SUPERSCRIPTS = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_POWER = re.compile(r"[+\-−]?(?:\d{1,3}|n)[.,;:)\]]?$")
_BASE = re.compile(r"\d$|(?<![^\W\d_])[^\W\d_]{1,2}$|[)\]]$")  # a number, a unit, a bracket; no word
_BREAK = re.compile("[\x02\xad\ufffe]$")  # what PDFium makes of a hyphen at a line's end
_NOISE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]|\xad(?!$)")
_BULLET = re.compile("^[\ue000-\uf8ff](?=\\s|$)")  # a glyph of a symbol font in front of a line


def rows_of_words(words: Iterable[Word]) -> list[list[Word]]:
    """The words as rows from top to bottom, each in its direction of reading.

    For the words of one column; `rules.regions_by_rules` handles several.
    """
    level, tall = rotated_text.split_by_direction(list(words))
    found = [[level[i] for i in sorted(row)] for row in rows_of([w.box for w in level])]
    rows = [in_reading_direction(text) for row in found for text in _texts_apart(row)]
    return rows + _sideways_lines(tall) if tall else rows


def _texts_apart(row: list[Word]) -> list[list[Word]]:
    """The words of a row, in the file's order, as one text or as several that are printed over each other."""
    edges = sorted((word.box[0], word.box[2]) for word in row)
    if all(right <= left + 1 for (_, right), (left, _) in pairwise(edges)):
        return [row]
    texts: list[list[Word]] = []
    last = 0  # a text goes on until it would be printed over itself
    for word in row:
        free = [k for k, text in enumerate(texts) if not any(_is_over(word, other) for other in text)]
        last = last if last in free else free[0] if free else len(texts)
        if last == len(texts):
            texts.append([])
        texts[last].append(word)
    return texts


def _is_over(word: Word, other: Word) -> bool:
    """Whether two different words cover each other: two headers on one place, not a word made bold."""
    shared = min(word.box[2], other.box[2]) - max(word.box[0], other.box[0])
    narrow = min(word.box[2] - word.box[0], other.box[2] - other.box[0])
    if shared <= OVER * narrow or min(len(word.text), len(other.text)) < MIN_OVER:
        return False
    return word.text != other.text or not _same_place(word, other)


def _sideways_lines(words: Sequence[Word]) -> list[list[Word]]:
    turned, _ = rotated_text.turned_level(words, 0.0, 0.0)
    rows = rows_of([w.box for w in turned])
    return [[words[i] for i in sorted(row, key=lambda i: turned[i].box[0])] for row in rows]


def rows_of(boxes: Sequence[Box]) -> list[list[int]]:
    """Indices of boxes on the same height, rows from top to bottom."""
    rows: list[list[int]] = []
    bands: list[tuple[float, float]] = []  # of each row: the extent of its tallest box
    for i in sorted(range(len(boxes)), key=lambda i: boxes[i][1] + boxes[i][3]):
        _, y0, _, y1 = boxes[i]
        height = y1 - y0
        # the last rows only: columns whose lines stand a little higher or lower interleave
        for k in range(len(rows) - 1, max(len(rows) - 4, -1), -1):
            low, high = bands[k]
            # half of the smaller height: superscripts belong to their line, the next line does not
            if (y1 if y1 < high else high) - (y0 if y0 > low else low) > 0.5 * min(high - low, height):
                rows[k].append(i)
                if height > high - low:
                    bands[k] = (y0, y1)
                break
        else:
            rows.append([i])
            bands.append((y0, y1))
    return rows


def in_reading_direction(row: Sequence[Word]) -> list[Word]:
    """The row from left to right, or from right to left for such scripts, without doubled words."""
    ordered = sorted(row, key=lambda w: w.box[0])
    if reads_right_to_left("".join(w.text for w in ordered)):
        ordered = _right_to_left(ordered)
    return _without_doubles(ordered)


def _right_to_left(ordered: Sequence[Word]) -> list[Word]:
    """Words from the right, but runs of Latin words and numbers inside keep their own direction."""
    turned: list[Word] = []
    run: list[Word] = []
    for word in reversed(ordered):
        if reads_right_to_left(word.text) or not any(c.isalnum() for c in word.text):
            turned += reversed(run)
            run = []
            turned.append(word)
        else:
            run.append(word)
    return turned + run[::-1]


def _without_doubles(ordered: list[Word]) -> list[Word]:
    if len({w.text for w in ordered}) == len(ordered):
        return ordered
    kept: list[Word] = []
    for word in ordered:
        if not any(word.text == other.text and _same_place(word, other) for other in kept[-2:]):
            kept.append(word)
    return kept


def _same_place(a: Word, b: Word) -> bool:
    near = SAME_PLACE * _em(a, b)
    return all(abs(p - q) <= near for p, q in zip(a.box, b.box, strict=True))


def _em(a: Word, b: Word) -> float:
    return max(a.size, b.size) or max(a.box[3] - a.box[1], b.box[3] - b.box[1])


def row_text(row: Sequence[Word]) -> str:
    """The text of the row, with a space where the page shows one."""
    parts: list[str] = []
    last: Word | None = None
    for word in row:
        raised = last is not None and _is_power(last, word)
        if last is not None and not raised and _spaced(last, word):
            parts.append(" ")
        parts.append(word.text.translate(SUPERSCRIPTS) if raised else word.text)
        last = word
    return clean("".join(parts))


def _is_power(base: Word, word: Word) -> bool:
    """Whether a small raised figure makes another number or unit of what it follows: 2³, m², 10⁻⁶."""
    if not _POWER.match(word.text) or not _BASE.search(base.text):
        return False
    em = base.size or base.box[3] - base.box[1]
    small = (word.size or word.box[3] - word.box[1]) <= SMALL * em
    near = -SAME_PLACE * em <= word.box[0] - base.box[2] <= NEAR * em
    return small and near and word.box[3] < base.box[3] - RAISED * em


def clean(text: str) -> str:
    """Text without control characters; a hyphen the layer marks as breaking a word becomes U+00AD."""
    text = _BULLET.sub("• ", text.strip())
    return _NOISE.sub("", _BREAK.sub("\xad", text)).strip()


def _spaced(a: Word, b: Word) -> bool:
    gap = b.box[0] - a.box[2]
    if gap < 0:  # the other direction of reading, or up or down the page
        gap = max(a.box[0] - b.box[2], b.box[1] - a.box[3], a.box[1] - b.box[3])
    em = _em(a, b)
    if gap <= SPACE * em:
        return False
    return gap > UNSPACED_SPACE * em or not (is_unspaced(a.text[-1:]) and is_unspaced(b.text[:1]))


def around(things: Sequence[HasBox]) -> Box:
    """The smallest box around words, lines or regions."""
    return enclosing([thing.box for thing in things])
