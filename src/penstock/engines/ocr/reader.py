"""Reads the lines of a page with the recogniser that knows their script.

PP-OCR reads Latin, Chinese and Japanese and is silent on Hangul; our own networks read Korean with the Latin
words in it, and Cyrillic, Greek, Arabic, Hebrew, Devanagari and Thai. A few sample lines tell which one suits
the page; lines, and words in lines, that it cannot have read go to the others. One `PageReader` may be shared
by threads.

    reader = PageReader()
    lines = reader.find(pixels)
    text = reader.read(pixels, lines, reader.script(pixels, lines))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from penstock.engines.ocr import foreign_scripts, recognise, reread_foreign
from penstock.engines.ocr.effort import Effort
from penstock.engines.ocr.foreign_languages import FOREIGN_LANGUAGES
from penstock.engines.ocr.foreign_scripts import ForeignReader
from penstock.engines.ocr.hangul_network import HangulNetwork, Symbol
from penstock.engines.ocr.ppocr import PPOcr, is_odd
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.ocr.reread_foreign import Stretch
from penstock.engines.ocr.second_reader import agreed
from penstock.region import LineBox, TextLine
from penstock.scripts import UNSPACED, has_syllable

if TYPE_CHECKING:
    from penstock.box import Pixels

# "foreign": a script that PP-OCR does not know; "unclear": letters which a quick reader would be unsure of
Script = Literal["hangul", "foreign", "other", "unclear"]

SAMPLES = 6  # 0.2 s a page
SAMPLE_WIDTH = 10  # heights: enough for a dozen syllables, a fifth of a usual line
GLIMPSE_WIDTH = 5  # heights of a line that tell whether it is worth a quick reading
SILENT = 0.3  # of a sample's ink without a symbol: 0.00-0.03 where PP-OCR knows the script, 0.5-1 on Korean
PASSED_OVER = 0.1  # the same of a line, to have the network for Korean look at it
UNREAD = 0.6  # PP-OCR's confidence, below which the network for Korean looks at a line
# mean confidence in the syllables of a line
HANGUL_LIKELY = 0.65  # where PP-OCR was silent; a single syllable is then no proof
HANGUL_SURE = 0.85  # to ask PP-OCR for nothing but Latin words
DOUBTFUL = 0.97  # PP-OCR's confidence: one line in four of receipts, one in twenty of clean print
# PP-OCR's confidence in a line that needs no second reader: half of the lines of receipts have less. On 12
# receipts 0.913 of the words are found without one, 0.920 with one below 0.97, 0.924 below 0.99 or always.
SURE_ALONE = 0.99
# Where more of a chunk's lines are doubtful, it is not dots that spoil them. Softened, newspapers have 0.114
# of their letters wrong for 0.097, handwriting 0.153 for 0.133; the words of 12 receipts stay the same.
SPOILED, FEW_LINES = 2 / 3, 4
AS_SURE = 0.1  # a softened line may be less sure by this: it errs less at equal confidence
_SOFTENED_WORSE = re.compile(
    f"[\u0370-\u03ff\u2190-\u22ff{UNSPACED}]"
)  # Greek, signs of mathematics, Chinese
LONE_MARK = 0.65  # of the usual line's height: a vowel or tone of Thai that is found apart from its line
HANGUL_SHARE = 0.1  # of a line's characters
NOISE = 0.35  # what is read with less is a drawing or a smudge
FOREIGN_SURE = 0.85  # PP-OCR's confidence in a whole line of a Korean page
# PP-OCR passes over nothing of 24 lines of Latin with 0.97 and more; of 60 lines with some Hangul in them it
# passes over 0.04 and more.
FEW_HANGUL = 0.5  # of a line's characters
FOREIGN_CLEAR, PASSED_NOTHING = 0.97, 0.02


@dataclass(frozen=True, slots=True)
class Said:
    """A line's text, how sure its reader is of it, and what share of the ink it said nothing of."""

    text: str
    confidence: float
    reader: str
    passed_over: float = 0.0
    sures: tuple[float, ...] = ()  # in each character that is no space, where they are known
    other: str = ""  # what a second look read, where there was one

    @property
    def legible(self) -> str:
        return self.text if self.confidence > NOISE else ""


