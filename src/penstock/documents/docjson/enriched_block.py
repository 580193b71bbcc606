"""A table or picture on its way through pass 2: the question, what a model saw, the enrichment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from penstock.documents.docjson.model import Enrichment
from penstock.documents.docjson.questions import BlockQuestion
from penstock.errors import Failure
from penstock.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenText:
    """What a vision model said of a picture, and which model."""

    text: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichedBlock(Item):
    """One block of pass 2. `uri` is its crop.

    A block that a server left without its answer keeps what there is; `shortfalls` say why, and
    `--retry-failed` tries again.
    """

    unit: ClassVar[str] = "block"
    listed: ClassVar[frozenset[str]] = Item.listed | {"question"}

    question: BlockQuestion | None = None  # None once it is read back from the ledger
    seen: SeenText | None = None
    enrichment: Enrichment | None = None
    shortfalls: tuple[Failure, ...] = ()

    def failed_parts(self) -> Iterator[tuple[str, Failure]]:
        return ((self.unit, shortfall) for shortfall in self.shortfalls)
