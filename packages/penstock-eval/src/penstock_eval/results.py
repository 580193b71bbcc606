"""Reads and writes what scoring produces: one line a sample in samples.jsonl, and summary.json.

Each line is written when its sample is scored, so a run that was stopped continues there. A line stays
valid while prediction, truth and protocol do not change. The summary is made from the lines.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import BadInput
from penstock.passes.scores import Interval, Summary
from penstock.store.atomic_files import replacing
from penstock_eval.metrics.statistics import bootstrap_interval

SAMPLES = "samples.jsonl"


@dataclass(frozen=True, slots=True)
class SampleResult:
    """One scored sample. `details` holds what the benchmark's own sums need, as JSON values."""

    id: str
    scores: dict[str, float]
    slices: tuple[str, ...] = ()
    image: str = ""
    truth: str = ""
    prediction: str = ""
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    digest: str = ""  # of the prediction, the truth and the benchmark's protocol


def digest_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def summarise(
    benchmark: str,
    protocol: str,
    results: Sequence[SampleResult],
    higher_is_better: dict[str, bool],
    extra: dict[str, float],
    warnings: Sequence[str] = (),
) -> Summary:
    """Returns means with intervals over all samples and over every slice that has samples."""
    slices: dict[str, dict[str, Interval]] = {}
    for name in sorted({label for result in results for label in result.slices}):
        members = [result for result in results if name in result.slices]
        slices[name] = _intervals(members, higher_is_better)
    return Summary(
        benchmark=benchmark,
        protocol=protocol,
        count=len(results),
        scores=_intervals(results, higher_is_better),
        extra=extra,
        slices=slices,
        warnings=tuple(warnings),
        higher_is_better=dict(higher_is_better),
    )


def _intervals(results: Sequence[SampleResult], metrics: Iterable[str]) -> dict[str, Interval]:
    """Leaves out a metric without any value (no page has a table): it is not 0."""
    found: dict[str, Interval] = {}
    for metric in metrics:
        values = [
            r.scores[metric] for r in results if metric in r.scores and not math.isnan(r.scores[metric])
        ]
        if values:
            found[metric] = bootstrap_interval(values)
    return found


def sample_line(result: SampleResult) -> str:
    return json.dumps(asdict(result), ensure_ascii=False) + "\n"


def write_text(file: Path, text: str, out: Path) -> None:
    """Writes a file of ours below `out`. Halves of surrogate pairs, which no file holds, become `?`."""
    with replacing(file, out, sync=False) as written:
        written.write(text.encode("utf-8", "replace"))


def read_samples(path: Path) -> list[SampleResult]:
    """Returns the lines of a `samples.jsonl`, or of the folder that holds one; the latest of an id counts.

    Leaves out a last line that was cut off in the middle: its sample was not done.
    """
    file = path / SAMPLES if path.is_dir() else path
    if not file.is_file():
        raise BadInput(f"{path} holds no {SAMPLES}.", "Give a folder that `penstock eval score` wrote.")
    latest: dict[str, SampleResult] = {}
    lines = file.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines):
        if not line:
            continue
        try:
            values = json.loads(line)
            values["slices"], values["notes"] = tuple(values["slices"]), tuple(values["notes"])
            latest[values["id"]] = SampleResult(**values)
        except (ValueError, TypeError, KeyError) as exc:
            if number == len(lines) - 1:
                break
            raise BadInput(f"{file}, line {number + 1} is not a sample's result ({exc}).") from exc
    return list(latest.values())