class PageReader:
    """Reads pages in the given `languages` (ISO 639-1 codes), or in whatever they turn out to be in."""

    def __init__(
        self, languages: tuple[str, ...] | None = None, threads: int = 1, effort: Effort = "best"
    ) -> None:
        self._languages = languages
        self.ocr = PPOcr(threads, effort)
        self.missing = self.ocr.missing
        self._own = HangulNetwork(threads=threads)  # for Korean, and for doubtful Latin
        self._foreign = ForeignReader(threads)
        self.reads_korean = not languages or "ko" in languages
        self._reads_foreign = not languages or bool(FOREIGN_LANGUAGES.intersection(languages))

    def find(self, pixels: Pixels, page_area: int = 0) -> tuple[LineBox, ...]:
        """The lines of a page; none on a blank one. A part of a page is looked at as finely as all of it."""
        return tuple(self.ocr.find_lines(pixels, page_area))

    def script(self, pixels: Pixels, lines: Sequence[LineBox]) -> Script:
        """What the page is written in, and how legible that is, judged by a few pieces of lines.

        One with Hangul is enough: a page read as Korean gets its other lines right too, only slower.
        """
        if self._languages == ("ko",):
            return "hangul"
        if not self.reads_korean and not self._reads_foreign and self.ocr.settings.quick is None:
            return "other"
        chosen, others = _samples(lines)
        cuts = [_beginning(pixels, line) for line in chosen]
        first = self.ocr.first_look(cuts)
        if self.reads_korean and self._has_hangul(cuts, first):
            return "hangul"
        if self._reads_foreign and self._foreign.is_foreign(cuts, first):
            return "foreign"
        if self.ocr.is_unclear(first):
            # six lines of a clear page with formulas may hold two of them
            more = self.ocr.first_look([_beginning(pixels, line) for line in others])
            return "unclear" if self.ocr.is_unclear([*first, *more]) else "other"
        return "other"

    def read(self, pixels: Pixels, lines: Sequence[LineBox], script: Script) -> list[TextLine]:
        """One `TextLine` for each of `lines`, in their order; its text is empty where nothing was legible."""
        cuts = [recognise.cut(pixels, line) for line in lines]
        if self.reads_korean and script == "hangul":
            said = self._read_korean(cuts)
        elif script == "foreign":
            said = self._read_foreign(cuts)
        else:
            said = self._read_other(cuts, quickly=script == "other" and self.ocr.settings.quick is not None)
        return [
            TextLine(one.legible, line.box, one.confidence, one.reader, line.quad, one.sures, one.other)
            for line, one in zip(lines, said, strict=True)
        ]

    def close(self) -> None:
        self.ocr.close()
        self._own.close()
        self._foreign.close()

    def _has_hangul(self, cuts: Sequence[Pixels], first: Sequence[LineReading]) -> bool:
        """Whether there is a piece of which PP-OCR says little and in which there is Hangul."""
        return any(self._is_hangul(cut, reading) for cut, reading in zip(cuts, first, strict=True))

    def _is_hangul(self, cut: Pixels, first: LineReading) -> bool:
        """The network for Korean is asked first: it takes a fifth of the time of a careful look."""
        if first.passed_over <= SILENT and not self.ocr.is_doubtful(first):
            return False
        if not _is_korean(self._own.read_line(cut), HANGUL_LIKELY, 2):
            return False
        [seen] = self.ocr.second_look([cut], [first])
        return seen.passed_over > SILENT

    def _read_other(self, cuts: Sequence[Pixels], quickly: bool) -> list[Said]:
        """By PP-OCR; what it passed over by the network for Korean, if there is Hangul in it."""
        said = self._twice(cuts, self._by_ppocr(cuts, quickly), self._doubtful_below(quickly))
        if not quickly:
            said = self._with_second(cuts, said)
        doubted = [
            index
            for index, one in enumerate(said)
            if one.passed_over > PASSED_OVER or one.confidence < UNREAD
        ]
        if self._reads_foreign:
            said = self._with_foreign(cuts, said, doubted)
        if not self.reads_korean:
            return said
        doubted = [index for index in doubted if said[index].reader != "scripts"]
        read = {index: self._own.read_line(cuts[index]) for index in doubted}
        korean = [index for index in doubted if _is_korean(read[index], HANGUL_LIKELY, 2)]
        again = self._spliced([cuts[index] for index in korean], [read[index] for index in korean])
        for index, one in zip(korean, again, strict=True):
            said[index] = one
        return said

    def _with_foreign(
        self, cuts: Sequence[Pixels], said: Sequence[Said], doubted: Sequence[int]
    ) -> list[Said]:
        """What was said, lines of other scripts by their network: one Russian line on an English page."""
        found = list(said)
        for index in doubted:
            symbols = self._foreign.read_line(cuts[index])
            if foreign_scripts.is_foreign(symbols):
                sure = foreign_scripts.sureness(symbols)
                text = foreign_scripts.text_of(symbols)
                found[index] = Said(text, sure, "scripts", sures=_sures(symbols))
        return found

    def _read_foreign(self, cuts: Sequence[Pixels]) -> list[Said]:
        """By the network for other scripts; lines without their letters by PP-OCR, if it is sure of them."""
        found: list[Said] = []
        usual = float(np.median([len(cut) for cut in cuts])) if cuts else 0.0
        for cut in cuts:
            symbols = self._foreign.read_line(cut)
            text, sure = foreign_scripts.text_of(symbols), foreign_scripts.sureness(symbols)
            own = Said(text, sure, "scripts", sures=_sures(symbols))
            if len(own.text) <= 2 and len(cut) < LONE_MARK * usual:
                own = Said("", 0.0, "scripts")
            elif not foreign_scripts.has_letters(symbols):
                [latin] = self._by_ppocr([cut], quickly=True)
                own = latin if latin.confidence >= FOREIGN_SURE and latin.text else own
            found.append(own)
        return found

    def _read_korean(self, cuts: Sequence[Pixels]) -> list[Said]:
        """By the network for Korean, doubtful words by PP-OCR; lines without Hangul by PP-OCR alone."""
        found = self._plainly_foreign(cuts)
        symbols = {index: self._own.read_line(cut) for index, cut in enumerate(cuts) if index not in found}
        foreign = [index for index, line in symbols.items() if not _is_mostly_korean(line)]
        said = self._by_ppocr([cuts[index] for index in foreign], True, FOREIGN_CLEAR)
        found |= {
            index: one for index, one in zip(foreign, said, strict=True) if is_foreign(one, symbols[index])
        }
        rest = [index for index in symbols if index not in found]
        again = self._spliced([cuts[index] for index in rest], [symbols[index] for index in rest])
        found.update(zip(rest, again, strict=True))
        return [found[index] for index in range(len(cuts))]

    def _doubtful_below(self, quickly: bool) -> float:
        """What the quick network was sure enough of is not looked at again: that would cost what it saved."""
        return min(DOUBTFUL, self.ocr.settings.sure) if quickly else DOUBTFUL

    def _twice(self, cuts: Sequence[Pixels], said: list[Said], below: float) -> list[Said]:
        """What was said, doubtful lines as they are read softened where that is about as sure."""
        doubted = [index for index, one in enumerate(said) if is_doubtful(one, below)]
        if len(doubted) > max(FEW_LINES, SPOILED * len(said)):
            return said
        again = self._by_ppocr([recognise.softened(cuts[index]) for index in doubted], quickly=False)
        found = dict(zip(doubted, again, strict=True))
        return [_better(one, found.get(index)) for index, one in enumerate(said)]

    def _with_second(self, cuts: Sequence[Pixels], said: Sequence[Said]) -> list[Said]:
        """What was said, with letters from a second reader where it is surer than the first."""
        found = []
        for cut, one in zip(cuts, said, strict=True):
            if one.sures and one.confidence < SURE_ALONE:
                second = self._own.read_line(cut)
                text = agreed(one.text, one.sures, second, self._own.known)
                other = foreign_scripts.text_of(second)
                found.append(replace(one, text=text, other=other or one.other))
            else:
                found.append(one)
        return found

    def _plainly_foreign(self, cuts: Sequence[Pixels]) -> dict[int, Said]:
        """Lines that the quick network, if there is one, reads clearly: first their beginnings, then all.

        It is at most 0.86 sure of a line with Hangul.
        """
        if self.ocr.settings.quick is None:
            return {}
        begun = self.ocr.first_look([cut[:, : GLIMPSE_WIDTH * cut.shape[0]] for cut in cuts])
        likely = [index for index, reading in enumerate(begun) if _is_clear(reading)]
        read = self.ocr.first_look([cuts[index] for index in likely])
        return {
            index: _said(reading)
            for index, reading in zip(likely, read, strict=True)
            if _is_clear(reading) and not is_odd(reading.text)
        }

    def _by_ppocr(self, cuts: Sequence[Pixels], quickly: bool, sure: float = 0.0) -> list[Said]:
        read = self.ocr.read_quickly(cuts, sure) if quickly else self.ocr.read_cuts(cuts)
        return [_said(reading) for reading in read]

    def _spliced(self, cuts: Sequence[Pixels], lines: Sequence[Sequence[Symbol]]) -> list[Said]:
        """Lines of Korean with their doubtful words read by PP-OCR, all in one go."""
        stretches = [
            reread_foreign.doubtful(symbols, cut.shape[1], cut.shape[0])
            for symbols, cut in zip(lines, cuts, strict=True)
        ]
        pieces = [
            reread_foreign.cut_out(cut, symbols, stretch)
            for cut, symbols, doubts in zip(cuts, lines, stretches, strict=True)
            for stretch in doubts
        ]
        readings = iter(self.ocr.read_quickly(pieces))
        return [
            _spliced(symbols, doubts, [next(readings) for _ in doubts])
            for symbols, doubts in zip(lines, stretches, strict=True)
        ]


