"""A benchmark's public data set: the folder that is given, or one downloaded from the Hub.

Downloads resume, are kept in the user's cache, and are not fetched again. Pictures that come inside
Parquet files are written out when a recipe is to read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from penstock.engines.weights.registry import cache_folder
from penstock.errors import UsageError
from penstock.evaluate.benchmarks.base import Benchmark, Sample
from penstock.evaluate.benchmarks.files import EMBEDDED, embedded_picture


def folder_for(benchmark: Benchmark, data: Path | None) -> Path:
    """`data` itself; without it the benchmark's own data set, downloaded when it is not there yet."""
    if data is not None:
        return data
    if benchmark.hub is None:
        raise UsageError(f"{benchmark.title} has no home on the Hub.", f"Give --data: {benchmark.layout}.")
    from penstock.sources import hub

    repo, files = benchmark.hub
    folder = cache_folder().parent / "datasets" / benchmark.name
    return hub.download(repo, folder, files=files).folder


def with_pictures(samples: Sequence[Sample], folder: Path) -> list[Sample]:
    """The samples with every picture a file; those inside Parquet are written to `folder` once."""
    found: list[Sample] = []
    for sample in samples:
        if EMBEDDED not in sample.image:
            found.append(sample)
            continue
        path = folder / f"{sample.id}.png"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_bytes(embedded_picture(sample.image))
            part.replace(path)
        found.append(replace(sample, image=str(path)))
    return found
