"""Dimensions and volumes of every object, from its cloud and the furniture table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.item import Item
from penstock.photo import Photo
from penstock.photos.furniture import without_password
from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Measure(Stage):
    """Measures clouds; `furniture` is a table of one's own, built in when None."""

    name: ClassVar[str] = "measure"
    worker: ClassVar[str] = "penstock.workers.measure:MeasureWorker"
    item: ClassVar[type[Item]] = Photo
    reads: ClassVar[tuple[str, ...]] = ("objects",)
    writes: ClassVar[tuple[str, ...]] = ("objects",)
    furniture: str | None = None
    table: str | None = None  # the content of a table of one's own: an edited one is another plan

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "furniture": without_password(self.furniture)}
