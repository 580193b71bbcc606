"""Runs PP-DocLayoutV3 on batches of encoded pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.engines.layout.clean import rules_from
from penstock.engines.layout.doclayout import DocLayoutEngine
from penstock.engines.layout.doclayout_output import PlacedDetection
from penstock.page import Page
from penstock.region import Region
from penstock.stage import Worker
from penstock.stages.doclayout import DocLayout


class DocLayoutWorker(Worker[Page]):
    def __init__(self, stage: DocLayout) -> None:
        self._engine = DocLayoutEngine(
            stage.model,
            device=stage.device,
            batch=stage.batch.max_items,
            compile=stage.compile,
            precision=stage.precision,
            polygons=stage.polygons,
            rules=rules_from(**stage.rules),
        )

    def __call__(self, items: list[Page]) -> list[Page]:
        images = [page.image for page in items if page.image is not None]
        found = self._engine.detect(images)
        return [replace(page, regions=_regions(boxes)) for page, boxes in zip(items, found, strict=True)]

    def close(self) -> None:
        self._engine.close()


def _regions(found: Sequence[PlacedDetection]) -> tuple[Region, ...]:
    return tuple(
        Region(
            index=index,
            label=detection.label,
            native_label=detection.native_label,
            box=detection.box,
            score=detection.score,
            polygon=tuple((float(x), float(y)) for x, y in detection.polygon or ()),
        )
        for index, detection in enumerate(found)
    )
