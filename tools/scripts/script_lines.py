"""Lines of text in other scripts: sentences of translations, words at random, numbers, and Latin among them.

One in twenty of the sentences and words is kept for the test.
"""

from __future__ import annotations

import json
import lzma
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from script_signs import DIGITS, LETTERS, MARKS, POINTS

from sources import HOLE

Dice = np.random.Generator
Choice = TypeVar("Choice")
HELD_OUT = 20
LETTERS_OF_ARABIC = 36  # of plain Arabic: drawn more often than those of its neighbours
JOINED = "بتثجحخسشصضطظعغفقكلمنهيپچکگی"  # letters after which a line may be drawn out
QUOTES = {
    "cyrillic": ("«»", "„“", '""', "“”"),
    "greek": ("«»", "“”", '""'),
    "arabic": ("«»", '""', "“”"),
    "hebrew": ('""', "“”", "''"),
    "devanagari": ("“”", "‘’", '""'),
    "thai": ("“”", '""', "‘’"),
}
ENDS = {"arabic": ".،؛؟!:", "devanagari": "।,?!:॥", "greek": ".,;·!:", "thai": "  ๆ."}
COINS = {
    "cyrillic": ("₽", "руб.", "грн", "₴", "₸", "лв."),
    "greek": ("€",),
    "arabic": ("﷼", "ريال", "درهم", "$"),
    "hebrew": ("₪", 'ש"ח'),
    "devanagari": ("₹", "रु."),
    "thai": ("฿", "บาท"),
}
# letters and digits of Arabic that look alike, as Arabs write them and as Persians and others do
AS_ARABS = str.maketrans("یکہھۀۂ۰۱۲۳۴۵۶۷۸۹", "يكهههه٠١٢٣٤٥٦٧٨٩")
AS_PERSIANS = str.maketrans("يكى٠١٢٣٤٥٦٧٨٩", "یکی۰۱۲۳۴۵۶۷۸۹")
MOST_LINES, FULL = 4, 0.65
BULLETS = "•·–—*▪■●○□★✓→-"
RARE = "…–—‘’“”„‚«»‹›•·°±×÷§¶©®™€£¥¢†‡′″²³¹½¼¾‰≤≥≠≈←↑→↓■□●○▪★☆✓#$%&*+/<=>@[]^_`{|}~"
PLACES = ("org", "com", "net", "info", "ru", "gr", "ae", "il", "in", "th")
NUMBERS = ("{0}", "{0}.{1}", "{0},{1}", "{0}%", "{2}:{3}", "{4}.{5}.{6}", "{4}/{5}/{6}", "{6}-{5}-{4}")
MORE_NUMBERS = ("+{7} {0} {1}", "({0})", "{0} × {1}", "{0}–{1}", "{0} 000", "±{0}", "{0}°C", "№ {0}", "{0}:")


