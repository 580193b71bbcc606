"""Turns pages upright.

A page with a text layer of its own stands as its words do: if they run up or down the page, it is turned
with them. Pictures are looked at.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from penstock.item import Box, Item, Layer
from penstock.stage import Stage

if TYPE_CHECKING:
    from penstock.engines.ocr.orient import Orienter

MIN_WORDS = 5  # fewer words than this are a scrap on a scan, not a born-digital page
SIDEWAYS = 0.8  # of a page's characters: less is a table printed sideways on a page that stands


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
        from penstock.engines.ocr.orient import Orienter

        with self._lock:
            if self._engine is None:
                self._engine = Orienter()
            return self._engine

    def _page(self, item: Item) -> Item:
        if item.pixels is None:
            return item
        if item.layer is not None and len(item.layer.words) >= MIN_WORDS:
            return _as_its_words(item, item.layer)
        degrees = self._opened().upright(item.pixels)
        # a scrap of layer lies as the file had it: on the turned page it would be misplaced
        return _turned(item, degrees, None) if degrees else item


def _as_its_words(item: Item, layer: Layer) -> Item:
    """The page and its layer turned by a quarter, if that is how nearly all of its words run."""
    from penstock.documents.layout import rotated_text

    _, tall = rotated_text.part(layer.words)
    if sum(len(word.text) for word in tall) < SIDEWAYS * sum(len(word.text) for word in layer.words):
        return item
    degrees = 90 if rotated_text.runs_up(tall) else 270
    return _turned(item, degrees, _turned_layer(layer, degrees, item.width, item.height))


def _turned(item: Item, degrees: int, layer: Layer | None) -> Item:
    import numpy as np

    assert item.pixels is not None
    pixels = np.ascontiguousarray(np.rot90(item.pixels, k=-degrees // 90))
    height, width = pixels.shape[:2]
    return replace(item, pixels=pixels, width=width, height=height, rotation=degrees, layer=layer)


def _turned_layer(layer: Layer, degrees: int, width: int, height: int) -> Layer:
    def turn(box: Box) -> Box:
        x0, y0, x1, y1 = box
        return (height - y1, x0, height - y0, x1) if degrees == 90 else (y0, width - x1, y1, width - x0)

    return Layer(
        words=tuple(replace(word, box=turn(word.box)) for word in layer.words),
        strokes=tuple(map(turn, layer.strokes)),
        pictures=tuple(map(turn, layer.pictures)),
    )
