"""Puts a page together: reading order, its title, Markdown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.item import Item, Region
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

    boxes = [region.box for region in item.regions]
    labels = [region.label for region in item.regions]
    order = reading_order(boxes, labels, item.width, item.height)
    ordered = [replace(item.regions[place], index=index) for index, place in enumerate(order)]
    regions = tuple(_titled(ordered, item))
    return replace(item, regions=regions, markdown=page_markdown(regions))


def _titled(regions: list[Region], item: Item) -> list[Region]:
    """The first page's largest title, when it stands above all text, is the document's."""
    titles = [region for region in regions if region.label in {"paragraph_title", "doc_title"}]
    if item.part != 0 or not titles or any(region.label == "doc_title" for region in titles):
        return regions
    best = max(titles, key=_line_height)
    first_text = min((r.box[1] for r in regions if r.label == "text"), default=item.height)
    others = [_line_height(title) for title in titles if title is not best]
    if best.box[1] > first_text or (others and _line_height(best) < 1.15 * max(others)):
        return regions
    return [replace(region, label="doc_title") if region is best else region for region in regions]


def _line_height(region: Region) -> float:
    if not region.lines:
        return region.box[3] - region.box[1]
    return max(line.box[3] - line.box[1] for line in region.lines)
