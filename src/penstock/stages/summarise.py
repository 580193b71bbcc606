"""Pass 2: writes a summary and keywords for each table and picture, by rules or by a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.engines.summarise.writers import TextEngine
from penstock.errors import PlanError
from penstock.item import Item
from penstock.stage import Batch, Stage, secret, tuning
from penstock.stages.describe_pictures import TOGETHER

LANGUAGES = ("ko", "en")


@dataclass(frozen=True, kw_only=True)
class Summarise(Stage):
    """Summary and keywords by rules or by a language model."""

    name: ClassVar[str] = "summarise"
    worker: ClassVar[str] = "penstock.workers.passes.summarise:SummariseWorker"
    item: ClassVar[type[Item]] = EnrichedBlock
    reads: ClassVar[tuple[str, ...]] = ("question",)
    writes: ClassVar[tuple[str, ...]] = ("enrichment", "shortfalls")
    engine: TextEngine = "rule"
    model: str = ""
    lang: tuple[str, ...] = ()  # what is written; empty: the document's language, and English
    max_tokens: int = 700  # of an answer
    servers: tuple[str, ...] = tuning(())
    in_flight: int = tuning(64)
    api_key: str | None = secret()
    batch: Batch = tuning(TOGETHER)
    overlap: int = tuning(4)

    def __post_init__(self) -> None:
        if self.engine not in ("none", "rule", "llm"):
            raise PlanError(f"There is no text engine {self.engine!r}.", "Choose from: none, rule, llm.")
        if unknown := [language for language in self.lang if language not in LANGUAGES]:
            raise PlanError(
                f"No summary is written in {unknown[0]!r}.", f"Choose from: {', '.join(LANGUAGES)}."
            )
        if self.engine == "llm" and not self.servers:
            raise PlanError(
                "The text engine 'llm' needs a server.", "Name one with --server http://host:8000."
            )

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.servers
