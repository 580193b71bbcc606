"""The texts of lines, made anew each time: sentences of our sources, sentences of a small grammar, and what
else documents hold: numbers, dates, sums, units, addresses, headings, list marks, cells of tables, Latin
words, and rows of rare syllables. Everything comes from the dice given.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from receipts import receipt_text
from signs import FIRST_SYLLABLE, NUM_FINALS, NUM_SYLLABLES, SIGNS, UNKNOWN, is_syllable, written

HOLE = "\x00"
Dice = np.random.Generator
Choice = TypeVar("Choice")
# after a syllable with a final consonant, and after one without
PARTICLES = (
    ("은", "는"), ("이", "가"), ("을", "를"), ("과", "와"), ("으로", "로"), ("이나", "나"), ("이라는", "라는"), ("이라고", "라고"),
    ("이며", "며"), ("이란", "란"), ("에", "에"), ("에서", "에서"), ("의", "의"), ("도", "도"), ("만", "만"), ("까지", "까지"),
    ("부터", "부터"), ("에게", "에게"), ("보다", "보다"), ("에는", "에는"), ("에서는", "에서는"), ("으로는", "로는"), ("들이", "들이"),
    ("들은", "들은"), ("마다", "마다"), ("처럼", "처럼"), ("만큼", "만큼"), ("조차", "조차"), ("이라도", "라도"), ("에도", "에도"),
)  # fmt: skip
DONE = ("한다", "합니다", "했다", "했습니다", "하였다", "하였습니다", "된다", "됩니다", "되었다", "되었습니다", "됐다", "이다", "입니다", "임", "함", "됨",
        "해야 한다", "할 수 있다", "할 수 없다", "하고 있다", "되고 있습니다", "하기로 했다", "하지 않는다", "시킨다", "받았다")  # fmt: skip
GOING_ON = (
    "하고",
    "하여",
    "해서",
    "하며",
    "하면",
    "하지만",
    "하는데",
    "되어",
    "되고",
    "되면",
    "되었으나",
    "했으며",
    "하였고",
    "하기 위해",
    "시켜",
    "함에 따라",
)
OF_NOUNS = (
    "하는",
    "한",
    "할",
    "된",
    "되는",
    "될",
    "했던",
    "적인",
    "에 대한",
    "을 위한",
    "에 따른",
    "에 의한",
    "시키는",
    "중인",
    "받은",
    "없는",
    "있는",
    "의",
)
UNITS = ("개", "명", "원", "년", "월", "일", "시", "분", "초", "%", "건", "회", "대", "권", "쪽", "장", "세", "km", "kg", "cm", "mm", "m", "g", "L", "ml",
         "MB", "GB", "Hz", "kHz", "V", "W", "kW", "℃", "°C", "㎡", "㎏", "㎝", "㎞", "억원", "만원", "천원", "달러", "배", "위", "차", "호", "층", "주", "곳", "점",
         "조 원", "억 달러", "만 명", "여 명", "%p", "포인트")  # fmt: skip
BULLETS = (
    "•",
    "·",
    "-",
    "○",
    "●",
    "■",
    "□",
    "▶",
    "※",
    "*",
    "▪",
    "◦",
    "◆",
    "◇",
    "★",
    "☞",
    "→",
    "✓",
    "◎",
    "▲",
    "–",
    "ㅇ",
    "o",
)
BRACKETS = ("()", "[]", "<>", "「」", "『』", "《》", "〈〉", "【】", "“”", "‘’", '""', "''", "{}", "〔〕")
ENDS = (".", ".", ".", ".", ",", "", "", "?", "!", ":", ";", "…", "...", ".”", ".)", "。")
DOMAINS = ("com", "co.kr", "or.kr", "go.kr", "net", "org", "kr", "ac.kr", "io")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
FREQUENT = 2.2  # words are drawn from the first of a list this much more often than evenly: by a power


class Texts:
    """Draws lines of text. `held_out` draws from the twentieth of the sentences that training never sees."""

    def __init__(self, file: Path, held_out: bool = False) -> None:
        self._kinds: dict[str, list[str]] = json.loads(lzma.decompress(file.read_bytes()))
        for name in ("korean", "english", "people"):
            self._kinds[name] = [
                text for at, text in enumerate(self._kinds[name]) if (at % 20 == 7) == held_out
            ]
        self._makers: tuple[tuple[Callable[[Dice], str], float], ...] = (
            (self._sentence, 0.30),
            (self._grammatical, 0.34),
            (self._numbers, 0.11),
            (self._latin, 0.06),
            (self._rare, 0.08),
            (self._heading, 0.05),
            (self._address, 0.03),
            (self._signs, 0.03),
        )
        self._shares = np.cumsum([share for _, share in self._makers])

    @property
    def korean(self) -> list[str]:
        """The sentences of the sources."""
        return self._kinds["korean"]

    def line(self, dice: Dice, longest: int) -> str:
        """A line of at most so many characters, spelled as the reader would write it."""
        made = self._makers[int(np.searchsorted(self._shares, dice.random() * self._shares[-1]))][0](dice)
        text = written(made)
        if len(text) > longest:
            text = _window(text, longest, dice)
        return text or "가"

    def receipt(self, dice: Dice, longest: int) -> str:
        """A line of a till's receipt of at most so many characters."""
        text = written(receipt_text(self._kinds["english"], dice).replace(HOLE, ""))
        return _window(text, longest, dice) if len(text) > longest else text

    def _word(self, kind: str, dice: Dice) -> str:
        words = self._kinds[kind]
        return words[int(len(words) * dice.random() ** FREQUENT)]

    def _any(self, kind: str, dice: Dice) -> str:
        return _one(self._kinds[kind], dice)

    def _sentence(self, dice: Dice) -> str:
        parts = [self._filled(self._any("korean", dice), dice)]
        while len(parts[-1]) < 60 and dice.random() < 0.6:
            parts.append(self._filled(self._any("korean", dice), dice))
        return " ".join(parts)

    def _filled(self, text: str, dice: Dice) -> str:
        while HOLE in text:
            text = text.replace(HOLE, self._filling(dice), 1)
        return text

    def _filling(self, dice: Dice) -> str:
        choice = dice.random()
        if choice < 0.4:
            return _number(dice)
        return self._latin_word(dice) if choice < 0.7 else self._word("nouns", dice)

    def _latin_word(self, dice: Dice) -> str:
        words = self._any("english", dice).replace(HOLE, "").split()
        word = _one(words, dice) if words else "A"
        choice = dice.random()
        if choice < 0.12:
            return "".join(_one(LETTERS, dice) for _ in range(dice.integers(1, 9)))
        return word.upper() if choice < 0.3 else word.capitalize() if choice < 0.5 else word

    def _grammatical(self, dice: Dice) -> str:
        made: list[str] = []
        length = int(dice.integers(4, 60))
        while sum(map(len, made)) < length:
            made += self._clause(dice)
        return " ".join(made)

    def _clause(self, dice: Dice) -> list[str]:
        """Modifier, nouns with their particles, and a predicate that ends the clause or goes on."""
        words = [self._word("adverbs", dice)] if dice.random() < 0.25 else []
        for _ in range(int(dice.integers(1, 4))):
            if dice.random() < 0.35:
                words.append(self._before_noun(dice))
            words.append(self._noun_with_particle(dice))
        ends = dice.random() < 0.45
        if dice.random() < 0.5:
            verb = self._word("nouns", dice) + _one(DONE if ends else GOING_ON, dice)
        else:
            verb = self._word("finals" if ends else "links", dice)
        return [*words, verb + (_one(ENDS, dice) if ends else "," if dice.random() < 0.2 else "")]

    def _before_noun(self, dice: Dice) -> str:
        if dice.random() < 0.5:
            return self._word("modifiers", dice)
        return self._word("nouns", dice) + _one(OF_NOUNS, dice)

    def _noun_with_particle(self, dice: Dice) -> str:
        choice = dice.random()
        if choice < 0.72:
            noun = self._word("nouns", dice)
        elif choice < 0.84:
            noun = self._word("names", dice)
        elif choice < 0.92:
            noun = self._latin_word(dice)
        else:
            noun = _number(dice) + _one(UNITS, dice)
        if dice.random() < 0.08:
            noun += f"({self._inside(dice)})"
        elif dice.random() < 0.05:
            opening, closing = _one(BRACKETS, dice)
            noun = opening + noun + closing
        return noun + (_particle(noun, dice) if dice.random() < 0.8 else "")

    def _inside(self, dice: Dice) -> str:
        choice = dice.random()
        if choice < 0.25:
            return UNKNOWN * int(dice.integers(1, 5))  # Chinese characters, as Korean texts explain words
        if choice < 0.6:
            return self._latin_word(dice)
        return (
            _number(dice) + _one(("", "년", "%", "개", "세"), dice)
            if choice < 0.8
            else self._word("nouns", dice)
        )

    def _numbers(self, dice: Dice) -> str:
        makers = (_date, _sum, _time, _telephone, _cells, _number_list, self._counted)
        return "  ".join(_one(makers, dice)(dice) for _ in range(int(dice.integers(1, 4))))

    def _counted(self, dice: Dice) -> str:
        return f"{self._word('nouns', dice)} {_number(dice)}{_one(('', ' '), dice)}{self._word('counters', dice)}"

    def _latin(self, dice: Dice) -> str:
        if dice.random() < 0.7:
            return self._any("english", dice).replace(HOLE, _number(dice))
        return " ".join(self._latin_word(dice) for _ in range(int(dice.integers(1, 6))))

    def _rare(self, dice: Dice) -> str:
        """Words of syllables that are all as likely: a syllable that was never seen would never be read."""
        words = []
        for _ in range(int(dice.integers(1, 6))):
            letters = dice.integers(0, NUM_SYLLABLES, int(dice.integers(1, 7)))
            if dice.random() < 0.3:
                letters -= letters % NUM_FINALS
            words.append("".join(chr(FIRST_SYLLABLE + int(letter)) for letter in letters))
            if dice.random() < 0.4:
                words.append(self._noun_with_particle(dice))
        return " ".join(words)

    def _heading(self, dice: Dice) -> str:
        title = " ".join([self._before_noun(dice)] * (dice.random() < 0.5) + [self._word("nouns", dice)])
        number = int(dice.integers(1, 30))
        marks = (
            f"{number}. ", f"{number}) ", f"({number}) ", f"제{number}장 ", f"제{number}조", f"{number}.{number % 7 + 1} ",
            f"{'가나다라마바사아자차카타파하'[number % 14]}. ", f"{'ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ'[number % 10]}. ", chr(0x2460 + number % 20) + " ",
            _one(BULLETS, dice) + " ", f"<표 {number}> ", f"[그림 {number}-{number % 9}] ", f"{_one(LETTERS, dice)}. ", "",
        )  # fmt: skip
        end = _one(
            ("", "", "", ":", f" {'.' * int(dice.integers(4, 20))} {number * 3}", f" {_number(dice)}"), dice
        )
        return _one(marks, dice) + title + end

    def _address(self, dice: Dice) -> str:
        choice = dice.random()
        if choice < 0.3:
            return f"{self._latin_word(dice).lower()}@{self._latin_word(dice).lower()}.{_one(DOMAINS, dice)}"
        if choice < 0.55:
            return f"{_one(('http://', 'https://', 'www.', ''), dice)}{self._latin_word(dice)}.{_one(DOMAINS, dice)}/{self._latin_word(dice)}"
        return " ".join(self._any("people", dice) for _ in range(int(dice.integers(1, 4))))

    def _signs(self, dice: Dice) -> str:
        """Signs in no order, some between words."""
        made = [_one(SIGNS, dice) for _ in range(int(dice.integers(1, 12)))]
        if dice.random() < 0.5:
            made.insert(len(made) // 2, self._word("nouns", dice))
        return _one(("", " "), dice).join(made)


def _one(choices: Sequence[Choice], dice: Dice) -> Choice:
    return choices[int(dice.integers(len(choices)))]


def _particle(noun: str, dice: Dice) -> str:
    closed, opened = _one(PARTICLES, dice)
    last = noun[-1]
    has_final = is_syllable(last) and (ord(last) - FIRST_SYLLABLE) % NUM_FINALS > 0
    return closed if has_final else opened


def _window(text: str, longest: int, dice: Dice) -> str:
    """A part of a text that begins with a word, or here and there inside one, and is no longer than that."""
    starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == " " and at < len(text) - longest // 2)]
    start = _one(starts, dice) if dice.random() < 0.9 else int(dice.integers(len(text) - longest + 1))
    return text[start : start + longest].strip()


def _number(dice: Dice) -> str:
    digits = int(dice.integers(0, 10 ** int(dice.integers(1, 8))))
    choice = dice.random()
    if choice < 0.45:
        return str(digits)
    if choice < 0.7:
        return f"{digits:,}"
    return f"{digits % 10000}.{dice.integers(0, 1000)}" if choice < 0.95 else f"{'-+±'[digits % 3]}{digits}"


def _date(dice: Dice) -> str:
    year, month, day = int(dice.integers(1900, 2040)), int(dice.integers(1, 13)), int(dice.integers(1, 32))
    weekday = "월화수목금토일"[day % 7]
    forms = (
        f"{year}년 {month}월 {day}일", f"{year}. {month}. {day}.", f"{year}-{month:02}-{day:02}", f"{year}.{month:02}.{day:02}", f"{month}월 {day}일({weekday})",
        f"’{year % 100:02}. {month}. {day}", f"{year}년", f"{year}/{month:02}/{day:02}", f"{year}～{year + day}년", f"{month}/{day}", f"{year}년도", f"({weekday})",
        f"{year}년 {month}월", f"{day}일 {_time(dice)}", f"{year % 100}년 {month % 4 + 1}분기",
    )  # fmt: skip
    return _one(forms, dice)


def _time(dice: Dice) -> str:
    hour, minute = int(dice.integers(0, 24)), int(dice.integers(0, 60))
    forms = (
        f"{hour:02}:{minute:02}",
        f"오전 {hour % 12}시 {minute}분",
        f"오후 {hour % 12}시",
        f"{hour}:{minute:02}~{hour}:59",
        f"{hour}시간 {minute}분",
    )
    return _one(forms, dice)


def _sum(dice: Dice) -> str:
    number = _number(dice)
    forms = (
        f"{number}원",
        f"₩{number}",
        f"${number}",
        f"{number}%",
        f"약 {number}억 원",
        f"{number}{_one(UNITS, dice)}",
        f"{number} {_one(UNITS, dice)}",
        f"({number})",
        f"△{number}",
        f"{number}×{number}",
        f"{number} / {_number(dice)}",
        f"{number}~{_number(dice)}",
        f"≥ {number}",
        f"±{number}",
    )
    return _one(forms, dice)


def _telephone(dice: Dice) -> str:
    first, last = int(dice.integers(100, 10000)), int(dice.integers(0, 10000))
    code = _one(("02", "031", "051", "010", "1588", "+82-2", "070"), dice)
    forms = (
        f"{code}-{first}-{last:04}",
        f"☎ {code}) {first}-{last:04}",
        f"전화: {code}-{first}-{last:04}",
        f"({first:05})",
        f"우) {first:05}",
    )
    return _one(forms, dice)


def _cells(dice: Dice) -> str:
    return "   ".join(_number(dice) for _ in range(int(dice.integers(2, 7))))


def _number_list(dice: Dice) -> str:
    return _one((", ", " · ", "-", ".", "/", ":"), dice).join(
        str(int(dice.integers(0, 10000))) for _ in range(int(dice.integers(1, 7)))
    )
