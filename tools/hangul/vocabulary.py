"""Words in the forms that sentences need, common ones first; Kiwi (Apache-2.0) joins stems and endings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice, product
from pathlib import Path

from kiwipiepy import Kiwi
from signs import written

from sources import HOLE, dictionary, korean_texts, people_and_places

MAX_NOUNS, MAX_NAMES, MAX_STEMS = 60_000, 25_000, 1_600
TENSES = ("", "었", "겠", "시", "었었")
FINAL = (
    "다",
    "습니다",
    "어요",
    "는다",
    "습니까",
    "자",
    "으세요",
    "네",
    "군요",
    "지요",
    "는데요",
    "을까",
    "음",
    "기",
)
LINKING = (
    "고",
    "으며",
    "어서",
    "으면",
    "지만",
    "는데",
    "도록",
    "으니",
    "거나",
    "으려고",
    "게",
    "어야",
    "자마자",
    "던데",
    "으나",
    "느라",
    "을수록",
)
OF_VERBS = ("는", "자", "느", "으려", "으세")  # endings that adjectives do not take
BEFORE_NOUNS = ("는", "은", "을", "던", "었던", "는다는", "었을")


def texts(kept: Path) -> dict[str, list[str]]:
    """All that lines are made of, by kind."""
    korean, english = korean_texts(kept)
    words = dictionary(kept)
    return {
        "korean": _written(korean),
        "english": _written(english),
        "people": _written(people_and_places(kept)),
        "nouns": _common(words, ("NNG",), MAX_NOUNS),
        "names": _common(words, ("NNP",), MAX_NAMES),
        "adverbs": _common(words, ("MAG", "MAJ", "MM", "NP"), 4_000),
        "counters": _common(words, ("NNBC",), 400),
        **_inflected([(word, part) for _, part, word in words if part in ("VV", "VA")]),
    }


def _written(found: Iterable[str]) -> list[str]:
    """Texts of our own signs alone, holes kept."""
    spelled = (HOLE.join(written(f"x{part}x")[1:-1] for part in text.split(HOLE)) for text in found)
    return list(dict.fromkeys(text for text in spelled if "\ufffd" not in text and len(text.strip()) > 1))


def _common(words: Iterable[tuple[int, str, str]], parts: tuple[str, ...], most: int) -> list[str]:
    return list(islice(dict.fromkeys(word for _, part, word in words if part in parts), most))


def _inflected(stems: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The forms of the commonest stems, in an order in which the beginning of each list has many stems."""
    kiwi = Kiwi()
    chosen = [(stem, _tag(stem, part)) for stem, part in islice(dict.fromkeys(stems), MAX_STEMS)]
    kinds = {
        "finals": ("EF", FINAL, TENSES),
        "links": ("EC", LINKING, TENSES[:2]),
        "modifiers": ("ETM", BEFORE_NOUNS, ("",)),
    }
    found: dict[str, list[str]] = {}
    for name, (tag, endings, tenses) in kinds.items():
        forms = (
            kiwi.join([(stem, part), *([(tense, "EP")] if tense else []), (ending, tag)])
            for (ending, tense), (stem, part) in product(product(endings, tenses), chosen)
            if part == "VV" or not ending.startswith(OF_VERBS)
        )
        found[name] = list(dict.fromkeys(form for form in forms if re.fullmatch("[가-힣]+", form)))
    return found


def _tag(stem: str, part: str) -> str:
    """Kiwi's tag: it must be told that adjectives such as 아름답 change before a vowel."""
    changes = part == "VA" and (ord(stem[-1]) - 0xAC00) % 28 == 17 and stem[-1] not in "좁굽"
    return f"{part}-I" if changes else part
