"""Finds regions with PP-DocLayoutV3 on a GPU, in batches across documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from penstock.item import Item, Region
from penstock.stage import Batch, Needs, Stage, tuning

if TYPE_CHECKING:
    from penstock.engines.layout.doclayout import PlacedDetection

GPU_PROCESS = Needs(gpus=1, process=True)
# Partial batches are padded, so on a card that vLLM keeps busy each costs a full one: waiting two seconds
# for company took the pipeline from 86 to 94 % of its servers' own rate (docs/log.md).
BATCH = Batch(max_items=16, linger_ms=2000.0)


@dataclass(frozen=True, kw_only=True)
class DocLayout(Stage):
    """Regions in the model's own reading order. Runs on a CPU too, slowly."""

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("image", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    model: str = "PaddlePaddle/PP-DocLayoutV3_safetensors"
    threshold: float = 0.3
    polygons: bool = False
    precision: Literal["fp16", "fp32"] = "fp16"
    device: str = tuning("auto")
    compile: bool = tuning(False)  # see the engine: pays on long runs only
    needs: Needs = tuning(GPU_PROCESS)
    batch: Batch = tuning(BATCH)

    def open(self) -> _Detector:
        return _Detector(self)


class _Detector:
    def __init__(self, stage: DocLayout) -> None:
        from penstock.engines.layout.doclayout import DocLayout as Engine

        self._engine = Engine(
            stage.model,
            device=stage.device,
            batch=stage.batch.max_items,
            compile=stage.compile,
            precision=stage.precision,
            polygons=stage.polygons,
            threshold=stage.threshold,
        )

    def __call__(self, items: list[Item]) -> list[Item]:
        images = [item.image for item in items if item.image is not None]
        found = self._engine.detect(images)
        return [replace(item, regions=_regions(boxes)) for item, boxes in zip(items, found, strict=True)]

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
