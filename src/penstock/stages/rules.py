"""Finds the regions of a born-digital page by fonts and geometry, without a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class RulesLayout(Stage):
    """Fonts and geometry instead of a network, for born-digital pages.

    A page without a usable text layer gets no region here; the recogniser finds its lines.
    """

    name: ClassVar[str] = "rules"
    worker: ClassVar[str] = "penstock.workers.rules:RulesWorker"
    reads: ClassVar[tuple[str, ...]] = ("layer", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
