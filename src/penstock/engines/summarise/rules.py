"""Writes a summary and keywords for a table or a picture by rules.

One of three engines: `none`, `rule` (nouns, headers, extremes, trends; no model; always gives keywords), and
any language model behind an OpenAI-compatible server (llm.py), which falls back to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from penstock.engines.summarise.nouns import Nouns
from penstock.engines.summarise.trends import Finding, findings

Kind = Literal["table", "graph", "diagram", "complex_image"]
MAX_KEYWORDS = 10
WORDS_KO = {"table": "표", "graph": "그래프", "diagram": "도식", "complex_image": "그림"}
WORDS_EN = {"table": "table", "graph": "graph", "diagram": "diagram", "complex_image": "image"}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_CAPTION_HEAD = re.compile(
    r"^\s*[\[<〈《【(]?\s*(?:그림|표|사진|도표|차트|Figure|Fig\.?|Table|Chart)\s?[A-Z]?\d+(?:[-.]\d+)*"
    r"\s*[\]>〉》】).:]*\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """One block and its surroundings. `rows` is a table's grid; the first `head` rows are headers."""

    kind: Kind
    caption: str = ""
    section: tuple[str, ...] = ()
    content: str = ""
    visible: str = ""  # a vision model's text
    rows: tuple[tuple[str, ...], ...] = ()
    head: int = 0
    context: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("ko", "en")  # in which is written


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What an engine wrote. `short` says why the rules had to replace a model's answer."""

    summary_ko: str = ""
    summary_en: str = ""
    keywords_ko: tuple[str, ...] = ()
    keywords_en: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    figure_type: str = ""
    method: Literal["none", "rule", "llm"] = "none"
    model: str = ""
    prompt_id: str = ""
    short: str = ""
    flags: tuple[str, ...] = field(default=())


class SummaryWriter(Protocol):
    """Thread-safe. Returns as many summaries as blocks, in the same order."""

    def write(self, blocks: list[BlockFacts]) -> list[WrittenSummary]: ...

    def close(self) -> None: ...


class NoWriter:
    """Writes nothing: for runs that only need the vision engine's text."""

    def write(self, blocks: list[BlockFacts]) -> list[WrittenSummary]:
        return [WrittenSummary() for _ in blocks]

    def close(self) -> None:
        pass


class RuleWriter:
    """Makes sentences of caption, headers, extremes and trends, and keywords of nouns."""

    def __init__(self, use_kiwi: bool = True) -> None:
        self._nouns = Nouns(use_kiwi)

    def write(self, blocks: list[BlockFacts]) -> list[WrittenSummary]:
        return [self.one(block) for block in blocks]

    def close(self) -> None:
        pass

    def one(self, block: BlockFacts) -> WrittenSummary:
        found = findings(block.rows, block.head)
        korean, latin = self.keywords(block)
        summary = WrittenSummary(
            summary_ko=_summary_ko(block, found),
            summary_en=_summary_en(block, found),
            keywords_ko=korean,
            keywords_en=latin,
            items=tuple(each.ko if "ko" in block.languages else each.en for each in found),
            method="rule",
            prompt_id="rule-1",
        )
        return with_flags(in_languages(summary, block.languages), block)

    def keywords(self, block: BlockFacts) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns Korean and Latin keywords, never none. Captions and headers weigh more than cells."""
        headers = " , ".join(cell for row in block.rows[: block.head] for cell in row)
        cells = " , ".join(cell for row in block.rows[block.head :] for cell in row)
        caption = bare_caption(block.caption)
        section = block.section[-1] if block.section else ""
        said = (caption, caption, caption, headers, headers, block.content, block.visible, cells)
        weighed = " . ".join((*said, section))
        korean = self._nouns.korean(weighed, MAX_KEYWORDS)
        latin = self._nouns.latin(weighed, MAX_KEYWORDS)
        if not korean and not latin:  # numbers only: the neighbours say what it is about
            nearby = " ".join((*block.section, *block.context))
            korean, latin = self._nouns.korean(nearby, 5), self._nouns.latin(nearby, 5)
        return tuple(korean) or (WORDS_KO[block.kind],), tuple(latin) or (WORDS_EN[block.kind],)


def bare_caption(caption: str) -> str:
    """Returns the caption without its number: "[그림 3] 유량의 변화" -> "유량의 변화"."""
    return _CAPTION_HEAD.sub("", caption).strip()


def _first_sentence(caption: str) -> str:
    return re.split(r"(?<=[^\d])\.\s|\.$", bare_caption(caption), maxsplit=1)[0].strip()


def in_languages(summary: WrittenSummary, languages: Sequence[str]) -> WrittenSummary:
    """Returns the summary without what is in none of these languages."""
    if "ko" not in languages:
        summary = replace(summary, summary_ko="", keywords_ko=())
    return summary if "en" in languages else replace(summary, summary_en="", keywords_en=())


def with_flags(summary: WrittenSummary, block: BlockFacts) -> WrittenSummary:
    """Flags the numbers of the summary that the block does not hold."""
    cells = (cell for row in block.rows for cell in row)
    given = " ".join((block.caption, block.content, block.visible, *block.section, *block.context, *cells))
    known = {plain_number(number) for number in _NUMBER.findall(given)}
    known |= {str(len(block.rows) - block.head), str(len(block.rows[0]) if block.rows else 0)}
    said = _NUMBER.findall(f"{summary.summary_ko} {summary.summary_en}")
    strange = [number for number in dict.fromkeys(said) if plain_number(number) not in known]
    flags = tuple(f"number not in the content: {number}" for number in strange)
    return replace(summary, flags=(*summary.flags, *flags))


def plain_number(text: str) -> str:
    whole = text.replace(",", "")
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def _summary_ko(block: BlockFacts, found: list[Finding]) -> str:
    parts = []
    if caption := _first_sentence(block.caption):
        parts.append(f"{caption}에 관한 {WORDS_KO[block.kind]}이다.")
    elif block.section:
        parts.append(f"'{block.section[-1]}'에 있는 {WORDS_KO[block.kind]}이다.")
    if block.rows:
        names = [name for name in _column_names(block) if name]
        said = f", 열은 {', '.join(names[:8])}" if names else ""
        parts.append(f"{len(block.rows) - block.head}개 행{said}이다." if said else "")
    parts += [each.ko for each in found[:3]]
    return " ".join(part for part in parts if part)


def _summary_en(block: BlockFacts, found: list[Finding]) -> str:
    caption = bare_caption(block.caption)
    article = "An" if block.kind == "complex_image" else "A"
    word = WORDS_EN[block.kind]
    parts = [f"{article} {word}: {caption.rstrip('.')}." if caption else f"{article} {word}."]
    names = [name for name in _column_names(block) if name]
    if block.rows and names:
        num = len(block.rows) - block.head
        parts.append(f"{num} {'row' if num == 1 else 'rows'}; columns: {', '.join(names[:8])}.")
    return " ".join((*parts, *(each.en for each in found[:3])))


def _column_names(block: BlockFacts) -> list[str]:
    if not block.rows or not block.head:
        return []
    return list(dict.fromkeys(cell.replace("\n", " ").strip() for cell in block.rows[block.head - 1]))
