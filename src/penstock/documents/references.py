"""Which figure or table a text speaks of: "그림 3", "Table 2", in captions and in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["figure", "table"]
Key = tuple[Kind, str]

_WORDS = (
    r"(?P<figure>그림|사진|도표|차트|Figures?|FIGURE|Figs?\.?|FIG\.?|Chart|Exhibit|图|図)|"
    r"(?P<table>표|Tables?|TABLE|Tab\.|表)"
)
_NUMBER = r"(?P<number>[A-Z]?\d{1,3}(?:[-.–]\d{1,3}){0,3})"
_CAPTION = re.compile(rf"\s*[\[<〈《【(]?\s*(?:{_WORDS})\s?{_NUMBER}")
_MENTION = re.compile(rf"(?<![\w가-힣])[\[<〈《【(]?(?:{_WORDS})\s?{_NUMBER}")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")
LONGEST_SENTENCE = 240


def caption_key(text: str) -> Key | None:
    """("figure", "3") for "[그림 3] 유량의 변화"; None for a caption without a number."""
    found = _CAPTION.match(text)
    return _key(found) if found else None


def mentions(text: str) -> list[Key]:
    """What a text refers to, each once, in order."""
    return list(dict.fromkeys(_key(found) for found in _MENTION.finditer(text)))


def sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE_END.split(text):
        if part.strip():
            yield part.strip()[:LONGEST_SENTENCE]


def _key(found: re.Match[str]) -> Key:
    return ("figure" if found["figure"] else "table"), found["number"].replace("–", "-")
