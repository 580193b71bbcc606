"""Gives each page its reader, with the reason."""

from __future__ import annotations

import logging
from dataclasses import replace

from penstock.documents.confidence.page_doubts import choice_of, doubts_of
from penstock.engines.image.handwriting import Handwriting
from penstock.errors import MissingModel
from penstock.page import Page
from penstock.stage import Worker
from penstock.stages.choose import Choose

log = logging.getLogger(__name__)


class ChooseWorker(Worker[Page]):
    def __init__(self, stage: Choose) -> None:
        self._accepted = stage.accept_errors
        self._has_server = stage.has_server
        self._handwriting = _handwriting()

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._chosen(page) for page in items]

    def _chosen(self, page: Page) -> Page:
        network, pixels = self._handwriting, page.pixels
        by_hand = 0.0 if network is None or pixels is None else network.likelihood(pixels)
        choice = choice_of(doubts_of(page, by_hand), self._accepted, self._has_server)
        return replace(page, choice=choice)


def _handwriting() -> Handwriting | None:
    """Returns what tells handwriting, or None where its weights cannot be had: pages are read without it."""
    try:
        return Handwriting()
    except MissingModel as exc:
        log.warning("Handwriting is not recognised as such: %s %s", exc.message, exc.advice)
        return None
