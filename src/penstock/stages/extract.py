"""Finds the fields of a schema in a document, by rules and, where there is one, by a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.documents.fields.extraction import ExtractedDocument
from penstock.item import Item
from penstock.stage import Batch, Stage, secret, tuning

TOGETHER = Batch(max_items=8, linger_ms=5)


@dataclass(frozen=True, kw_only=True)
class Extract(Stage):
    """Values of a schema's fields. What a model says counts as far as a page holds it."""

    name: ClassVar[str] = "extract"
    worker: ClassVar[str] = "penstock.workers.passes.extract:ExtractWorker"
    item: ClassVar[type[Item]] = ExtractedDocument
    reads: ClassVar[tuple[str, ...]] = ("pages",)
    writes: ClassVar[tuple[str, ...]] = ("extraction", "shortfall")
    schema_name: str = "fields"
    schema: str = ""  # its JSON
    model: str = ""
    asks: bool = False  # whether a model is asked: which server, is no matter of results
    max_tokens: int = 2_000  # of an answer
    servers: tuple[str, ...] = tuning(())
    in_flight: int = tuning(64)
    api_key: str | None = secret()
    batch: Batch = tuning(TOGETHER)
    overlap: int = tuning(4)

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.servers
