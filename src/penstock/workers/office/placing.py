"""Finds where on printed pages the blocks of a file stand, by their words.

All letters of the file and all letters of the pages are aligned as two long texts. What found no place, such
as notes, which a file keeps elsewhere than a page does, is aligned again with what is left of the pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from penstock.box import Box, enclosing
from penstock.documents.text.alignment import Letters, aligned, letters_of
from penstock.engines.office.blocks import StructureBlock
from penstock.errors import BadInput
from penstock.region import TextLayer, Word
from penstock.workers.office.printed_words import printed_words

MAX_LETTERS = 12_000_000  # of a document: a book of 5,000 pages
MIN_FOUND = 0.5  # of the letters of a text, for it to have a place
MIN_OF_WORD = 0.5  # of the letters of a word on the page, for it to be of a text
ROUNDS = 3
MAX_SLIDE = 200  # letters
FORMULA = "display_formula"
NEAR_FORMULA = 0.8  # heights of a line: how far what stands above and below it may be


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A part of a text that stands on one page: its letters from `start` to `end`, and its words there."""

    page: int
    start: int
    end: int
    words: tuple[int, ...]  # places in the page's layer


@dataclass(slots=True)
class PageLetters:
    """The letters of the pages, one after another."""

    codes: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)  # the word that a letter is of, counted over all pages
    first_words: list[int] = field(default_factory=list)  # of each page
    num_words: int = 0

    def add_page(self, layer: TextLayer | None) -> None:
        """Adds the words of the next page."""
        self.first_words.append(self.num_words)
        for word in layer.words if layer is not None else ():
            codes, _ = letters_of(word.text)
            self.codes += codes
            self.words += [self.num_words] * len(codes)
            self.num_words += 1
        if len(self.codes) > MAX_LETTERS:
            raise BadInput(
                f"it has more than {MAX_LETTERS:,} letters: too many to find their places.",
                "Read it with --office structure, or with --office pages.",
            )


def texts_of(blocks: Iterable[StructureBlock]) -> Iterator[tuple[int, int, str]]:
    """Yields what may stand on pages of texts: the block's place, the cell's or -1, and the letters."""
    for number, block in enumerate(blocks):
        if block.cells:
            yield from ((number, place, printed_words(cell.text)) for place, cell in enumerate(block.cells))
        else:
            yield number, -1, printed_words(block.text, block.label == FORMULA)


def places_of(texts: Sequence[str], pages: PageLetters) -> list[list[TextPlace]]:
    """Returns where each text stands, page by page; nothing for one whose words are on no page."""
    letters = [letters_of(text) for text in texts]
    owners = np.repeat(np.arange(len(texts)), [len(codes) for codes, _ in letters])
    codes = np.fromiter((code for one, _ in letters for code in one), np.int64, len(owners))
    spots = np.fromiter((spot for _, each in letters for spot in each), np.int64, len(owners))
    words = np.array(pages.words, np.int64)
    found = _in_rounds(codes, owners, np.array(pages.codes, np.int64), words, len(texts))
    _slide(found, np.array(pages.codes, np.int64), np.searchsorted(words, pages.first_words))
    at = np.where(found >= 0, words[found] if len(words) else -1, -1)
    sizes = np.bincount(words, minlength=pages.num_words) if len(words) else np.zeros(0, np.int64)
    bounds = np.searchsorted(owners, np.arange(len(texts) + 1))
    firsts = np.array(pages.first_words, np.int64)
    return [
        _parts(text, spots[start:end], at[start:end], sizes, firsts)
        for text, start, end in zip(texts, bounds[:-1], bounds[1:], strict=True)
    ]


def _in_rounds(
    codes: Letters, owners: NDArray[np.int64], printed: Letters, words: NDArray[np.int64], num_texts: int
) -> NDArray[np.int64]:
    """Returns for each letter of the texts its place among those that are printed, or -1."""
    found = aligned(codes, printed)
    for _ in range(ROUNDS - 1):
        hits = np.bincount(owners[found >= 0], minlength=num_texts)
        lost = (hits < MIN_FOUND * np.bincount(owners, minlength=num_texts))[owners]
        found[lost] = -1
        taken = np.zeros(len(printed), bool)
        taken[found[found >= 0]] = True
        rest = np.flatnonzero(~taken)
        again = aligned(codes[lost], printed[rest])
        if not (again >= 0).any():
            break
        found[np.flatnonzero(lost)[again >= 0]] = rest[again[again >= 0]]
    return found


def _slide(found: NDArray[np.int64], printed: Letters, starts: NDArray[np.int64]) -> None:
    """Moves letters behind a gap that says the same at its end, where the gap then begins with a page.

    What a page repeats at its top is then what is left over, and not the first words after it.
    """
    jumps = np.flatnonzero((found[:-1] >= 0) & (found[1:] > found[:-1] + 1))
    for place in jumps.tolist():
        first, after = int(found[place]) + 1, int(found[place + 1])
        start = int(starts[np.searchsorted(starts, first, side="right") - 1])
        size = first - start
        if not 0 < size <= min(MAX_SLIDE, place + 1, after - first):
            continue
        is_run = (found[place + 1 - size : place + 1] == np.arange(start, first)).all()
        if is_run and (printed[start:first] == printed[after - size : after]).all():
            found[place + 1 - size : place + 1] = np.arange(after - size, after)


def _parts(
    text: str,
    spots: NDArray[np.int64],
    at: NDArray[np.int64],
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int64],
) -> list[TextPlace]:
    hit = at >= 0
    if not hit.any() or hit.mean() < MIN_FOUND:
        return []
    pages = np.searchsorted(firsts, at[hit], side="right") - 1
    cuts = [0, *(np.flatnonzero(np.diff(pages)) + 1).tolist(), len(pages)]
    parts: list[TextPlace] = []
    for first, last in pairwise(cuts):
        page = int(pages[first])
        words, counts = np.unique(at[hit][first:last], return_counts=True)
        kept = words[counts >= MIN_OF_WORD * sizes[words]] - firsts[page]
        if not len(kept):  # chance: its letters go on with those before
            continue
        start = int(spots[hit][first]) if parts else 0
        if parts:
            parts[-1] = TextPlace(parts[-1].page, parts[-1].start, start, parts[-1].words)
        parts.append(TextPlace(page, start, len(text), tuple(kept.tolist())))
    return parts


def box_of(words: Sequence[Word], chosen: Iterable[int]) -> Box:
    """Returns the box around words of a page."""
    return enclosing([words[number].box for number in chosen])


def with_formula_words(words: Sequence[int], layer: TextLayer, taken: Collection[int]) -> tuple[int, ...]:
    """Returns the words of a text with a formula, and words of no other text close above and below it."""
    left, top, right, bottom = box_of(layer.words, words)
    reach = NEAR_FORMULA * median(layer.words[word].box[3] - layer.words[word].box[1] for word in words)
    near = (
        number
        for number, word in enumerate(layer.words)
        if number not in taken
        and left - reach <= (word.box[0] + word.box[2]) / 2 <= right + reach
        and top - reach <= (word.box[1] + word.box[3]) / 2 <= bottom + reach
    )
    return (*words, *near)
