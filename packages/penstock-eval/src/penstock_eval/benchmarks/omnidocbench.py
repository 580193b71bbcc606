"""Scores whole pages of Markdown on OmniDocBench and MDPBench, by a version of the official protocol.

MDPBench (17 languages, scanned and photographed) has the same format and reports figures by language.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from penstock.errors import UsageError
from penstock.scripts import has_hangul
from penstock_eval.benchmarks.base import Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import need_folder, picture_for
from penstock_eval.metrics.formula_render import what_cdm_needs
from penstock_eval.metrics.formulas import cdm
from penstock_eval.metrics.invented import invented_content
from penstock_eval.metrics.text import korean_error_rates
from penstock_eval.omnidocbench.elements import INLINE, predicted_elements
from penstock_eval.omnidocbench.page import PageScore, ScoredPair, score_page
from penstock_eval.omnidocbench.protocols import ProtocolVersion, protocol_named
from penstock_eval.omnidocbench.truth import TruePage, read_pages
from penstock_eval.omnidocbench.v1_6 import page as v1_6
from penstock_eval.results import SampleResult


@dataclass(frozen=True)
class OmniDocBench(Benchmark):
    """`version` is the official protocol's; `cdm` also renders formulas, needs TeX and a second a formula."""

    name: ClassVar[str] = "omnidocbench"
    title: ClassVar[str] = "OmniDocBench"
    layout: ClassVar[str] = "OmniDocBench.json (any annotation JSON) and images/"
    hub: ClassVar[HubFiles | None] = ("opendatalab/OmniDocBench", ("OmniDocBench.json", "images/*"))
    metrics: ClassVar[dict[str, bool]] = {
        "text_edit": False,
        "formula_edit": False,
        "formula_cdm": True,
        "table_teds": True,
        "table_teds_structure": True,
        "table_edit": False,
        "order_edit": False,
        "invented": False,
        "repeated": False,
        "korean_cer": False,
        "spacing_error_rate": False,
    }

    version: str = "v1.5"
    cdm: bool = False

    @property
    def rules(self) -> ProtocolVersion:
        return protocol_named(self.version)

    @property
    def missing_is_empty(self) -> bool:
        """v1.6 scores a page without a prediction as empty; v1.0 and v1.5 leave it out, which flatters."""
        return self.rules.missing_is_empty

    @property
    def protocol(self) -> str:
        if not self.cdm:
            return f"{self.title} {self.rules.name}"
        # the official v1.6 program also renders other spellings of a matrix and keeps the best
        return f"{self.title} {self.rules.name} with CDM" + (
            " of one spelling" if self.rules.granular else ""
        )

    def samples(self, folder: Path) -> list[Sample]:
        file = annotation_file(need_folder(folder, self.layout))
        images = file.parent / "images"
        return [
            Sample(page.stem, page, picture_for(images, page.image), self.slices(page))
            for page in read_pages(file, marked=self.rules.granular)
        ]

    def slices(self, page: TruePage) -> tuple[str, ...]:
        return page.slices

    def score(self, sample: Sample, prediction: str) -> Scores:
        page: TruePage = sample.truth
        scored = self._scored(page, prediction)
        values = page_values(scored)
        if self.cdm and scored.formulas:
            values["formula_cdm"] = _mean_cdm(scored.formulas)
        values |= unofficial_scores(page, prediction, self.rules)
        notes = tuple(note for table in scored.tables for note in table.notes)
        return Scores(values, true_text(page), prediction, notes, _details(scored))

    def _scored(self, page: TruePage, prediction: str) -> PageScore:
        if not self.rules.granular:
            return score_page(page, prediction, self.rules)
        return v1_6.score_page(page, prediction)

    def not_computed(self) -> dict[str, str]:
        if self.cdm:
            return {}
        return {"formula_cdm": what_cdm_needs(), "overall": "not computed, needs formula_cdm"}

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        """Returns figures over all pairs instead of pages, and the overall score if its parts are known."""
        extra: dict[str, float] = {}
        for part in ("texts", "formulas", "tables"):
            pairs = [pair for result in results for pair in result.details.get(part, [])]
            length = sum(pair["length"] for pair in pairs)
            if length:
                extra[f"{part}_edit_whole"] = sum(pair["edits"] for pair in pairs) / length
        tables = [pair for result in results for pair in result.details.get("tables", [])]
        for metric in ("TEDS", "TEDS_structure_only"):
            if tables:
                extra[f"{metric}_all_tables"] = sum(t["scores"][metric] for t in tables) / len(tables)
        return extra | overall(results)