class ScriptTexts:
    """The texts that script_prepare.py made: either those for training or the ones held out."""

    def __init__(self, file: Path, held_out: bool = False) -> None:
        found = json.loads(lzma.decompress(file.read_bytes()))
        self._held: dict[tuple[str, str], list[str]] = {
            (script, kind): [text for at, text in enumerate(some) if (at % HELD_OUT == 0) == held_out]
            for script, own in found.items()
            for kind, some in own.items()
        }
        self._letters = {script: _letters(script) for script in LETTERS}

    def line(self, script: str, dice: Dice, longest: int) -> str:
        """A line as written, of about so many characters at most."""
        draw = dice.random()
        if draw < 0.5:
            text = self._sentence(script, dice, longest)
        elif draw < 0.75:
            text = self._some_words(script, dice, longest)
        elif draw < 0.84:
            text = self._drawn_words(script, dice, longest)
        elif draw < 0.93:
            text = self._figures(script, dice, longest)
        else:
            text = self._mixed(script, dice, longest)
        text = self._changed(script, _marked(text, script, dice), dice)
        return unicodedata.normalize("NFC", text)

    def lines(self, script: str, dice: Dice, longest: int) -> str:
        """Lines after each other until most of the length is there, mostly; spelt as in one language."""
        text = self.line(script, dice, longest)
        for _ in range(MOST_LINES):
            if len(text) > FULL * longest or dice.random() < 0.15:
                break
            text += " " + self.line(script, dice, longest)
        return spelt_alike(text) if script == "arabic" else text

    def _one(self, script: str, kind: str, dice: Dice) -> str:
        held = self._held[script, kind]
        return held[int(dice.integers(len(held)))]

    def _word(self, script: str, dice: Dice) -> str:
        return self._one(script, "words", dice)

    def _latin(self, dice: Dice) -> str:
        word = self._one("latin", "words", dice)
        shapes = (word, word, word, word.lower(), word.lower(), word.upper(), word.title())
        return _of(shapes, dice)

    def _sentence(self, script: str, dice: Dice, longest: int) -> str:
        text = self._one(script, "sentences", dice)
        while HOLE in text:
            hole = _number(script, dice) if dice.random() < 0.5 else self._word(script, dice)
            text = text.replace(HOLE, hole, 1)
        if len(text) > longest:
            at = int(dice.integers(len(text) - longest + 1))
            at = text.rfind(" ", 0, at + 1) + 1
            text = text[at : at + longest]
        return text

    def _some_words(self, script: str, dice: Dice, longest: int) -> str:
        between = "" if script == "thai" and dice.random() < 0.7 else " "
        ends = ENDS.get(script, ".,;!?:")
        made, size = [], 0
        while size < longest:
            word = self._word(script, dice)
            if dice.random() < 0.12:
                word += ends[int(dice.integers(len(ends)))]
                word += "" if between else " "
            made.append(word)
            size += len(word) + 1
        return between.join(made)[:longest]

    def _drawn_words(self, script: str, dice: Dice, longest: int) -> str:
        """Words of letters at random: rare letters, and no help from what is likely."""
        made: list[str] = []
        for _ in range(max(1, longest // 6)):
            count = int(dice.integers(1, 6 if script in SYLLABLES else 8))
            syllable = SYLLABLES.get(script)
            word = "".join(
                syllable(dice) if syllable else _of(self._letters[script], dice) for _ in range(count)
            )
            made.append(word.upper() if dice.random() < 0.1 else word)
        return " ".join(made)[:longest]

    def _figures(self, script: str, dice: Dice, longest: int) -> str:
        made, size = [], 0
        while size < min(longest, 40) and (not made or dice.random() < 0.8):
            made.append(_number(script, dice) if dice.random() < 0.6 else self._word(script, dice))
            size += len(made[-1]) + 1
        return " ".join(made)[:longest]

    def _mixed(self, script: str, dice: Dice, longest: int) -> str:
        words = self._some_words(script, dice, longest // 2).split()
        for _ in range(int(dice.integers(1, 4))):
            draw = dice.random()
            name = self._latin(dice)
            if draw < 0.2:
                name = f"{name}@{self._latin(dice)}.{_of(PLACES, dice)}".lower()
            elif draw < 0.35:
                name = f"https://{self._latin(dice)}.{_of(PLACES, dice)}/{name}".lower()
            elif draw < 0.5:
                name = f"{name} {self._latin(dice)} {_digits(dice, 3)}"
            elif draw < 0.6:
                name = f"{name}-{_digits(dice, 4)}"
            words.insert(int(dice.integers(len(words) + 1)), name)
        return " ".join(words)[: longest + 10]

    def _changed(self, script: str, text: str, dice: Dice) -> str:
        draw = dice.random()
        if script in ("cyrillic", "greek") and draw < 0.1:
            return text.upper()
        if script == "arabic" and draw < 0.04:
            found = [at for at, sign in enumerate(text[:-1]) if sign in JOINED and text[at + 1].isalpha()]
            if found:
                at = _of(found, dice) + 1
                return text[:at] + "\u0640" * int(dice.integers(1, 4)) + text[at:]
        if script == "arabic" and draw < 0.09:
            return _vowelled(text, dice)
        if script == "devanagari" and draw < 0.03:
            return text.replace("्", "्\u200c", 1)
        return text


def _devanagari(dice: Dice) -> str:
    """A syllable as it may be written: other marks would stand on circles of dots."""
    if dice.random() < 0.15:
        made = _of(LETTERS["devanagari"][:17], dice)
    else:
        made = _of(CONSONANTS, dice) + "़" * (dice.random() < 0.05)
        while dice.random() < 0.2:
            made += "्" + _of(CONSONANTS, dice)
        made += _of(VOWELS, dice) if dice.random() < 0.6 else ""
    return made + (_of("ंँः", dice) if dice.random() < 0.15 else "")


def _thai(dice: Dice) -> str:
    before = _of("เแโใไ", dice) if dice.random() < 0.25 else ""
    made = before + _of(LETTERS["thai"][:46], dice)
    if dice.random() < 0.4:
        made += _of("ัิีึืฺุู็ํ", dice)
    if dice.random() < 0.3:
        made += _of("่้๊๋์", dice)
    return made + (_of("ะาำๆฯๅ", dice) if dice.random() < 0.25 else "")


CONSONANTS = "कखगघङचछजझञटठडढणतथदधनपफबभमयरलळवशषसह"
VOWELS = "ािीुूृॄॅेैॉोौॆॊ"
SYLLABLES = {"devanagari": _devanagari, "thai": _thai}


def _letters(script: str) -> str:
    """Letters to draw words of, those of everyday more often."""
    own = LETTERS[script]
    if script == "cyrillic":
        return own + "абвгдежзийклмнопрстуфхцчшщъыьэюяієїґёјљњћђџў" * 3
    if script == "arabic":
        return own + own[:LETTERS_OF_ARABIC]
    return own + own.lower() if script == "greek" else own


def spelt_alike(text: str) -> str:
    """Arabic as one language spells it: letters and digits that look the same depend on it."""
    arabs, persians = (sum(text.count(sign) for sign in signs) for signs in ("يكىةأإ", "یکےہںۓ"))
    if arabs > persians:
        return text.translate(AS_ARABS)
    made = text.translate(AS_PERSIANS)
    return made.replace("ه", "ہ") if any(sign in made for sign in "ٹڈڑےں") else made


def _vowelled(text: str, dice: Dice) -> str:
    marks = MARKS["arabic"][:8]
    made = []
    for sign in text:
        made.append(sign)
        if sign in LETTERS["arabic"] and dice.random() < 0.5:
            made.append(marks[int(dice.integers(len(marks)))])
    return "".join(made)


def _marked(text: str, script: str, dice: Dice) -> str:
    """With a bullet, a number, quotes or brackets, or an end of its own, sometimes."""
    draw = dice.random()
    ends = ENDS.get(script, ".,;!?:")
    if draw < 0.05:
        begin, end = _of(QUOTES[script], dice)
        return f"{begin}{text}{end}"
    if draw < 0.1:
        words = text.split()
        at = int(dice.integers(len(words))) if words else 0
        begin, end = _of(("()", "[]", "()", "{}", *QUOTES[script]), dice)
        return " ".join((*words[:at], begin + " ".join(words[at : at + 2]) + end, *words[at + 2 :]))
    if draw < 0.13:
        return f"{_of(BULLETS, dice)} {text}"
    if draw < 0.17:
        return f"{_number(script, dice, plain=True)}{_of('.):', dice)} {text}"
    if draw < 0.23:
        return text.rstrip() + ends[int(dice.integers(len(ends)))]
    if draw < 0.26:
        return f"{text} {_of(RARE, dice)} {_number(script, dice)}"
    if draw < 0.28:
        return f"{text} {_of(POINTS[script], dice)}"
    return text


def _of(choices: Sequence[Choice], dice: Dice) -> Choice:
    return choices[int(dice.integers(len(choices)))]


def _digits(dice: Dice, most: int) -> str:
    return str(int(dice.integers(1, 10 ** int(dice.integers(1, most + 1)))))


def _number(script: str, dice: Dice, plain: bool = False) -> str:
    if plain:
        return _own_digits(_digits(dice, 2), script, dice)
    shape = _of(NUMBERS, dice) if dice.random() < 0.7 else _of(MORE_NUMBERS, dice)
    made = shape.format(
        _digits(dice, 5),
        _digits(dice, 3),
        int(dice.integers(24)),
        f"{int(dice.integers(60)):02d}",
        f"{int(dice.integers(1, 32)):02d}",
        f"{int(dice.integers(1, 13)):02d}",
        int(dice.integers(1900, 2031)),
        int(dice.integers(1, 999)),
    )
    if dice.random() < 0.15:
        coin = _of(COINS[script], dice)
        made = f"{made} {coin}" if dice.random() < 0.7 else f"{coin}{made}"
    return _own_digits(made, script, dice)


def _own_digits(number: str, script: str, dice: Dice) -> str:
    """With the digits of the script, often or seldom."""
    share = {"arabic": 0.6, "devanagari": 0.4, "thai": 0.2}.get(script, 0.0)
    if dice.random() >= share:
        return number
    own = DIGITS[script]
    at = 10 if script == "arabic" and dice.random() < 0.45 else 0
    made = number.translate({0x30 + digit: own[at + digit] for digit in range(10)})
    return made.replace("%", "٪").replace(",", "٬") if script == "arabic" else made
