"""Sections from headings: their numbers, Korean or Western, and where there is none, their size.

A heading's rank says which other headings it may stand under; a stack of open headings gives the level.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from penstock.documents.docjson.model import Section
from penstock.documents.headings.numbers import numbering

BULLET_RANK = 14.0  # "✓ 검출 결과" stands under whatever number is open
PLAIN_RANK = 4.9  # without a number: above 1.1, below 제1조
ALIKE = 0.25  # of the height: lines of one size differ by their letters, levels by more

_BULLET = re.compile(r"[✓✔■□▪◆◇●○•▶▷※*-]\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """What decides a heading's place. `height` is of its lines in pixels, `hashes` the model's `#`."""

    block_id: str
    text: str
    doc_index: int
    page_no: int
    height: float = 0.0
    hashes: int = 0


@dataclass(slots=True)
class _Open:
    section: Section
    rank: float
    height: float


@dataclass(slots=True)
class Sections:
    """The sections of a document. Takes each heading in reading order, and how far the text goes."""

    done: list[Section] = field(default_factory=list)
    _stack: list[_Open] = field(default_factory=list)
    _page_no: int = 0

    @property
    def current_id(self) -> str:
        return self._stack[-1].section.id if self._stack else ""

    @property
    def path(self) -> list[str]:
        return self._stack[-1].section.path if self._stack else []

    def open(self, heading: Heading) -> Section:
        number, rank = numbering(heading.text)
        rank = rank or self._rank_of_plain(heading)
        self._close(rank, heading.doc_index)
        parent = self._stack[-1].section if self._stack else None
        section = Section(
            id=f"s{len(self.done) + 1:04d}",
            number=number,
            title=heading.text,
            level=len(self._stack) + 1,
            path=[*(parent.path if parent else []), heading.text],
            heading_block_id=heading.block_id,
            parent_id=parent.id if parent else "",
            span=(heading.doc_index, heading.doc_index + 1),
            page_span=(heading.page_no, heading.page_no),
        )
        self.done.append(section)
        self._stack.append(_Open(section, rank, heading.height))
        return section

    def reach(self, page_no: int) -> None:
        """Stretches the open sections to this page. Not called for margins: a page header ends no section."""
        self._page_no = page_no

    def finish(self, doc_index: int) -> list[Section]:
        """Closes what is open at the document's end. Returns all sections in order."""
        self._close(0.0, doc_index)
        return self.done

    def _close(self, rank: float, doc_index: int) -> None:
        while self._stack and self._stack[-1].rank >= rank:
            section = self._stack.pop().section
            section.span = (section.span[0], doc_index)
            section.page_span = (section.page_span[0], max(section.page_span[0], self._page_no))

    def _rank_of_plain(self, heading: Heading) -> float:
        """Returns the rank of a heading without a number, by its mark, the model's `#`, or its size."""
        if _BULLET.match(heading.text):
            return BULLET_RANK
        if heading.hashes:
            return 4.0 + heading.hashes / 10
        for opened in self._stack:
            if heading.height and opened.height and opened.height <= heading.height * (1 + ALIKE):
                return min(opened.rank, PLAIN_RANK + 1)
        deepest = max((o.rank for o in self._stack if o.rank < BULLET_RANK), default=None)
        if deepest is None:
            return PLAIN_RANK
        return deepest if not heading.height else deepest + 0.05
