"""Scores HTML read from pictures of tables (PubTabNet, TEDS_TEST) by TEDS and TEDS-S."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from penstock.errors import UsageError
from penstock.evaluation.benchmarks.base import Asks, Benchmark, HubFiles, Sample, Scores
from penstock.evaluation.benchmarks.files import need_folder, picture_for, read_json, rows
from penstock.evaluation.metrics.pipe_tables import with_html_tables
from penstock.evaluation.metrics.tables import document, teds_both
from penstock.evaluation.omnidocbench.elements import html_tables


@dataclass(frozen=True)
class PubTabNet(Benchmark):
    """`split` chooses rows of the published JSONL; "" takes all."""

    name: ClassVar[str] = "pubtabnet"
    title: ClassVar[str] = "PubTabNet"
    layout: ClassVar[str] = "PubTabNet_2.0.0.jsonl (or *.jsonl, *.parquet, *gt*.json) and the pictures"
    hub: ClassVar[HubFiles | None] = ("apoidea/pubtabnet-html", ("*validation*.parquet", "data/val*.parquet"))
    metrics: ClassVar[dict[str, bool]] = {"teds": True, "teds_s": True}
    asks: ClassVar[Asks] = "table"

    split: str = "val"

    @property
    def protocol(self) -> str:
        return "TEDS, PubTabNet metric"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        pairs = _from_answers(folder) or _from_rows(folder, self.split) or _from_rows(folder, "")
        if not pairs:
            raise UsageError(f"{folder} holds no tables with HTML.", f"It should hold {self.layout}.")
        root = folder.parent if folder.is_file() else folder
        return [
            Sample(
                Path(name).stem,
                html,
                picture or picture_for(root, name) or picture_for(root / "images", name),
                slices,
            )
            for name, html, slices, picture in pairs
        ]

    def score(self, sample: Sample, prediction: str) -> Scores:
        found = teds_both(first_document(prediction), sample.truth)
        notes = (found.note,) if found.note else ()
        return Scores({"teds": found.teds, "teds_s": found.structure}, sample.truth, prediction, notes)


@dataclass(frozen=True)
class TedsTest(PubTabNet):
    """A table test set of its own: `*.html` truths beside pictures, or JSON of `{name: {"html": ...}}`."""

    name: ClassVar[str] = "teds-test"
    title: ClassVar[str] = "TEDS_TEST"
    layout: ClassVar[str] = "one .html file a table (in html/ or beside the pictures), or *gt*.json"
    hub: ClassVar[HubFiles | None] = None

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        files = sorted(folder.rglob("*.html")) if folder.is_dir() else []
        if not files:
            return PubTabNet.samples(self, folder)
        return [
            Sample(
                f.stem,
                first_document(f.read_text(encoding="utf-8")),
                picture_for(f.parent, f.stem) or picture_for(folder / "images", f.stem),
            )
            for f in files
        ]


def first_document(prediction: str) -> str:
    """Returns a prediction as one document with a table: wraps its first table unless it has a <body>."""
    if "<body" in prediction:
        return prediction
    markup = prediction if "<table" in prediction else with_html_tables(prediction, sections=True)
    spans = html_tables(markup)
    if not spans:
        return ""
    start, end = spans[0]
    return document(markup[start:end])


def row_html(row: dict[str, Any]) -> str:
    """Builds the table's HTML from PubTabNet's tokens: puts cells between the structure's td tags."""
    if isinstance(row.get("html"), str):
        return document(row["html"]) if "<body" not in row["html"] else str(row["html"])
    structure, cells = row["html"]["structure"]["tokens"], list(row["html"]["cells"])
    parts: list[str] = []
    for token in structure:
        parts.append(token)
        if token in ("<td>", ">"):  # a cell's opening tag ends here, with or without spans
            parts.append("".join(cells.pop(0)["tokens"]) if cells else "")
    return document(f"<table>{''.join(parts)}</table>")


_Table = tuple[str, str, tuple[str, ...], str]  # name, HTML, slices, picture


def _from_answers(folder: Path) -> list[_Table]:
    """Reads the metric's own format: a JSON object of names to `{"html": ...}`."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*gt*.json"))
    for file in files:
        content = read_json(file) if file.suffix == ".json" else None
        if isinstance(content, dict) and all(isinstance(v, dict) and "html" in v for v in content.values()):
            return [
                (name, v["html"], (f"type: {v['type']}",) if "type" in v else (), "")
                for name, v in content.items()
            ]
    return []


def _from_rows(folder: Path, split: str) -> list[_Table]:
    found: list[_Table] = []
    for number, row in enumerate(rows(folder, "*.jsonl", "*.parquet")):
        name = str(row.get("filename") or row.get("imgid") or f"{number:06d}")
        if "html" in row and (not split or row.get("split", split) == split):
            found.append((name, row_html(row), (), row.get("picture", "")))
    return found
