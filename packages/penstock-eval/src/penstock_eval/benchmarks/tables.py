"""Scores HTML read from pictures of tables (PubTabNet, TEDS_TEST) by TEDS and TEDS-S."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Asks, Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import files_of, need_folder, picture_for, read_json, rows_of
from penstock_eval.metrics.pipe_tables import with_html_tables
from penstock_eval.metrics.tables import document, teds_both
from penstock_eval.omnidocbench.elements import html_tables

SPLITS = ("train", "val", "test")  # folders of pictures beside the published list


@dataclass(frozen=True)
class PubTabNet(Benchmark):
    """`split` chooses rows of the published JSONL; "" takes all."""

    name: ClassVar[str] = "pubtabnet"
    title: ClassVar[str] = "PubTabNet"
    layout: ClassVar[str] = (
        "PubTabNet_2.0.0.jsonl (or *.jsonl, *.parquet, *gt*.json) and the pictures beside it,"
        " also in train/, val/, test/ or images/"
    )
    hub: ClassVar[HubFiles | None] = ("apoidea/pubtabnet-html", ("*validation*.parquet", "data/val*.parquet"))
    metrics: ClassVar[dict[str, bool]] = {"teds": True, "teds_s": True}
    asks: ClassVar[Asks] = "table"

    split: str = "val"

    @property
    def protocol(self) -> str:
        return "TEDS, PubTabNet metric"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        tables = _from_answers(folder) or _from_rows(folder, self.split) or _from_rows(folder, "")
        if not tables:
            raise UsageError(f"{folder} holds no tables with HTML.", f"It should hold {self.layout}.")
        root = folder.parent if folder.is_file() else folder
        return [
            Sample(Path(t.name).stem, t.html, t.picture or _picture_of(t, (t.home, root)), t.slices)
            for t in tables
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ListedTable:
    """A table as its list has it. `home` is the list's folder, `split` the part of the set it belongs to."""

    name: str
    html: str
    home: Path
    split: str = ""
    slices: tuple[str, ...] = ()
    picture: str = ""  # where the list holds it itself


def _picture_of(table: _ListedTable, homes: tuple[Path, ...]) -> str:
    """Returns the picture beside the list, in images/, or in the folder of its split; "" if nowhere."""
    splits = (table.split,) if table.split in SPLITS else SPLITS
    places = [top / part for part in ("", *splits) for top in (*homes, *(home / "images" for home in homes))]
    return next((found for place in places if (found := picture_for(place, table.name))), "")


def _from_answers(folder: Path) -> list[_ListedTable]:
    """Reads the metric's own format: a JSON object of names to `{"html": ...}`."""
    files = [folder] if folder.is_file() else sorted(folder.rglob("*gt*.json"))
    for file in files:
        content = read_json(file) if file.suffix == ".json" else None
        if isinstance(content, dict) and all(isinstance(v, dict) and "html" in v for v in content.values()):
            return [
                _ListedTable(
                    name=name,
                    html=v["html"],
                    home=file.parent,
                    split=str(v.get("split", "")),
                    slices=(f"type: {v['type']}",) if "type" in v else (),
                )
                for name, v in content.items()
            ]
    return []


def _from_rows(folder: Path, split: str) -> list[_ListedTable]:
    found: list[_ListedTable] = []
    numbers = count()
    for file in files_of(folder, "*.jsonl", "*.parquet"):
        for row, number in zip(rows_of(file), numbers, strict=False):
            own = str(row.get("split", split))
            if "html" not in row or (split and own != split):
                continue
            name = str(row.get("filename") or row.get("imgid") or f"{number:06d}")
            held = row.get("picture", "")
            found.append(
                _ListedTable(name=name, html=row_html(row), home=file.parent, split=own, picture=held)
            )
    return found
