"""Scores handwritten lines (IAM, as Teklia publishes them) by character and word error rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Asks, Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import need_folder, picture_for, row_id, row_picture, rows
from penstock_eval.metrics.text import character_error_rate, collapse_spaces, word_error_rate
from penstock_eval.results import SampleResult


@dataclass(frozen=True)
class Handwritten(Benchmark):
    """Means are over lines; `cer_pooled` and `wer_pooled` are all edits over all units, as papers report."""

    name: ClassVar[str] = "handwritten"
    title: ClassVar[str] = "Handwritten lines (IAM)"
    layout: ClassVar[str] = "*.parquet or *.jsonl rows with `text`, or .txt files beside line pictures"
    hub: ClassVar[HubFiles | None] = ("Teklia/IAM-line", ("data/test*.parquet",))
    metrics: ClassVar[dict[str, bool]] = {"cer": False, "wer": False}
    asks: ClassVar[Asks] = "text"

    @property
    def protocol(self) -> str:
        return "CER and WER, jiwer rules"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        texts = sorted(folder.rglob("*.txt")) if folder.is_dir() else []
        if texts:
            return [
                Sample(f.stem, f.read_text(encoding="utf-8"), picture_for(f.parent, f.stem)) for f in texts
            ]
        found = [
            Sample(row_id(row, number), str(row["text"]), row_picture(row, folder))
            for number, row in enumerate(rows(folder, "*.jsonl", "*.parquet"))
            if "text" in row
        ]
        if not found:
            raise UsageError(f"{folder} holds no lines of text.", f"It should hold {self.layout}.")
        return found

    def score(self, sample: Sample, prediction: str) -> Scores:
        said = collapse_spaces(prediction)
        values = {
            "cer": character_error_rate([sample.truth], [said]),
            "wer": word_error_rate([sample.truth], [said]),
        }
        return Scores(values, sample.truth, said)

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        truths, said = [r.truth for r in results], [r.prediction for r in results]
        return {"cer_pooled": character_error_rate(truths, said), "wer_pooled": word_error_rate(truths, said)}
