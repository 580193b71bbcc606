"""Pages of which values or letters are known: invoices, receipts, forms, reference cards, LaTeX, formulas."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lxml import etree

from benchmarks.quality.ground.sample import Sample, Truth
from penstock_eval.omnidocbench.truth import TrueElement

_ZUGFERD = ("LineTotalAmount", "GrandTotalAmount", "Name", "PostcodeCode", "CityName")
_INVOICE = ("invoice_number", "amount", "amount_untaxed", "vat", "iban", "bic")
_COMMAND = re.compile(r"\\[a-zA-Z@]+\*?|[{}$&~^_%]|\\.")
MIN_WORD = 4  # letters: shorter words occur in any source


def zugferd(data: Path, source: str) -> Iterator[Sample]:
    for pdf in sorted((data / source).glob("*.pdf")):
        yield Sample(source, pdf.stem, pdf, 0, partial(read_zugferd, pdf.with_suffix(".xml")))


def read_zugferd(file: Path) -> Truth:
    """Amounts and names. Not all are printed, so the best possible score is below 1."""
    root = etree.parse(str(file)).getroot()
    found = [node.text.strip() for name in _ZUGFERD for node in root.iter(f"{{*}}{name}") if node.text]
    return Truth(values=tuple(dict.fromkeys(value for value in found if value)))


def invoices(data: Path, source: str) -> Iterator[Sample]:
    for file in sorted((data / source).glob("*.json")):
        if file.with_suffix(".pdf").is_file():
            yield Sample(source, file.stem, file.with_suffix(".pdf"), 0, partial(read_invoice, file))


def read_invoice(file: Path) -> Truth:
    found = json.loads(file.read_text(encoding="utf-8"))
    fields = found[0] if isinstance(found, list) else found
    return Truth(values=tuple(_said(fields[name]) for name in _INVOICE if fields.get(name)))


def _said(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def receipts(data: Path, source: str) -> Iterator[Sample]:
    with (data / source / "truth.tsv").open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened, delimiter="\t"):
            path = data / source / row["file"]
            # tills print both forms of the year
            values = (row["total_eur"], row["date"][:6])
            yield Sample(source, path.stem, path, None, partial(Truth, values=values))


def forms(data: Path, source: str) -> Iterator[Sample]:
    for file in sorted((data / source).glob("*.json")):
        values = tuple(_filled(file))
        if values:
            yield Sample(source, file.stem, file.with_suffix(".pdf"), 0, partial(Truth, values=values))


def _filled(file: Path) -> Iterator[str]:
    for widget in json.loads(file.read_text(encoding="utf-8")):
        value = widget["value"]
        if widget["page"] == 1 and widget["type"] == "/Tx" and isinstance(value, str) and value.strip():
            yield value.strip()


def refcards(data: Path, source: str) -> Iterator[Sample]:
    for file in sorted((data / source).glob("*.json")):
        for part in (0, 1):
            yield Sample(source, file.stem, file.with_suffix(".pdf"), part, partial(read_refcard, file, part))


def read_refcard(file: Path, part: int) -> Truth:
    blocks = json.loads(file.read_text(encoding="utf-8"))
    return Truth(letters=" ".join(block[5] for block in blocks if block[0] == part + 1))


def tex_sources(data: Path, source: str) -> Iterator[Sample]:
    """What is read of the first page must occur in the source."""
    for pdf in sorted((data / source).glob("*.pdf")):
        yield Sample(source, pdf.stem, pdf, 0, partial(read_tex, pdf))


def read_tex(pdf: Path) -> Truth:
    files = [pdf.with_suffix(".tex"), *sorted(pdf.parent.glob(f"{pdf.stem}__*.tex"))]
    text = " ".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())
    return Truth(source_text=_COMMAND.sub(" ", text))


def formula_crops(data: Path, source: str) -> Iterator[Sample]:
    with (data / source / "truth.tsv").open(encoding="utf-8") as opened:
        for line in list(opened)[1:]:
            name, _, latex = line.rstrip("\n").partition("\t")
            bare = re.sub(r"\\label\{[^}]*\}", "", latex)
            element = TrueElement("equation_isolated", 1, latex=f"$${bare}$$")
            path = data / source / name
            yield Sample(source, path.stem, path, None, partial(Truth, elements=(element,), ordered=False))
