"""Gives pages vectors: of their picture, their text, and each chart, table and picture on them.

The listing of the pages decides what is embedded (retrieval/to_embed.py), so it travels with the item and its
digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.documents.pages.embedded_page import EmbeddedPage
from penstock.engines.embed.embedder import REPRESENT
from penstock.item import Item
from penstock.stage import Batch, Stage, secret, tuning

EmbeddedRegions = Literal["visual", "all"]

BATCH = 24  # pages: of 1,344 tokens each, one full batch of the network (engines/embed/qwen.py)


@dataclass(frozen=True, kw_only=True)
class Embed(Stage):
    """Embeds with one of `engines.embed.EMBEDDERS`. With `images` it reads the page's encoded picture."""

    name: ClassVar[str] = "embed"
    worker: ClassVar[str] = "penstock.workers.embed:EmbedWorker"
    item: ClassVar[type[Item]] = EmbeddedPage
    writes: ClassVar[tuple[str, ...]] = ("text_vector", "image_vector", "parts")

    engine: str = "use"
    model: str | None = None
    dimensions: int | None = None
    max_image_tokens: int | None = None
    instruction: str = REPRESENT
    images: bool = False
    regions: EmbeddedRegions = "visual"  # which regions the listing gave a part; see retrieval/to_embed.py
    # where the model runs and how many requests are under way changes no vector
    out: str = tuning("")
    server: str | None = tuning(None)
    in_flight: int | None = tuning(None)
    device: str | None = tuning(None)
    style: str | None = tuning(None)
    api_key: str | None = secret()

    batch: Batch = tuning(Batch(max_items=BATCH, linger_ms=200.0))

    @property
    def reads(self) -> tuple[str, ...]:
        return ("text", "parts", *(("image", "rotation") if self.images else ()))

    @property
    def addresses(self) -> tuple[str, ...]:
        return (self.server,) if self.server else ()
