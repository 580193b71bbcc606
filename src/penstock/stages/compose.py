"""Puts a page together: reading order, its title, Markdown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.item import Item
from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Compose(Stage):
    """Numbers the regions in reading order and writes the page's Markdown."""

    name: ClassVar[str] = "compose"
    reads: ClassVar[tuple[str, ...]] = ("regions", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown")

    def open(self) -> _Composer:
        return _Composer()


class _Composer:
    def __call__(self, items: list[Item]) -> list[Item]:
        return [_page(item) for item in items]

    def close(self) -> None:
        pass


def _page(item: Item) -> Item:
    from penstock.documents.markdown import page_markdown
    from penstock.documents.order import reading_order
    from penstock.documents.relabel import relabelled, titled

    found = relabelled(item.regions, item.height)
    if item.part == 0:
        found = titled(found, item.height)
    order = reading_order([r.box for r in found], [r.label for r in found], item.width, item.height)
    regions = tuple(replace(found[place], index=index) for index, place in enumerate(order))
    return replace(item, regions=regions, markdown=page_markdown(regions))