def _spliced(symbols: Sequence[Symbol], doubts: Sequence[Stretch], readings: Sequence[LineReading]) -> Said:
    text, confidence = reread_foreign.spliced(symbols, doubts, readings)
    other = foreign_scripts.text_of(symbols) if doubts else ""
    return Said(text, confidence, "hangul", sures=_sures(symbols), other=other)


def _sures(symbols: Sequence[Symbol]) -> tuple[float, ...]:
    return tuple(symbol.confidence for symbol in symbols)


def is_doubtful(said: Said, below: float) -> bool:
    """Whether a line is worth a second look: letters of a script with spaces, and not all of them sure.

    Soft edges blur the thin strokes of mathematics: 0.243 for 0.226 of text edit on a page of physics.
    """
    return said.confidence < below and said.text != "" and not _SOFTENED_WORSE.search(said.text)


def _better(said: Said, again: Said | None) -> Said:
    if again is None or not again.text:
        return said
    if again.confidence < said.confidence - AS_SURE:
        return replace(said, other=again.text)
    return replace(again, other=said.text)


def _samples(lines: Sequence[LineBox]) -> tuple[list[LineBox], list[LineBox]]:
    """A few lines, spread over the page, none of the shortest, and as many others between them."""
    if not lines:
        return [], []
    usual = float(np.median([line.width for line in lines]))
    long = [line for line in lines if line.width >= usual]
    few, many = (
        {round(index) for index in np.linspace(0, len(long) - 1, count)} for count in (SAMPLES, 2 * SAMPLES)
    )
    return [long[place] for place in sorted(few)], [long[place] for place in sorted(many - few)]


