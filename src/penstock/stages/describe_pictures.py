"""Pass 2: shows pictures, and tables that could not be read, to a vision model. Text is never shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.engines.chat.recognisers import recogniser
from penstock.item import Item
from penstock.stage import Batch, Stage, secret, tuning

TOGETHER = Batch(max_items=32, linger_ms=20.0)  # blocks an asking thread takes; the client mixes them all


@dataclass(frozen=True, kw_only=True)
class DescribePictures(Stage):
    """Shows crops to a vision model with its own prompts."""

    name: ClassVar[str] = "describe_pictures"
    worker: ClassVar[str] = "penstock.workers.passes.describe_pictures:DescribePicturesWorker"
    item: ClassVar[type[Item]] = EnrichedBlock
    reads: ClassVar[tuple[str, ...]] = ("uri", "question")
    writes: ClassVar[tuple[str, ...]] = ("seen", "shortfalls")
    recogniser: str = "deepseek-ocr"
    model: str = ""
    max_tokens: int = 1_500  # of an answer
    servers: tuple[str, ...] = tuning(())
    in_flight: int = tuning(128)
    api_key: str | None = secret()
    batch: Batch = tuning(TOGETHER)
    overlap: int = tuning(4)

    def __post_init__(self) -> None:
        recogniser(self.recogniser)  # said now: with --fresh it would be said after the old rows are gone

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.servers
