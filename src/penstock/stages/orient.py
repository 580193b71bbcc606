"""Turns pictures of pages upright.

A page with a text layer of its own stands as its file says; only pictures are looked at.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from penstock.item import Item
from penstock.stage import Stage

if TYPE_CHECKING:
    from penstock.engines.orient import Orienter

MIN_WORDS = 5  # fewer words than this are a scrap on a scan, not a born-digital page


@dataclass(frozen=True, kw_only=True)
class Orient(Stage):
    """Rotates the pixels by 90, 180 or 270 degrees where the text says so."""

    name: ClassVar[str] = "orient"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer")
    writes: ClassVar[tuple[str, ...]] = ("pixels", "rotation", "width", "height", "layer")

    def open(self) -> _Orienter:
        return _Orienter()


class _Orienter:
    """Opens its engine with the first picture: born-digital documents never need it."""

    def __init__(self) -> None:
        self._engine: Orienter | None = None
        self._lock = threading.Lock()

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()

    def _opened(self) -> Orienter:
        from penstock.engines.orient import Orienter

        with self._lock:
            if self._engine is None:
                self._engine = Orienter()
            return self._engine

    def _page(self, item: Item) -> Item:
        if item.pixels is None or (item.layer is not None and len(item.layer.words) >= MIN_WORDS):
            return item
        degrees = self._opened().upright(item.pixels)
        if degrees == 0:
            return item
        import numpy as np

        pixels = np.ascontiguousarray(np.rot90(item.pixels, k=-degrees // 90))
        height, width = pixels.shape[:2]
        # a scrap of layer lies as the file had it: on the turned page it would be misplaced
        return replace(item, pixels=pixels, width=width, height=height, rotation=degrees, layer=None)
