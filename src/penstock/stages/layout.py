"""Finds the regions of a page with the built-in layout network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.page import Page
from penstock.stage import Stage, Worker


@dataclass(frozen=True, kw_only=True)
class Layout(Stage):
    """The built-in layout network. Pages without a picture keep no regions."""

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("pixels",)
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    engine: Literal["cdla"] = "cdla"

    def open(self) -> Worker[Page]:
        from penstock.workers.layout import LayoutWorker

        return LayoutWorker()
