"""Words to search by: Korean morphemes, stemmed English, numbers, pairs of Han characters.

Kiwi splits Korean, also where spaces are missing, and leaves particles and endings out. A noun of three
syllables or more is also kept as pairs of syllables: a compound that Kiwi takes for one unknown word
still meets its parts. Every word knows where it stands, so that a snippet can mark it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import MissingModel, install_advice
from penstock.retrieval.stop_words import STOP_WORDS
from penstock.scripts import SYLLABLE

# nouns, stems of verbs and adjectives, roots, adverbs
KEPT_TAGS = ("NNG", "NNP", "NR", "VV", "VA", "XR", "MAG")
PAIRS_FROM = 3  # syllables of a noun
CHUNK = 512  # texts Kiwi's threads share at once
MAX_FORMS = 60_000  # Korean forms of one build that are remembered: 10 MB. Who has more has a large run
Forms = dict[str, set[str]]  # words as they are written, and what they are searched by

_LATIN = re.compile(r"[^\W\d_가-힣\u3040-\u30ff\u3400-\u9fff]+|\d+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class SearchWord:
    """A word to search by and the characters it came from."""

    token: str
    start: int
    end: int


class Tokeniser:
    """Holds the stemmer. Kiwi opens when the first Korean text comes.

    `forms` remembers how Korean words were written, if a dictionary is given; None when it grew large.
    """

    def __init__(self, threads: int = 1, forms: Forms | None = None) -> None:
        try:
            import Stemmer
        except ImportError as exc:
            raise MissingModel("Search needs PyStemmer.", install_advice("search")) from exc
        self._stemmer = Stemmer.Stemmer("english")
        self._threads = threads
        self.forms = forms

    def of(self, text: str) -> list[SearchWord]:
        [words] = self.of_many([text])
        return words

    def of_many(self, texts: Iterable[str]) -> Iterator[list[SearchWord]]:
        """Yields each text's words in the order of the texts."""
        chunk: list[str] = []
        for text in texts:
            chunk.append(unicodedata.normalize("NFC", text))
            if len(chunk) == CHUNK:
                yield from self._chunk(chunk)
                chunk = []
        yield from self._chunk(chunk)

    def places(self, text: str, wanted: set[str]) -> list[SearchWord]:
        """Returns where wanted words stand, by their letters: ten snippets cost 0.2 ms, by Kiwi 35."""
        found = [word for word in self._others(text) if word.token in wanted]
        for token in wanted:
            if SYLLABLE.match(token):
                found += [SearchWord(token, m.start(), m.end()) for m in re.finditer(re.escape(token), text)]
        return sorted(found, key=lambda word: word.start)

    def without_korean(self, text: str) -> list[SearchWord]:
        return list(self._others(unicodedata.normalize("NFC", text)))

    def line(self, words: Iterable[SearchWord]) -> str:
        """Returns the words as the index keeps them."""
        return " ".join(word.token for word in words)

    def _chunk(self, texts: list[str]) -> Iterator[list[SearchWord]]:
        with_korean = [text for text in texts if SYLLABLE.search(text)]
        split = iter(_kiwi(self._threads).tokenize(with_korean) if with_korean else ())
        for text in texts:
            words = list(self._others(text))
            if SYLLABLE.search(text):
                korean = list(_korean(next(split)))
                self._remember(text, korean)
                words += korean
            yield sorted(words, key=lambda word: word.start)

    def _remember(self, text: str, words: list[SearchWord]) -> None:
        if self.forms is None:
            return
        for word in words:
            self.forms.setdefault("".join(text[word.start : word.end].split()), set()).add(word.token)
            if not word.token.startswith("~"):
                self.forms.setdefault(word.token, set()).add(word.token)
        if len(self.forms) > MAX_FORMS:
            self.forms = None

    def _others(self, text: str) -> Iterator[SearchWord]:
        for match in _LATIN.finditer(text):
            token = self._stemmer.stemWord(match.group().casefold())
            yield SearchWord(token, match.start(), match.end())
        for match in _HAN.finditer(text):
            run, first = match.group(), match.start()
            for place in range(max(1, len(run) - 1)):
                yield SearchWord(run[place : place + 2], first + place, first + min(place + 2, len(run)))


@functools.cache
def _kiwi(threads: int) -> Any:
    """Returns the one Kiwi of this process: 2 s to load, 200 MB to keep.

    Its dictionary of names of several words is half of that. Without it a name written together (이안머독)
    stays one word, and a search for a part of it finds nothing.
    """
    try:
        from kiwipiepy import Kiwi
    except ImportError as exc:
        raise MissingModel("Korean search needs kiwipiepy.", install_advice("search")) from exc
    return Kiwi(num_workers=threads)


def _korean(tokens: Iterable[Any]) -> Iterator[SearchWord]:
    for token in tokens:
        if not token.tag.startswith(KEPT_TAGS) or not SYLLABLE.search(token.form):
            continue
        end = token.start + token.len
        for form in token.form.split():  # Kiwi knows some names of two words
            yield SearchWord(form, token.start, end)
            if token.tag.startswith("NN") and len(form) >= PAIRS_FROM:
                yield from (SearchWord(f"~{form[n : n + 2]}", token.start, end) for n in range(len(form) - 1))


def telling(tokens: Iterable[str]) -> list[str]:
    """Returns the words of a question that say something, each once; all of them where none does.

    By "what", "is" and "the" alone every page is found.
    """
    once = list(dict.fromkeys(tokens))
    return [token for token in once if token not in STOP_WORDS] or once


def snippet(text: str, words: list[SearchWord], wanted: set[str], width: int = 160, marks: str = "**") -> str:
    """Returns the stretch of `text` that holds most different wanted words, with each marked."""
    hits = [word for word in words if word.token in wanted]
    start = _best_start(hits, width)
    left = max(0, start - width // 5)
    right = min(len(text), left + width)
    shown, place = [], left
    for begin, end in _merged([h for h in hits if h.start >= left and h.end <= right]):
        shown += [text[place:begin], marks, text[begin:end], marks]
        place = end
    body = " ".join("".join([*shown, text[place:right]]).split())
    return ("… " if left else "") + body + (" …" if right < len(text) else "")


def _best_start(hits: list[SearchWord], width: int) -> int:
    best, start = 0, 0
    for first in hits:
        inside = {
            hit.token for hit in hits if first.start <= hit.start and hit.end <= first.start + width * 4 // 5
        }
        if len(inside) > best:
            best, start = len(inside), first.start
    return start


def _merged(hits: list[SearchWord]) -> Iterator[tuple[int, int]]:
    """Spans that touch or overlap, as one."""
    spans: list[tuple[int, int]] = []
    for hit in sorted(hits, key=lambda hit: hit.start):
        if spans and hit.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], hit.end))
        else:
            spans.append((hit.start, hit.end))
    return iter(spans)


def question_tokens(question: str) -> list[str]:
    """Returns the words of a question to search by, for a process of its own: Kiwi takes seconds to load."""
    return [word.token for word in Tokeniser().of(question)]
