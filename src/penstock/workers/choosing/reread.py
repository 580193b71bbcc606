"""Sends the regions of chosen pages to model servers, and keeps the better reading of each."""

from __future__ import annotations

from dataclasses import replace

from penstock.box import Pixels
from penstock.documents.confidence.comparison import plain
from penstock.engines.chat.region_tasks import task_of
from penstock.engines.image.crop import cut, is_blank
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import FORMULA_LABELS, FROM_FILE, Region
from penstock.stages.reread import Reread
from penstock.workers.crop_regions import sent_picture
from penstock.workers.recognise_remote import RecogniseRemoteWorker

NOT_BETTER = frozenset({"repeated", "cut off", "refused"})  # marks of answers that lose to any text


class RereadWorker(RecogniseRemoteWorker):
    """What the cheap readers read is the second opinion on every answer, and stays where there is none."""

    def __init__(self, stage: Reread) -> None:
        super().__init__(stage)
        self._text_height = stage.text_height

    def __call__(self, items: list[Page]) -> list[Page]:
        asked = [self._with_requests(page) for page in items]
        answered = self.answered(asked)
        return [_better(page, regions) for page, regions in zip(items, answered, strict=True)]

    def _with_requests(self, page: Page) -> Page:
        if page.choice is None or page.choice.reader != "server" or page.pixels is None:
            return page
        return replace(page, regions=tuple(self._asked_again(region, page.pixels) for region in page.regions))

    def _asked_again(self, region: Region, pixels: Pixels) -> Region:
        of_file = region.reader in FROM_FILE and region.label not in {"table", *FORMULA_LABELS}
        if of_file or task_of(region.label, "drop") in ("keep", "drop"):
            return region
        piece = cut(pixels, region.box, region.polygon)
        return region if is_blank(piece) else replace(region, request=sent_picture(piece, self._text_height))


def _better(page: Page, answers: list[Region]) -> Page:
    """Returns the page with the answers. One without an answer to a region keeps its text and says so."""
    regions = tuple(_chosen(*pair) for pair in zip(page.regions, answers, strict=True))
    lost = [(old, new.failure) for old, new in zip(page.regions, answers, strict=True) if new.failure]
    kept = next((failure for old, failure in lost if old.content), None)
    return replace(page, regions=regions, shortfall=_partly(kept) if kept else page.shortfall)


def _chosen(old: Region, new: Region) -> Region:
    if new is old:
        return old
    if old.content and new.failure is not None:
        return old
    signals = new.signals
    if old.content and signals is not None and NOT_BETTER.intersection(signals.marks):
        return replace(old, signals=signals, note="The server's answer was not used.")
    if plain(new.content or "") == plain(old.content or ""):
        return new  # with lines and cells: they say the same
    return replace(new, lines=(), cells=())


def _partly(failure: Failure) -> Failure:
    words = f"The server did not read all of it, so the built-in readers' text stays: {failure.message}"
    return replace(failure, message=words)
