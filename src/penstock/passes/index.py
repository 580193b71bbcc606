"""Makes a run searchable: its words, and its vectors where it has some."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from pathlib import Path

from penstock.processes.resources import cores
from penstock.retrieval.index import IndexSummary, build
from penstock.store.out import Out

log = logging.getLogger(__name__)
__all__ = ["IndexSummary", "index_out"]


def index_out(out: Path, rebuild: bool = False, holds_lock: bool = False) -> IndexSummary:
    """Builds or updates the index of OUT. Raises UsageError where OUT holds no pages.

    `holds_lock`: this process writes to OUT and builds one index at a time.
    """
    began = time.monotonic()
    log.info("index of %s begins%s", out, ", all of it anew" if rebuild else "", extra={"out": str(out)})
    built = build(Out(out), rebuild, cores(), holds_lock)
    log.info(
        "index of %s ended after %.1f s: %d pages, %d changed, %d removed",
        out, time.monotonic() - began, built.pages, built.changed, built.removed,
        extra={"out": str(out), **asdict(built)},
    )  # fmt: skip
    return built
