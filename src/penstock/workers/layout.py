"""Runs a layout network on pages' pictures."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from penstock.engines.layout.cdla import CdlaLayout, Detection
from penstock.engines.layout.clean import DEFAULT, Rules
from penstock.engines.layout.doclayout_onnx import DocLayoutOnnx
from penstock.engines.layout.doclayout_output import PlacedDetection
from penstock.engines.layout.pair import PairLayout
from penstock.page import Page
from penstock.plugins import home_of, load
from penstock.region import Region
from penstock.stage import Worker
from penstock.stages.layout import Layout

if TYPE_CHECKING:
    from penstock.box import Pixels


MIN_WORDS = 5  # of a layer; a page with fewer is a picture


class _Finder(Protocol):
    def detect(self, pixels: Pixels, /) -> Sequence[Detection]: ...
    def close(self) -> None: ...


class LayoutWorker(Worker[Page]):
    """Leaves a page without a picture as it is. What finds the regions of pictures opens at the first one."""

    def __init__(self, stage: Layout) -> None:
        self._stage, self._of_pictures = stage, stage.of_pictures or stage.engine
        self._opening = threading.Lock()
        self._open = {stage.engine: _engine(stage, stage.engine)}

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def close(self) -> None:
        for engine in self._open.values():
            engine.close()

    def _page(self, page: Page) -> Page:
        if page.pixels is None:
            return page
        has_words = page.layer is not None and len(page.layer.words) >= MIN_WORDS
        name = self._stage.engine if has_words else self._of_pictures
        return replace(page, regions=tuple(map(_region, self._finder(name).detect(page.pixels))), layout=name)

    def _finder(self, name: str) -> _Finder:
        with self._opening:
            if name not in self._open:
                self._open[name] = _engine(self._stage, name)
            return self._open[name]


class _TorchLayout:
    """PP-DocLayoutV3 with torch, a page at a time."""

    def __init__(self, model: str, rules: Rules) -> None:
        from penstock.engines.layout.doclayout import DocLayoutEngine

        self._engine = DocLayoutEngine(model, batch=1, rules=rules)

    def detect(self, pixels: Pixels) -> Sequence[Detection]:
        return self._engine.detect([pixels])[0]

    def close(self) -> None:
        self._engine.close()


def _engine(stage: Layout, name: str) -> _Finder:
    if name == "cdla":
        return CdlaLayout(1, stage.threshold, stage.class_thresholds)
    if name == "pair":
        return PairLayout(1, stage.threshold, stage.class_thresholds)
    if name != "pp-doclayoutv3":
        finder: _Finder = load(home_of("layouts", {}, name, "layout network"))(stage.threshold)
        return finder
    threshold = DEFAULT.threshold if stage.threshold is None else stage.threshold
    rules = Rules(threshold=threshold, class_thresholds=stage.class_thresholds)
    if stage.model and not stage.model.lower().endswith(".onnx"):
        return _TorchLayout(stage.model, rules)
    return DocLayoutOnnx(stage.model, 1, rules)


def _region(found: Detection) -> Region:
    rank = found.order + 1 if isinstance(found, PlacedDetection) else 0
    return Region(
        index=rank, label=found.label, native_label=found.native_label, box=found.box, score=found.score
    )
