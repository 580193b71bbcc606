"""Finds regions by rules on a page's text layer."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.layout.rules import regions_by_rules
from penstock.documents.text.text_layer import layer_doubt
from penstock.page import Page
from penstock.stage import Worker
from penstock.stages.rules import RulesLayout


class RulesWorker(Worker[Page]):
    """Leaves a page without a trustworthy text layer as it is."""

    def __init__(self, stage: RulesLayout) -> None:
        """Keeps nothing of the stage: it has no settings."""

    def __call__(self, items: list[Page]) -> list[Page]:
        return [_laid_out(page) for page in items]


def _laid_out(page: Page) -> Page:
    if page.layer is None or layer_doubt(page.layer):
        return page
    return replace(page, regions=tuple(regions_by_rules(page.layer, page.width, page.height)))
