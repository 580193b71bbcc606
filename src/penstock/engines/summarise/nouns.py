"""Finds the nouns of a text, the most telling first: with Kiwi if it is installed, else by plain rules.

Korean words lose their particles; Latin words stay as written. Words rank by how often they occur and by
their length: a compound says more than its parts.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

MAX_CHARS = 6_000  # characters looked at: a table's keywords do not change after that
_HANGUL_WORD = re.compile(r"[가-힣]{2,}")
_LATIN_WORD = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z0-9]*(?:[-_./][A-Za-z0-9]+)*")
_PARTICLE = re.compile(
    r"(?<=[가-힣]{2})(?:으로써|으로서|에서는|에서의|에게서|까지의|부터의|이라는|으로|에서|에게|까지|부터|처럼|보다|"
    r"이나|이란|라는|하는|되는|했다|한다|된다|하고|되고|하여|되어|입니다|합니다|됩니다|습니다|있는|없는|"
    r"은|는|이|가|을|를|의|에|와|과|로|도|만|며|고)$"
)
_STOP_KO = frozenset({
    "경우", "이상", "이하", "정도", "대한", "통해", "위해", "따라", "관련", "해당",
    "다음", "아래", "여러", "우리", "그림", "사진", "번호", "내용", "있다", "없다",
    "한다", "된다", "이다", "에서", "으로", "그리고", "그러나", "하지만", "또는",
    "대해", "때문", "자체", "가지",
})  # fmt: skip
_STOP_EN = frozenset({
    "the", "a", "an", "and", "or", "of", "in", "on", "to", "for", "with", "from", "by", "at", "as", "is",
    "are", "was", "were", "be", "been", "it", "its", "this", "that", "these", "those", "figure", "fig",
    "table", "chart", "no", "not", "than", "then", "per", "all", "each", "can", "may", "into", "over",
    "under", "between", "which", "who", "how", "what", "one", "two", "three", "their", "there", "they",
    "he", "she", "we", "you", "our", "your", "his", "her", "have", "has", "had", "do", "does", "did",
    "will", "would", "about", "after", "against", "along", "also", "among", "any", "because", "before",
    "both", "but", "during", "every", "far", "gave", "give", "given", "gives", "if", "more", "most", "much",
    "many", "only", "other", "out", "same", "shown", "shows", "since", "so", "some", "such", "through",
    "until", "up", "used", "uses", "using", "when", "where", "while", "within", "without",
})  # fmt: skip


class Nouns:
    """`korean` and `latin` return words of a text, best first. Kiwi opens with the first Korean text."""

    def __init__(self, use_kiwi: bool = True) -> None:
        self._use_kiwi = use_kiwi
        self._lock = threading.Lock()  # Kiwi is one object for all threads of a stage

    def korean(self, text: str, limit: int = 10) -> list[str]:
        words = list(self._korean(text[:MAX_CHARS]))
        counts = Counter(word for word in words if word not in _STOP_KO and len(word) > 1)
        place = {word: at for at, word in reversed(list(enumerate(words)))}
        ranked = sorted(counts, key=lambda word: (-counts[word] * min(len(word), 5), place[word]))
        return _without_parts(ranked)[:limit]

    def latin(self, text: str, limit: int = 10) -> list[str]:
        words = [word.rstrip(".-_/") for word in _LATIN_WORD.findall(text[:MAX_CHARS])]
        kept = [word for word in words if len(word) > 1 and word.lower() not in _STOP_EN and _is_word(word)]
        counts = Counter(word.lower() for word in kept)
        written = {word.lower(): word for word in reversed(kept)}
        place = {word.lower(): at for at, word in reversed(list(enumerate(kept)))}
        ranked = sorted(counts, key=lambda word: (-counts[word], place[word]))
        return [written[word] for word in ranked][:limit]

    def _korean(self, text: str) -> Iterator[str]:
        if not _HANGUL_WORD.search(text):
            return
        kiwi = _kiwi() if self._use_kiwi else None
        if kiwi is None:
            yield from (_PARTICLE.sub("", word) for word in _HANGUL_WORD.findall(text))
            return
        with self._lock:
            tokens = kiwi.tokenize(text)
        yield from _compounds(tokens)


def _is_word(text: str) -> bool:
    """Whether letters outnumber digits: serial numbers are no keywords."""
    return sum(map(str.isalpha, text)) >= sum(map(str.isdigit, text))


def _compounds(tokens: Sequence[Any]) -> Iterator[str]:
    """Joins nouns without a space between them to one word: 해킹 + 진단 + 도구, 비 + 활성화."""
    run: list[tuple[str, str]] = []
    end = -1
    for place, token in enumerate(tokens):
        starts = token.tag in ("NNG", "NNP", "XPN", "XR")
        goes_on = starts or token.tag == "XSN" or _is_noun_end(tokens, place)
        if run and goes_on and token.start == end:
            run.append((token.form, token.tag))
        else:
            yield from _whole(run)
            run = [(token.form, token.tag)] if starts else []
        end = token.start + token.len
    yield from _whole(run)


def _is_noun_end(tokens: Sequence[Any], place: int) -> bool:
    """Whether an adverb is a noun's last syllable: 디펜 + 더. No adverb comes between noun and particle."""
    token = tokens[place]
    if token.tag != "MAG" or token.len != 1:
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    glued = after is not None and after.start == token.start + token.len
    return after is None or not glued or after.tag[0] in "JS"


def _whole(run: list[tuple[str, str]]) -> Iterator[str]:
    """Yields the joined word, unless it is a lone prefix or root (중요, of 중요하다), which is no noun."""
    if len(run) > 1 or (run and run[0][1] in ("NNG", "NNP")):
        yield "".join(form for form, _ in run)


def _without_parts(words: list[str]) -> list[str]:
    """Drops words that are part of a better one."""
    kept: list[str] = []
    for word in words:
        if not any(word in longer for longer in kept):
            kept.append(word)
    return kept


@lru_cache(maxsize=1)
def _kiwi() -> Any:
    """Opens Kiwi once for the process: 2 s and 300 MB. Returns None if kiwipiepy is not installed."""
    try:
        from kiwipiepy import Kiwi  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return Kiwi(num_workers=1)
