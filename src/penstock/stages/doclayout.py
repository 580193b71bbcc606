"""Finds regions with PP-DocLayoutV3 on a GPU, in batches across documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.page import Page
from penstock.stage import Batch, Needs, Stage, Worker, tuning

GPU_PROCESS = Needs(gpus=1, process=True)
# Partial batches are padded, so on a card that vLLM keeps busy each costs a full one: waiting two seconds
# for company took the pipeline from 86 to 94 % of its servers' own rate (docs/log.md).
BATCH = Batch(max_items=16, linger_ms=2000.0)


@dataclass(frozen=True, kw_only=True)
class DocLayout(Stage):
    """Regions in the network's own reading order. Runs on a CPU too, slowly."""

    name: ClassVar[str] = "doclayout"
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

    def open(self) -> Worker[Page]:
        from penstock.workers.doclayout import DocLayoutWorker

        return DocLayoutWorker(self)
