"""Runs a layout network on pages' pictures."""

from __future__ import annotations

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


MIN_WORDS = (
    5  # of a layer; a page with fewer is a picture, and what both networks bring there is not shown yet
)


class _Finder(Protocol):
    def detect(self, pixels: Pixels, /) -> Sequence[Detection]: ...
    def close(self) -> None: ...


class LayoutWorker(Worker[Page]):
    """Leaves a page without a picture as it is."""

    def __init__(self, stage: Layout) -> None:
        self._engine, self._name = _engine(stage), stage.engine
        self._of_pictures = (self._engine.cdla, "cdla") if isinstance(self._engine, PairLayout) else None

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def close(self) -> None:
        self._engine.close()

    def _page(self, page: Page) -> Page:
        if page.pixels is None:
            return page
        has_words = page.layer is not None and len(page.layer.words) >= MIN_WORDS
        engine, name = (self._of_pictures if not has_words else None) or (self._engine, self._name)
        return replace(page, regions=tuple(map(_region, engine.detect(page.pixels))), layout=name)


class _TorchLayout:
    """PP-DocLayoutV3 with torch, a page at a time."""

    def __init__(self, model: str, rules: Rules) -> None:
        from penstock.engines.layout.doclayout import DocLayoutEngine

        self._engine = DocLayoutEngine(model, batch=1, rules=rules)

    def detect(self, pixels: Pixels) -> Sequence[Detection]:
        return self._engine.detect([pixels])[0]

    def close(self) -> None:
        self._engine.close()


def _engine(stage: Layout) -> _Finder:
    if stage.engine == "cdla":
        return CdlaLayout(1, stage.threshold, stage.class_thresholds)
    if stage.engine == "pair":
        return PairLayout(1, stage.threshold, stage.class_thresholds)
    if stage.engine != "pp-doclayoutv3":
        finder: _Finder = load(home_of("layouts", {}, stage.engine, "layout network"))(stage.threshold)
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
