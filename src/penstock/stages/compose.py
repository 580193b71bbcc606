"""Puts a page together: reading order, its title, Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Compose(Stage):
    """Numbers the regions in reading order and writes the page's Markdown.

    The regions of a page that was flattened are then given in its photograph's own pixels.
    """

    name: ClassVar[str] = "compose"
    worker: ClassVar[str] = "penstock.workers.compose:ComposeWorker"
    reads: ClassVar[tuple[str, ...]] = ("regions", "width", "height", "way_back")
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown", "width", "height")
    # "given": as the layout model has it, with its labels; "ranked": the same, what it did not see by place
    order: Literal["geometry", "given", "ranked"] = "geometry"
