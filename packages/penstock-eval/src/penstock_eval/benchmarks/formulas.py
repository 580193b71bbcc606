"""Scores UniMERNet's test set: LaTeX read from pictures of formulas of four kinds (Wang et al. 2024)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Asks, Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import (
    PICTURE_NAME,
    need_folder,
    picture_for,
    row_id,
    row_picture,
    rows,
)
from penstock_eval.metrics import formula_render, formulas
from penstock_eval.metrics.text import bleu, normalised_edit
from penstock_eval.results import SampleResult

SUBSETS = {
    "spe": "simple printed",
    "cpe": "complex printed",
    "sce": "screen-captured",
    "hwe": "handwritten",
}
LATEX_COLUMNS = ("label", "latex_formula", "latex", "text")
KIND_COLUMNS = ("subset", "kind", "type", "category", "split", "image_name", "file_name", "id")
_NAMED = re.compile(r"(\\(operatorname|mathrm|text|mathbf)\s?\*? {.*?})")
_DOLLARS = re.compile(r"^\s*(?:\$\$|\\\[|\$)?(.*?)(?:\$\$|\\\]|\$)?\s*$", re.DOTALL)


@dataclass(frozen=True)
class UniMerNet(Benchmark):
    """`cdm` also renders both formulas; it needs TeX and about a second a formula."""

    name: ClassVar[str] = "unimernet"
    title: ClassVar[str] = "UniMERNet"
    layout: ClassVar[str] = (
        "spe.txt, cpe.txt, sce.txt, hwe.txt and folders of those names, or rows with `label` in files of them"
    )
    hub: ClassVar[HubFiles | None] = ("deepcopy/UniMER", ("*.parquet", "data/*.parquet"))
    metrics: ClassVar[dict[str, bool]] = {"edit": False, "cdm": True}
    asks: ClassVar[Asks] = "formula"

    cdm: bool = False

    @property
    def protocol(self) -> str:
        return "UniMERNet edit and BLEU" + (", CDM" if self.cdm else "")

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        found: list[Sample] = []
        for subset, words in SUBSETS.items():
            file = folder / f"{subset}.txt"
            lines = file.read_text(encoding="utf-8").rstrip("\n").split("\n") if file.is_file() else []
            for number, latex in enumerate(lines):
                name = f"{subset}/{number:07d}"
                found.append(Sample(name, latex.strip(), picture_for(folder, name), (words,)))
        if found:
            return found
        made = [
            Sample(row_id(row, number), _latex(row), row_picture(row, folder), subset_of(row))
            for number, row in enumerate(rows(folder, "*.jsonl", "*.parquet"))
        ]
        if not made:
            raise UsageError(f"{folder} holds no formulas.", f"It should hold {self.layout}.")
        return made

    def score(self, sample: Sample, prediction: str) -> Scores:
        truth, said = without_spaces(sample.truth), without_spaces(without_delimiters(prediction))
        values = {"edit": normalised_edit(truth, said)}
        notes: tuple[str, ...] = ()
        if self.cdm:
            found = formulas.cdm(sample.truth, without_delimiters(prediction))
            values["cdm"] = found.f1
            notes = (found.note,) if found.note else ()
        return Scores(values, truth, said, notes)

    def not_computed(self) -> dict[str, str]:
        return {} if self.cdm else {"cdm": formula_render.what_cdm_needs()}

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        return {"bleu": bleu([r.truth for r in results], [r.prediction for r in results])} if results else {}


def subset_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns the kind of a row's formula, by a column, its picture's own name, or the file that it is in.

    Copies of the test set on the Hub have a file a kind (cpe-00000-of-00001.parquet) or a folder a kind.
    """
    said = [str(row.get(name) or "") for name in (*KIND_COLUMNS, PICTURE_NAME)]
    for place in (*said, row.get("picture", "")):
        for word in reversed(re.findall("[a-z]+", place.lower())):
            if word in SUBSETS:
                return (SUBSETS[word],)
    return ()


def _latex(row: dict[str, Any]) -> str:
    return str(next((row[name] for name in LATEX_COLUMNS if row.get(name) is not None), ""))


def without_delimiters(latex: str) -> str:
    """Returns a formula without the dollars or brackets that a model puts around it."""
    found = _DOLLARS.match(latex)
    return found[1].strip() if found else latex.strip()


def without_spaces(latex: str) -> str:
    """Returns LaTeX as UniMERNet compares it: spaces stay only between two letters and after a backslash."""
    latex = _NAMED.sub(lambda found: found[0].replace(" ", ""), latex)
    letter, other = "[a-zA-Z]", r"[\W_^\d]"
    before = ""
    while before != latex:
        before = latex
        latex = re.sub(rf"(?!\\ )({other})\s+?({other})", r"\1\2", latex)
        latex = re.sub(rf"(?!\\ )({other})\s+?({letter})", r"\1\2", latex)
        latex = re.sub(rf"({letter})\s+?({other})", r"\1\2", latex)
    return latex
