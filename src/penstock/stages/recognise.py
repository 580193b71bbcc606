"""Reads every region with the built-in engines, or takes its text from the page's own layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.choices import LayerUse
from penstock.engines.ocr.effort import Effort
from penstock.stage import Stage, tuning


@dataclass(frozen=True, kw_only=True)
class Recognise(Stage):
    """Text, tables and the words inside pictures. `lang` empty means: find out, page by page."""

    name: ClassVar[str] = "recognise"
    worker: ClassVar[str] = "penstock.workers.recognise:RecogniseWorker"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer", "regions", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions", "layer_fault")
    lang: tuple[str, ...] = ()
    text_layer: LayerUse = "auto"
    effort: Effort = "best"  # as runs had it that name none
    read_pictures: bool = False  # those inside of files that say themselves what they hold
    threads: int = tuning(1)

    @property
    def takes_read(self) -> bool:
        return self.read_pictures
