"""`penstock eval office`: makes documents, reads them or takes what a tool read, and scores that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock_eval.benchmark_run import Progress, no_progress, run_benchmark, score_predictions
from penstock_eval.benchmarks import open_benchmark
from penstock_eval.made_documents.folder import write_documents
from penstock_eval.scoring import Outcome


def evaluate_office(
    out: Path,
    predictions: Path | None,
    documents: int,
    seed: int,
    formats: Sequence[str] = (),
    *,
    only_write: bool = False,
    progress: Progress = no_progress,
) -> Outcome | None:
    """Returns the scores of PREDICTIONS, or of what Penstock reads; None if it was only to write."""
    write_documents(out, documents, seed, formats)
    if only_write:
        return None
    benchmark = open_benchmark("office")
    if predictions is not None:
        return score_predictions(benchmark, predictions, out, out, progress=progress)
    return run_benchmark(benchmark, out, out, progress=progress)
