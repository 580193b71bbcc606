"""Chooses for each page the cheapest reader that reads it well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Choose(Stage):
    """Says of a page that the cheap readers read whether that will do, or a model server is to read it.

    `accept_errors` is the part of a page's characters that may be wrong.
    """

    name: ClassVar[str] = "choose"
    worker: ClassVar[str] = "penstock.workers.choosing.choose:ChooseWorker"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer", "regions", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("choice",)
    accept_errors: float
    has_server: bool
