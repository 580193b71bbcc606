"""Finds regions with PP-DocLayoutV3 on a GPU, in batches across documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.choices import Merge, Precision
from penstock.engines.layout.settings import (
    MergeMode,
    Threshold,
    Unclip,
    merge_modes,
    precision,
    thresholds,
    unclips,
)
from penstock.stage import Batch, Needs, Stage, tuning

MODEL = "PaddlePaddle/PP-DocLayoutV3_safetensors"
THRESHOLD = 0.3
GPU_PROCESS = Needs(gpus=1, process=True)
# Partial batches are padded, so on a card that vLLM keeps busy each costs a full one: waiting two seconds
# for company took the pipeline from 86 to 94 % of its servers' own rate (docs/log.md).
BATCH = Batch(max_items=16, linger_ms=2000.0)
_RULES = ("threshold", "class_thresholds", "merge", "class_merge", "unclip", "class_unclip", "nms")


@dataclass(frozen=True, kw_only=True)
class DocLayout(Stage):
    """Regions in the network's own reading order. Runs on a CPU too, slowly.

    What is set by class goes by our label. See engines/layout/clean.py for the rules that use it.
    """

    name: ClassVar[str] = "doclayout"
    worker: ClassVar[str] = "penstock.workers.doclayout:DocLayoutWorker"
    reads: ClassVar[tuple[str, ...]] = ("image", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    model: str = MODEL
    threshold: float = THRESHOLD
    class_thresholds: Mapping[str, float] = field(default_factory=dict)
    merge: Merge | None = None  # for all classes; None: as the model is published, large but for references
    class_merge: Mapping[str, Merge] = field(default_factory=dict)
    unclip: tuple[float, float] = (1.0, 1.0)
    class_unclip: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    nms: bool = True
    polygons: bool = False
    precision: Precision = "fp16"
    device: str = tuning("auto")
    compile: bool = tuning(False)  # see the engine: pays on long runs only
    needs: Needs = tuning(GPU_PROCESS)
    batch: Batch = tuning(BATCH)

    @property
    def rules(self) -> dict[str, Any]:
        """The fields that become the rules which clean what the network finds."""
        return {name: getattr(self, name) for name in _RULES}


def doclayout(
    *,
    model: str = MODEL,
    polygons: bool = False,
    threshold: Threshold | None = None,
    merge: MergeMode | None = None,
    unclip: Unclip | None = None,
    nms: bool | None = None,
    compile: bool | None = None,
    numbers: str | None = None,
) -> DocLayout:
    """The stage, with settings as people write them: `threshold="0.3,table=0.5"`."""
    scores = thresholds(THRESHOLD if threshold is None else threshold)
    merges = merge_modes("" if merge is None else merge)
    grown = unclips(1.0 if unclip is None else unclip)
    return DocLayout(
        model=model,
        polygons=polygons,
        threshold=THRESHOLD if scores.all is None else scores.all,
        class_thresholds=scores.by_class,
        merge=merges.all,
        class_merge=merges.by_class,
        unclip=grown.all or (1.0, 1.0),
        class_unclip=grown.by_class,
        nms=nms is not False,
        compile=bool(compile),
        precision=precision(numbers or "fp16"),
    )
