"""Has a model server read again the pages that were chosen for it; others pass by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.stages.recognise_remote import RecogniseRemote


@dataclass(frozen=True, kw_only=True)
class Reread(RecogniseRemote):
    """Regions keep their places and labels. Text that the file itself gives is not asked for."""

    name: ClassVar[str] = "reread"
    worker: ClassVar[str] = "penstock.workers.choosing.reread:RereadWorker"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "regions", "choice")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    text_height: float = 0.0
