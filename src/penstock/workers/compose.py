"""Orders the regions of pages and writes their Markdown."""

from __future__ import annotations

from dataclasses import replace

from penstock.box import WayBack
from penstock.documents.formats.markdown import page_markdown
from penstock.documents.layout.reading_order import ranked_order, reading_order
from penstock.documents.layout.relabel import relabelled, with_only_text, with_title
from penstock.page import Page
from penstock.region import Region
from penstock.stage import Worker
from penstock.stages.compose import Compose


class ComposeWorker(Worker[Page]):
    """Keeps the order of the regions, or finds it by their ranks or by where they stand."""

    def __init__(self, stage: Compose) -> None:
        self._order = {"geometry": _ordered, "ranked": _by_rank, "given": _as_given}[stage.order]

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def _page(self, page: Page) -> Page:
        regions = with_only_text(self._order(page), page.part)
        return _on_photograph(replace(page, regions=regions, markdown=page_markdown(regions)))


def _on_photograph(page: Page) -> Page:
    """The page with its boxes in pixels of its photograph, where it was flattened to be read."""
    back = page.way_back
    if back is None:
        return page
    width, height = back.photo_size
    regions = tuple(_placed(region, back) for region in page.regions)
    return replace(page, regions=regions, width=width, height=height, way_back=None)


def _placed(region: Region, back: WayBack) -> Region:
    lines = tuple(replace(line, box=back.box(line.box)) for line in region.lines)
    cells = tuple(cell._replace(box=back.box(cell.box)) for cell in region.cells)
    return replace(
        region, box=back.box(region.box), polygon=back.outline(region.box), lines=lines, cells=cells
    )


def _as_given(page: Page) -> tuple[Region, ...]:
    return page.regions


def _by_rank(page: Page) -> tuple[Region, ...]:
    """By the layout model's ranks, with its labels; what it did not see is labelled and placed by ours."""
    ours = relabelled(page.regions, page.height)
    found = [own if _is_ours(seen, own) else seen for seen, own in zip(page.regions, ours, strict=True)]
    if page.part == 0:
        found = with_title(found, page.height)
    boxes, labels = [region.box for region in found], [region.label for region in found]
    by_place = reading_order(boxes, labels, page.width, page.height)
    order = ranked_order([region.index for region in found], by_place)
    return tuple(replace(found[place], index=index) for index, place in enumerate(order))


def _is_ours(seen: Region, own: Region) -> bool:
    """Whether our label counts: the network saw nothing, or a heading that its words deny."""
    return not seen.index or (seen.label == "paragraph_title" and own.label == "text")


def _ordered(page: Page) -> tuple[Region, ...]:
    found = relabelled(page.regions, page.height)
    if page.part == 0:
        found = with_title(found, page.height)
    order = reading_order([r.box for r in found], [r.label for r in found], page.width, page.height)
    return tuple(replace(found[place], index=index) for index, place in enumerate(order))
