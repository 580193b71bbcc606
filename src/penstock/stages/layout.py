"""Finds the regions of a page with the built-in layout network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from penstock.engines.layout.settings import Threshold, thresholds
from penstock.page import Page
from penstock.stage import Stage, Worker

# what the network finds; the other labels of the vocabulary are for other networks
LABELS = (
    "text", "paragraph_title", "image", "figure_title", "table", "header", "footer", "reference_content",
    "display_formula",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Layout(Stage):
    """The built-in layout network. Pages without a picture keep no regions."""

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("pixels",)
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    engine: Literal["cdla"] = "cdla"
    threshold: float | None = None  # None: the network's own, 0.4, and 0.5 for pictures, tables, formulas
    class_thresholds: Mapping[str, float] = field(default_factory=dict)

    def open(self) -> Worker[Page]:
        from penstock.workers.layout import LayoutWorker

        return LayoutWorker(self)


def builtin_layout(threshold: Threshold | None, overlap: int) -> Layout:
    """The stage, with thresholds as people write them: `0.3`, or `text=0.4,table=0.5`."""
    scores = thresholds("" if threshold is None else threshold, LABELS)
    return Layout(threshold=scores.all, class_thresholds=scores.by_class, overlap=overlap)
