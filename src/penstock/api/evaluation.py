"""Scores a recipe or predictions on a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from penstock.converted.python_terms import in_python_terms
from penstock.evaluation.benchmarks import open_benchmark
from penstock.evaluation.results import Summary
from penstock.passes.evaluate import run_benchmark, score_predictions
from penstock.passes.settings import ParseSettings, recipe_options


@in_python_terms()
def evaluate(
    benchmark: str,
    *,
    out: str | Path,
    data: str | Path | None = None,
    predictions: str | Path | None = None,
    recipe: str = "documents",
    limit: int = 0,
    **options: Unpack[ParseSettings],
) -> Summary:
    """Scores `predictions` on a benchmark; without them, those that a recipe makes of its pictures.

    summary = penstock.evaluate("omnidocbench", out="scores", data="OmniDocBench/", predictions="mine/")
    print(summary.scores["overall"])
    """
    chosen, folder = open_benchmark(benchmark), None if data is None else Path(data)
    if predictions is not None:
        return score_predictions(chosen, Path(predictions), folder, Path(out)).summary
    return run_benchmark(
        chosen, Path(out), folder, recipe=recipe, options=recipe_options(options), limit=limit
    ).summary
