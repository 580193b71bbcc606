"""Finds the regions of a page: by a model on its picture, or by rules on its text layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from penstock.item import Item, Region
from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Layout(Stage):
    """The embedded layout model. Pages without a picture keep no regions."""

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("pixels",)
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    engine: Literal["cdla"] = "cdla"

    def open(self) -> _ModelLayout:
        return _ModelLayout()


class _ModelLayout:
    def __init__(self) -> None:
        from penstock.engines.layout.cdla import CdlaLayout

        self._engine = CdlaLayout(threads=1)

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        self._engine.close()

    def _page(self, item: Item) -> Item:
        if item.pixels is None:
            return item
        found = self._engine.detect(item.pixels)
        regions = tuple(
            Region(label=d.label, native_label=d.native_label, box=d.box, score=d.score) for d in found
        )
        return replace(item, regions=regions)


@dataclass(frozen=True, kw_only=True)
class RulesLayout(Stage):
    """Fonts and geometry instead of a model, for born-digital pages.

    A page without a usable text layer becomes one region, which the recogniser takes apart by lines.
    """

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("layer", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)

    def open(self) -> _RulesLayout:
        return _RulesLayout()


class _RulesLayout:
    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        pass

    def _page(self, item: Item) -> Item:
        from penstock.documents.layout.rules import regions_by_rules
        from penstock.documents.layout.text_layer import trust

        if item.layer is None or not trust(item.layer).ok:
            return item
        return replace(item, regions=tuple(regions_by_rules(item.layer, item.width, item.height)))
