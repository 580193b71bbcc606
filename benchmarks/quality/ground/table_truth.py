"""Pages whose truth is tables as CSV, and made pages of LaTeX text, formulas and tables."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path

from benchmarks.quality.ground.latex_tabular import tabular_html
from benchmarks.quality.ground.sample import Sample, Truth
from penstock_eval.omnidocbench.truth import TrueElement

# tests of these names turn an option on that changes what a cell holds
_BY_OPTION = ("table_areas", "columns", "strip_text", "shift_text", "flag_size", "split_text", "copy_text")


def csv_tables(data: Path, source: str) -> Iterator[Sample]:
    """PDFs of one page's tables. Of several truths for one PDF the first that needs no option counts."""
    for pdf in sorted((data / source).glob("*.pdf")):
        files = sorted((data / source).glob(f"{pdf.stem}.csv")) + sorted(
            (data / source).glob(f"{pdf.stem}.data*.csv")
        )
        plain = [file for file in files if not any(word in file.name for word in _BY_OPTION)]
        numbered = [file for file in plain if re.search(r"_\d\.csv$", file.name)]
        chosen = numbered or plain[:1]
        if chosen:
            yield Sample(source, pdf.stem, pdf, 0, partial(read_csv, tuple(chosen)))


def read_csv(files: tuple[Path, ...]) -> Truth:
    tables = [as_html(list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))) for file in files]
    elements = tuple(TrueElement("table", rank, html=table) for rank, table in enumerate(tables, 1))
    return Truth(elements=elements, ordered=False)


def as_html(rows: list[list[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{body}</table>"


def made_pages(data: Path, source: str) -> Iterator[Sample]:
    for file in sorted((data / source).rglob("*.json")):
        document = f"{file.parent.name}-{file.stem}"
        yield Sample(source, document, file.with_suffix(".pdf"), 0, partial(read_made, file))


def read_made(file: Path) -> Truth:
    """Formulas within a line belong to no block here: text is compared without them."""
    parts = json.loads(file.read_text(encoding="utf-8"))
    elements = [
        _made(part["type"], part["data"], rank)
        for rank, part in enumerate(parts, 1)
        if part["type"] != "inline-formula"
    ]
    return Truth(elements=tuple(elements), complete=True)


def _made(kind: str, data: str, rank: int) -> TrueElement:
    if kind == "table":
        return TrueElement("table", rank, html=tabular_html(data))
    if kind == "display-formula":
        return TrueElement("equation_isolated", rank, latex=data)
    return TrueElement("text_block", rank, data)
