"""Which figure or table a text speaks of: "그림 3", "Table 2", in captions and in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from penstock.documents.docjson.model import Relation

Kind = Literal["figure", "table"]
Key = tuple[Kind, str]

_WORDS = (
    r"(?P<figure>그림|사진|도표|차트|Figures?|FIGURE|Figs?\.?|FIG\.?|Chart|Exhibit|图|図)|"
    r"(?P<table>표|Tables?|TABLE|Tab\.|表)"
)
_NUMBER = r"(?P<number>[A-Z]?\d{1,3}(?:[-.–]\d{1,3}){0,3})"
_CAPTION = re.compile(rf"\s*[\[<〈《【(]?\s*(?:{_WORDS})\s?{_NUMBER}")
_MENTION = re.compile(rf"(?<![\w가-힣])[\[<〈《【(]?(?:{_WORDS})\s?{_NUMBER}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")  # Chinese and Japanese leave no space


@dataclass(slots=True)
class References:
    """Links what texts speak of to what captions name. Holds the names, and the mentions still open."""

    _targets: dict[Key, str] = field(default_factory=dict)
    _open: dict[Key, list[str]] = field(default_factory=dict)

    def name(self, key: Key, target: str) -> list[Relation]:
        """Makes `target` what `key` names, unless another was first. Returns the mentions that waited."""
        if self._targets.setdefault(key, target) != target:
            return []
        return [_relation(source, target) for source in self._open.pop(key, ())]

    def mention(self, key: Key, source: str) -> list[Relation]:
        if key in self._targets:
            return [_relation(source, self._targets[key])]
        self._open.setdefault(key, []).append(source)
        return []


def _relation(source: str, target: str) -> Relation:
    return Relation(type="refers_to", source=source, target=target)


def caption_key(text: str) -> Key | None:
    """("figure", "3") for "[그림 3] 유량의 변화"; None for a caption without a number."""
    found = _CAPTION.match(text)
    return _key(found) if found else None


def mentions(text: str) -> list[Key]:
    """Returns what a text refers to, each once, in order."""
    return list(dict.fromkeys(_key(found) for found in _MENTION.finditer(text)))


def sentences(text: str) -> Iterator[str]:
    """Yields all of a text, cut where sentences and lines end."""
    for part in _SENTENCE_END.split(text):
        if part.strip():
            yield part.strip()


def _key(found: re.Match[str]) -> Key:
    return ("figure" if found["figure"] else "table"), found["number"].replace("–", "-")
