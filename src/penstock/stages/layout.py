"""Finds the regions of a page on the CPU: with the built-in layout network, or with PP-DocLayoutV3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from penstock.engines.layout.settings import Threshold, thresholds
from penstock.stage import Stage

# what the network finds; the other labels of the vocabulary are for other networks
LABELS = (
    "text", "paragraph_title", "image", "figure_title", "table", "header", "footer", "reference_content",
    "display_formula",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Layout(Stage):
    """A layout network. Pages without a picture keep no regions.

    "cdla" takes a tenth of a second a page, "pair" (that and our own network) three tenths, "pp-doclayoutv3"
    seconds. The regions of the last two have their rank in reading order, from 1, as their index. `model` is
    an ONNX file of "pp-doclayoutv3", or a checkpoint for torch; "" is the one of the Hub that `penstock
    models fetch pp-doclayoutv3` brings.
    """

    name: ClassVar[str] = "layout"
    worker: ClassVar[str] = "penstock.workers.layout:LayoutWorker"
    reads: ClassVar[tuple[str, ...]] = ("pixels",)
    writes: ClassVar[tuple[str, ...]] = ("regions", "layout")
    engine: str = "cdla"  # "cdla", "pair", "pp-doclayoutv3", or one of an installed package
    of_pictures: str = ""  # the engine for pages without words of their own; "" is the same one
    model: str = ""
    # None: the network's own. cdla: 0.4, and 0.5 for pictures, tables, formulas; pair: 0.4;
    # pp-doclayoutv3: 0.3
    threshold: float | None = None
    class_thresholds: Mapping[str, float] = field(default_factory=dict)


def builtin_layout(threshold: Threshold | None, overlap: int) -> Layout:
    """The stage, with thresholds as people write them: `0.3`, or `text=0.4,table=0.5`."""
    scores = thresholds("" if threshold is None else threshold, LABELS)
    return Layout(threshold=scores.all, class_thresholds=scores.by_class, overlap=overlap)


def wide_layout(
    engine: str, threshold: Threshold | None, overlap: int, of_pictures: str = "", model: str = ""
) -> Layout:
    """The stage with networks whose labels are all of the vocabulary."""
    scores = thresholds("" if threshold is None else threshold)
    return Layout(
        engine=engine,
        of_pictures=of_pictures,
        model=model,
        threshold=scores.all,
        class_thresholds=scores.by_class,
        overlap=overlap,
    )