@dataclass(frozen=True)
class MdpBench(OmniDocBench):
    name: ClassVar[str] = "mdpbench"
    title: ClassVar[str] = "MDPBench"
    layout: ClassVar[str] = "an annotation JSON in OmniDocBench's format and images/"
    hub: ClassVar[HubFiles | None] = None

    def slices(self, page: TruePage) -> tuple[str, ...]:
        """Puts languages first: the benchmark reports by language."""
        return tuple(sorted(page.slices, key=lambda name: not name.startswith("language")))


def annotation_file(path: Path) -> Path:
    """Returns the annotation JSON: the file itself, or the one in the folder that lists pages."""
    if path.is_file():
        return path
    for file in sorted(path.glob("*.json")):
        with file.open(encoding="utf-8", errors="replace") as opened:
            head = opened.read(1 << 16)
        if '"layout_dets"' in head or '"page_info"' in head or '"poly"' in head:
            return file
    raise UsageError(f"{path} holds no OmniDocBench annotation JSON.", "Give the file itself.")


def page_values(page: PageScore) -> dict[str, float]:
    """Returns a page's scores; leaves out those of parts that the page does not have."""
    values: dict[str, float] = {}
    for name, pairs in (
        ("text_edit", page.texts),
        ("formula_edit", page.formulas),
        ("table_edit", page.tables),
    ):
        length = sum(pair.length for pair in pairs)
        if length:
            values[name] = sum(pair.edits for pair in pairs) / length
    for name, metric in (("table_teds", "TEDS"), ("table_teds_structure", "TEDS_structure_only")):
        if page.tables:
            values[name] = sum(table.scores[metric] for table in page.tables) / len(page.tables)
    if page.order is not None:
        values["order_edit"] = page.order
    return values


def unofficial_scores(page: TruePage, prediction: str, rules: ProtocolVersion) -> dict[str, float]:
    """Scores what the official protocol does not see: invented and repeated text, Korean spacing."""
    blocks = [block.content for block in predicted_elements(prediction, rules) if block.fine != INLINE]
    known = [part for e in page.elements for part in (e.text, e.latex, e.html)]
    invented = invented_content(known, blocks)
    values = {"invented": invented.invented, "repeated": invented.repeated}
    truth = true_text(page)
    if has_hangul(truth):
        rates = korean_error_rates([truth], [prediction])
        values["korean_cer"] = rates["cer"]
        values["spacing_error_rate"] = rates["spacing_error_rate"]
    return values


def true_text(page: TruePage) -> str:
    """Returns the page's truth in reading order, for reports and for whole-page comparison."""
    shown = sorted((e for e in page.elements if e.order), key=lambda e: e.order or 0)
    return "\n\n".join(e.text or e.latex or e.html for e in shown if e.text or e.latex or e.html)


def overall(results: Sequence[SampleResult]) -> dict[str, float]:
    """Returns ((1 - text edit) x 100 + TEDS + CDM) / 3 of page means; nothing if one of them is missing."""
    means: list[float] = []
    for metric in ("text_edit", "table_teds", "formula_cdm"):
        values = [result.scores[metric] for result in results if metric in result.scores]
        if not values:
            return {}
        mean = sum(values) / len(values)
        means.append(100 * (1 - mean if metric == "text_edit" else mean))
    return {"overall": sum(means) / 3}


def _mean_cdm(pairs: Sequence[ScoredPair]) -> float:
    return sum(cdm(pair.truth, pair.prediction).f1 for pair in pairs) / len(pairs)


def _details(page: PageScore) -> dict[str, Any]:
    parts = {"texts": page.texts, "formulas": page.formulas, "tables": page.tables}
    return {
        **{name: [_pair(pair) for pair in pairs] for name, pairs in parts.items()},
        "true_order": list(page.true_order),
        "found_order": list(page.found_order),
    }


def _pair(pair: ScoredPair) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(json.dumps(asdict(pair)))
    return {name: kept[name] for name in ("truth", "prediction", "edits", "length", "scores")}
