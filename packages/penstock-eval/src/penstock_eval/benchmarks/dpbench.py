"""Scores DP-Bench (Upstage, 200 pages) by the rules of its open harness: NID, TEDS and MHS of Markdown.

NID-S leaves tables out. TEDS compares all tables of a page as one tree: the harness wraps them so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import need_folder, picture_for, read_json
from penstock_eval.html_tree import parse_html
from penstock_eval.metrics.headings import heading_similarity
from penstock_eval.metrics.invented import invented_content
from penstock_eval.metrics.pipe_tables import with_html_tables
from penstock_eval.metrics.tables import TedsScore, teds_both
from penstock_eval.metrics.text import nid

_TABLE = re.compile(r"<table[^>]*?>.*?</table>", re.IGNORECASE | re.DOTALL)
_SECTIONS = re.compile(r"</?(?:thead|tbody)>")


@dataclass(frozen=True)
class DpBench(Benchmark):
    name: ClassVar[str] = "dpbench"
    title: ClassVar[str] = "Upstage DP-Bench"
    layout: ClassVar[str] = (
        "reference.json and pdfs/, or ground-truth/markdown/*.md, or a folder of .md files"
    )
    hub: ClassVar[HubFiles | None] = ("upstage/dp-bench", ("dataset/reference.json", "dataset/pdfs/*"))
    metrics: ClassVar[dict[str, bool]] = {
        "overall": True,
        "nid": True,
        "nid_s": True,
        "teds": True,
        "teds_s": True,
        "mhs": True,
        "mhs_s": True,
        "invented": False,
    }

    @property
    def protocol(self) -> str:
        return "DP-Bench, opendataloader-bench rules"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        nested = folder / "ground-truth" / "markdown"
        if not nested.is_dir() and (published := _reference(folder)) is not None:
            return _from_reference(published)
        files = sorted((nested if nested.is_dir() else folder).glob("*.md"))
        if not files:
            raise UsageError(f"{folder} holds no Markdown truth.", f"It should hold {self.layout}.")
        return [
            Sample(f.stem, f.read_text(encoding="utf-8"), picture_for(folder / "images", f.stem))
            for f in files
        ]

    def score(self, sample: Sample, prediction: str) -> Scores:
        truth, predicted = with_html_tables(sample.truth), with_html_tables(prediction)
        values: dict[str, float] = {}
        notes: tuple[str, ...] = ()
        if truth.strip():
            values["nid"] = nid(truth, predicted)
            values["nid_s"] = nid(_TABLE.sub(" ", truth), _TABLE.sub(" ", predicted))
        tables = page_teds(truth, predicted)
        if tables is not None:
            values |= {"teds": tables.teds, "teds_s": tables.structure}
            notes = (tables.note,) if tables.note else ()
        headings = heading_similarity(truth, predicted)
        if headings is not None:
            values |= {"mhs": headings.mhs, "mhs_s": headings.structure}
        known = [values[name] for name in ("nid", "teds", "mhs") if name in values]
        if known:
            values["overall"] = sum(known) / len(known)
        values["invented"] = invented_content([truth], predicted.split("\n\n")).invented
        return Scores(values, sample.truth, prediction, notes)


def _reference(folder: Path) -> Path | None:
    return next(
        (f for f in (folder / "reference.json", folder / "dataset" / "reference.json") if f.is_file()), None
    )


def _from_reference(file: Path) -> list[Sample]:
    """Reads Upstage's own file: the elements of every page in reading order, as Markdown with HTML tables."""
    found: list[Sample] = []
    for name, page in read_json(file).items():
        parts = [_element(element["category"], element["content"]) for element in page["elements"]]
        pdf = file.parent / "pdfs" / name
        truth = "\n\n".join(part for part in parts if part.strip())
        found.append(Sample(Path(name).stem, truth, str(pdf) if pdf.is_file() else ""))
    return found


def _element(category: str, content: dict[str, str]) -> str:
    if category == "Table" and content["html"]:
        return content["html"]
    if category == "Heading1":
        return "# " + content["text"].replace("\n", " ")
    return content["markdown"] or content["text"]


def page_teds(truth: str, predicted: str) -> TedsScore | None:
    """Compares all tables of a page as one tree. None if the truth has none, 0 if the prediction has none."""
    wanted, given = _tables(truth), _tables(predicted)
    if not wanted:
        return None
    if not given:
        return TedsScore(0.0, 0.0, "the prediction has no table")
    return teds_both(_one_document(given), _one_document(wanted), spelled=True)


def _tables(text: str) -> list[str]:
    return [str(table) for table in parse_html(text).find_all("table")]


def _one_document(tables: list[str]) -> str:
    """Wraps the page's tables in a table, as the harness does."""
    inside = "\n".join(tables)
    source = f"<html><body><table><html><body>\n{inside}\n</body></html></table></body></html>"
    return _SECTIONS.sub("", source)