def _beginning(pixels: Pixels, line: LineBox) -> Pixels:
    cut = recognise.cut(pixels, line)
    return cut[:, : SAMPLE_WIDTH * cut.shape[0]]


def _said(reading: LineReading) -> Said:
    return Said(reading.text, reading.confidence, "ppocr", reading.passed_over, reading.sures)


def _is_clear(reading: LineReading | Said) -> bool:
    return reading.confidence >= FOREIGN_CLEAR and reading.passed_over < PASSED_NOTHING


def _is_korean(symbols: Sequence[Symbol], at_least: float, num_syllables: int = 1) -> bool:
    """Whether Hangul was read and surely so: some is seen, unsurely, in anything."""
    sure = [symbol.confidence for symbol in symbols if has_syllable(symbol.text)]
    enough = len(sure) >= max(num_syllables, HANGUL_SHARE * len(symbols))
    return enough and float(np.mean(sure)) >= at_least


def _is_mostly_korean(symbols: Sequence[Symbol]) -> bool:
    num_hangul = sum(has_syllable(symbol.text) for symbol in symbols)
    return num_hangul >= FEW_HANGUL * len(symbols) and _is_korean(symbols, HANGUL_SURE)


def is_foreign(said: Said, symbols: Sequence[Symbol]) -> bool:
    """Whether PP-OCR read a whole line that the network for Korean made little of."""
    if _has_korean_word(symbols):
        return False
    if _is_korean(symbols, HANGUL_SURE):
        return _is_clear(said)
    hangul = any(has_syllable(symbol.text) for symbol in symbols)
    return said.passed_over <= PASSED_OVER and said.confidence >= (FOREIGN_SURE if hangul else UNREAD)


def _has_korean_word(symbols: Sequence[Symbol]) -> bool:
    """Whether a word of nothing but syllables, all of them sure, is in the line.

    PP-OCR writes 号ユ for a word of Korean among Latin ones, or passes over it and leaves two spaces.
    """
    starts = [place for place, symbol in enumerate(symbols) if place == 0 or symbol.spaced]
    words = [symbols[start:end] for start, end in pairwise([*starts, len(symbols)])]
    return any(all(_is_sure_syllable(symbol) for symbol in word) for word in words)


def _is_sure_syllable(symbol: Symbol) -> bool:
    return has_syllable(symbol.text) and symbol.confidence >= HANGUL_SURE
