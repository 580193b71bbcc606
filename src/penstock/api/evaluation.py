"""Scores a recipe or predictions on a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from penstock.converted.python_terms import in_python_terms
from penstock.options.option import values_of
from penstock.options.reading import READING
from penstock.options.typed import ParseSettings
from penstock.passes.scores import Summary, evaluation


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
    summary: Summary = evaluation("benchmark")(
        benchmark,
        Path(out),
        None if data is None else Path(data),
        None if predictions is None else Path(predictions),
        recipe=recipe,
        limit=limit,
        options={**options, **values_of(READING, options)},
    )
    return summary
