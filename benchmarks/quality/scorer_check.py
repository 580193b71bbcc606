"""Puts our scores beside those that official programs state, on the predictions kept with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock_eval.benchmarks.dpbench import DpBench
from penstock_eval.benchmarks.omnidocbench import OmniDocBench
from penstock_eval.metrics.tables import teds_both
from penstock_eval.metrics.text import anls
from penstock_eval.scoring import score_folder

# the official programs on the 18 demo pages: text, formula and table edit, TEDS over tables, reading order
DEMO = {
    "v1.0": (0.356126, 0.492899, 0.202719, 0.783813, 0.216996),
    "v1.5": (0.351317, 0.318945, 0.202719, 0.783813, 0.161337),
    "v1.6": (0.335621, 0.236635, 0.190512, 0.796747, 0.224300),
}
DEMO_SCORES = ("text_edit", "formula_edit", "table_edit", "TEDS_all_tables", "order_edit")
PUBTABNET = {"TEDS": 0.899678, "TEDS-S": 0.936100}
ANLS = 0.378


@dataclass(frozen=True, slots=True)
class Check:
    what: str
    ours: float
    stated: float


def checks(data: Path) -> list[Check]:
    """Every comparison whose data is there."""
    sets = {
        "omnidocbench_demo": _omnidocbench,
        "pubtabnet_examples": _pubtabnet,
        "anls_examples": _anls,
        "formula_cdm": _cdm,
        "dpbench": _dpbench,
    }
    return [check for name, find in sets.items() if (data / name).is_dir() for check in find(data / name)]


def table(data: Path) -> list[str]:
    rows = [
        f"| {c.what} | {c.ours:.6f} | {c.stated:.6f} | {abs(c.ours - c.stated):.6f} |" for c in checks(data)
    ]
    return ["| score | ours | stated | apart |", "|---|---|---|---|", *rows, ""]


def _omnidocbench(folder: Path) -> Iterator[Check]:
    for version, stated in DEMO.items():
        bench = OmniDocBench(version=version)
        found = score_folder(bench, folder, folder / "predictions_end2end", workers=0).summary
        numbers = {**{name: value.mean for name, value in found.scores.items()}, **found.extra}
        for name, value in zip(DEMO_SCORES, stated, strict=True):
            yield Check(f"OmniDocBench demo {version}, {name}", numbers[name], value)


def _pubtabnet(folder: Path) -> Iterator[Check]:
    truth = json.loads((folder / "src" / "sample_gt.json").read_text(encoding="utf-8"))
    given = json.loads((folder / "src" / "sample_pred.json").read_text(encoding="utf-8"))
    scores = [teds_both(given[name], value["html"]) for name, value in truth.items()]
    yield Check("PubTabNet samples, TEDS", sum(s.teds for s in scores) / len(scores), PUBTABNET["TEDS"])
    structure = sum(s.structure for s in scores) / len(scores)
    yield Check("PubTabNet samples, TEDS-S", structure, PUBTABNET["TEDS-S"])


def _anls(folder: Path) -> Iterator[Check]:
    gold = json.loads((folder / "gold_label.json").read_text(encoding="utf-8"))["data"]
    rows = json.loads((folder / "submission.json").read_text(encoding="utf-8"))
    given = {row["questionId"]: row["answer"] for row in rows}
    scores = [anls(row["answers"], given[row["questionId"]]) for row in gold]
    yield Check("DocVQA fixture, ANLS", sum(scores) / len(scores), ANLS)


def _cdm(folder: Path) -> Iterator[Check]:
    if shutil.which("pdflatex") is None:
        return
    from penstock_eval.metrics.formulas import cdm

    stated = json.loads((folder / "expected_CDM.json").read_text(encoding="utf-8"))["results"]
    pairs = folder / "cdm" / "assets" / "example" / "input_example.json"
    for pair in json.loads(pairs.read_text(encoding="utf-8")):
        found = cdm(pair["gt"], pair["pred"]).f1
        yield Check(f"CDM pair {pair['img_id']}, F1", found, stated[pair["img_id"]]["F1"])


def _dpbench(folder: Path) -> Iterator[Check]:
    """Pages without tables apart: there NID needs no reading of tables, which harnesses do differently."""
    for engine in ("docling", "markitdown"):
        source = folder / "prediction" / engine
        evaluation = json.loads((source / "evaluation.json").read_text(encoding="utf-8"))
        stated = {row["document_id"]: row["scores"] for row in evaluation["documents"]}
        results = score_folder(DpBench(), folder, source / "markdown", workers=0).results
        plain = [r for r in results if "teds" not in r.scores]
        for name, chosen, metric in (
            ("NID, pages without tables", plain, "nid"),
            ("NID, all pages", results, "nid"),
            ("TEDS", results, "teds"),
            ("MHS", results, "mhs"),
        ):
            known = [
                (r.scores[metric], stated[r.id][metric])
                for r in chosen
                if metric in r.scores and stated[r.id].get(metric) is not None
            ]
            ours, theirs = (sum(side) / len(known) for side in zip(*known, strict=True))
            yield Check(f"DP-Bench {engine}, {name}", ours, theirs)
