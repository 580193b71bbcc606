"""Makes a run searchable: its words, and its vectors where it has some."""

from __future__ import annotations

from pathlib import Path

from penstock.processes.resources import cores
from penstock.retrieval.index import IndexSummary, build
from penstock.store.out import Out

__all__ = ["IndexSummary", "index_out"]


def index_out(out: Path, rebuild: bool = False) -> IndexSummary:
    """Builds or updates the index of OUT. Raises UsageError where OUT holds no pages."""
    return build(Out(out), rebuild, threads=cores())
