"""Turns pages upright: their pictures and their text layers.

For a page with a text layer, the direction of its words decides. For any other page, a model looks at the
picture. That picture may be a photograph of a page: then it is made flat.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from penstock.box import Box, Pixels
from penstock.documents.text import rotated_text
from penstock.engines.ocr.orient import Orienter
from penstock.engines.page_photo.flatten import FlatPage, flattened
from penstock.page import Page
from penstock.region import TextLayer
from penstock.stage import Worker
from penstock.stages.orient import Orient

MIN_WORDS = 5  # fewer words than this may stand on a scan, which is no born-digital page
SIDEWAYS = 0.8  # of a page's characters: less is a sideways table on an upright page


class OrientWorker(Worker[Page]):
    """Opens its engine at the first page without a text layer: born-digital documents never need it."""

    def __init__(self, stage: Orient) -> None:
        self._flatten, self._effort = stage.flatten, stage.effort
        self._engine: Orienter | None = None
        self._lock = threading.Lock()

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()

    def _opened(self) -> Orienter:
        with self._lock:
            if self._engine is None:
                self._engine = Orienter(effort=self._effort)
            return self._engine

    def _page(self, page: Page) -> Page:
        if page.pixels is None:
            return page
        if page.layer is not None and len(page.layer.words) >= MIN_WORDS:
            return _as_its_words(page, page.layer)
        degrees = self._opened().upright(page.pixels)
        # a few words of layer stand as in the file: on the turned page they would be misplaced
        upright = _turned(page, degrees, None) if degrees else page
        return _made_flat(upright, flattened(_pixels(upright), self._flatten))


def _as_its_words(page: Page, layer: TextLayer) -> Page:
    """The page and its layer turned by a quarter, if nearly all of its words run up or down."""
    _, tall = rotated_text.split_by_direction(layer.words)
    if sum(len(word.text) for word in tall) < SIDEWAYS * sum(len(word.text) for word in layer.words):
        return page
    degrees = 90 if rotated_text.runs_up(tall) else 270
    return _turned(page, degrees, _turned_layer(layer, partial(_turned_box, page, degrees)))


def _pixels(page: Page) -> Pixels:
    assert page.pixels is not None
    return page.pixels


def _made_flat(page: Page, flat: FlatPage | None) -> Page:
    """The page with its flat picture, if it is a photograph of one."""
    if flat is None:
        return page
    height, width = flat.pixels.shape[:2]
    return replace(
        page, pixels=flat.pixels, width=width, height=height, layer=None, flattened=flat.summary,
        way_back=flat.back,
    )  # fmt: skip


def _turned(page: Page, degrees: int, layer: TextLayer | None) -> Page:
    pixels = np.ascontiguousarray(np.rot90(_pixels(page), k=-degrees // 90))
    height, width = pixels.shape[:2]
    form = tuple(field._replace(box=_turned_box(page, degrees, field.box)) for field in page.form)
    return replace(page, pixels=pixels, width=width, height=height, rotation=degrees, layer=layer, form=form)


def _turned_box(page: Page, degrees: int, box: Box) -> Box:
    x0, y0, x1, y1 = box
    if degrees == 180:
        return page.width - x1, page.height - y1, page.width - x0, page.height - y0
    if degrees == 90:
        return page.height - y1, x0, page.height - y0, x1
    return y0, page.width - x1, y1, page.width - x0


def _turned_layer(layer: TextLayer, turn: Callable[[Box], Box]) -> TextLayer:
    return TextLayer(
        words=tuple(replace(word, box=turn(word.box)) for word in layer.words),
        strokes=tuple(map(turn, layer.strokes)),
        pictures=tuple(map(turn, layer.pictures)),
    )
