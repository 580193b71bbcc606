"""Puts a page together: reading order, its title, Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from penstock.item import Item, Region
from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Compose(Stage):
    """Numbers the regions in reading order and writes the page's Markdown."""

    name: ClassVar[str] = "compose"
    reads: ClassVar[tuple[str, ...]] = ("regions", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown")
    order: Literal["geometry", "given"] = "geometry"  # "given": the layout model's own, and its labels

    def open(self) -> _Composer:
        return _Composer(_ordered if self.order == "geometry" else _as_given)


class _Composer:
    def __init__(self, arrange: Callable[[Item], tuple[Region, ...]]) -> None:
        self._arrange = arrange

    def __call__(self, items: list[Item]) -> list[Item]:
        from penstock.documents.formats.markdown import page_markdown

        pages = [(item, self._arrange(item)) for item in items]
        return [replace(item, regions=regions, markdown=page_markdown(regions)) for item, regions in pages]

    def close(self) -> None:
        pass


def _ordered(item: Item) -> tuple[Region, ...]:
    from penstock.documents.layout.reading_order import reading_order
    from penstock.documents.layout.relabel import relabelled, titled

    found = relabelled(item.regions, item.height)
    if item.part == 0:
        found = titled(found, item.height)
    order = reading_order([r.box for r in found], [r.label for r in found], item.width, item.height)
    return tuple(replace(found[place], index=index) for index, place in enumerate(order))


def _as_given(item: Item) -> tuple[Region, ...]:
    return item.regions
