"""Runs the built-in layout network on pages' pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.engines.layout.cdla import CdlaLayout
from penstock.page import Page
from penstock.region import Region
from penstock.stage import Worker

if TYPE_CHECKING:
    from penstock.stages.layout import Layout


class LayoutWorker(Worker[Page]):
    """Leaves a page without a picture as it is."""

    def __init__(self, stage: Layout) -> None:
        self._engine = CdlaLayout(1, stage.threshold, stage.class_thresholds)

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def close(self) -> None:
        self._engine.close()

    def _page(self, page: Page) -> Page:
        if page.pixels is None:
            return page
        found = self._engine.detect(page.pixels)
        regions = tuple(
            Region(label=d.label, native_label=d.native_label, box=d.box, score=d.score) for d in found
        )
        return replace(page, regions=regions)
