"""Scores answers to questions (OCRBench) and fields read from a document (Nanonets, SROIE)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from penstock.errors import UsageError
from penstock.region import Asking
from penstock_eval.benchmarks.base import Asks, Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import (
    PICTURE_NAME,
    need_folder,
    picture_for,
    read_json,
    row_id,
    row_picture,
    rows,
)
from penstock_eval.metrics.contains import contains_answer
from penstock_eval.metrics.text import anls_fields
from penstock_eval.results import SampleResult

TEXT_TYPES = frozenset(
    {
        "Regular Text Recognition",
        "Irregular Text Recognition",
        "Artistic Text Recognition",
        "Handwriting Recognition",
        "Digit String Recognition",
        "Non-Semantic Text Recognition",
    }
)  # OCRBench's "Text" column: 300 questions
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class OcrBench(Benchmark):
    name: ClassVar[str] = "ocrbench"
    title: ClassVar[str] = "OCRBench"
    layout: ClassVar[str] = "OCRBench.json and, beside it, the pictures it names"
    hub: ClassVar[HubFiles | None] = ("echo840/OCRBench", ("*.parquet", "data/*.parquet"))
    metrics: ClassVar[dict[str, bool]] = {"accuracy": True}
    asks: ClassVar[Asks] = "question"

    @property
    def protocol(self) -> str:
        return "OCRBench v1, answer contained"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        file = folder if folder.is_file() else folder / "OCRBench.json"
        found = read_json(file) if file.is_file() and file.suffix == ".json" else rows(folder, "*.parquet")
        return [_question(row, number, file.parent) for number, row in enumerate(found)]

    def asking(self, sample: Sample) -> Asking:
        """Sends the question as the data set has it, as the official programs do."""
        return Asking(task="question", words=str(sample.truth.get("question", "")))

    def score(self, sample: Sample, prediction: str) -> Scores:
        right = contains_answer(sample.truth["answers"], prediction, sample.truth.get("dataset_name", ""))
        asked = f"{sample.truth.get('question', '')}\n{sample.truth['answers']}"
        return Scores({"accuracy": float(right)}, asked, prediction)

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        """Counts the right answers: the published figure, of 1,000."""
        return {"right": sum(result.scores["accuracy"] for result in results)}


@dataclass(frozen=True)
class NanonetsKie(Benchmark):
    """Also reads SROIE's layout: key/NAME.json with the fields, img/NAME.jpg."""

    name: ClassVar[str] = "nanonets-kie"
    title: ClassVar[str] = "Nanonets key information extraction"
    layout: ClassVar[str] = "*.jsonl or *.parquet rows with `annotations`, or key/*.json and img/"
    hub: ClassVar[HubFiles | None] = ("nanonets/key_information_extraction", ("*.parquet", "data/*.parquet"))
    metrics: ClassVar[dict[str, bool]] = {"anls": True}
    asks: ClassVar[Asks] = "fields"

    @property
    def protocol(self) -> str:
        return "ANLS, Nanonets rules (no threshold, case counts)"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        keys = sorted((folder / "key").glob("*.json"))
        if keys:
            return [Sample(f.stem, _fields(read_json(f)), picture_for(folder / "img", f.stem)) for f in keys]
        found = [
            Sample(row_id(row, number), _row_fields(row), row_picture(row, folder))
            for number, row in enumerate(rows(folder, "*.jsonl", "*.parquet"))
        ]
        if not any(sample.truth for sample in found):
            raise UsageError(f"{folder} holds no annotated fields.", f"It should hold {self.layout}.")
        return found

    def asking(self, sample: Sample) -> Asking:
        return Asking(task="fields", fields=tuple(sample.truth))

    def score(self, sample: Sample, prediction: str) -> Scores:
        said, note = read_fields(prediction)
        shown = json.dumps(sample.truth, ensure_ascii=False, indent=1)
        return Scores({"anls": anls_fields(sample.truth, said)}, shown, prediction, (note,) if note else ())


def read_fields(prediction: str) -> tuple[dict[str, str], str]:
    """Returns the fields of the JSON that a model wrote, fenced or not, and a note if there is none."""
    fenced = _FENCE.search(prediction)
    source = fenced[1] if fenced else prediction
    start, end = source.find("{"), source.rfind("}")
    try:
        return _fields(json.loads(source[start : end + 1])), ""
    except (ValueError, AttributeError) as exc:
        return {}, f"no JSON object in the prediction ({exc})"


def _fields(content: dict[str, Any]) -> dict[str, str]:
    return {str(key): "" if value is None else str(value) for key, value in content.items()}


def _row_fields(row: dict[str, Any]) -> dict[str, str]:
    value: Any = next(
        (row[key] for key in ("annotations", "annotation", "fields", "ground_truth") if key in row), {}
    )
    return _fields(json.loads(value) if isinstance(value, str) else value)


def _question(row: dict[str, Any], number: int, root: Path) -> Sample:
    """Reads a question of the JSON file or of the Hub's Parquet, which names two columns differently."""
    answers = row.get("answers", row.get("answer"))
    if answers is None:
        raise KeyError(f"question {number} has no answers")
    known = {**row, "answers": answers}
    known.setdefault("type", row.get("question_type", ""))
    known.setdefault("dataset_name", row.get("dataset", ""))
    picture = row.get("picture") or picture_for(root, row.get("image_path", ""))
    truth = {name: value for name, value in known.items() if name not in ("picture", PICTURE_NAME)}
    return Sample(f"{number:04d}", truth, picture, _question_slices(known))


def _question_slices(row: dict[str, Any]) -> tuple[str, ...]:
    kind = str(row.get("type", ""))
    return (
        f"type: {kind}",
        f"data set: {row.get('dataset_name', '')}",
        *(("Text",) if kind in TEXT_TYPES else ()),
    )
