"""Fields of invoices and receipts by `penstock extract`, beside one regular expression a field.

    python benchmarks/quality/extract_fields.py [DATA] [--work FOLDER] [--layout rules] [--source NAME ...]

DATA holds `devset` (PENSTOCK_DATA). Documents go by halves of their name's hash: rules are chosen on the tune
half and believed on the check half. A value counts as wanted where the truth has it and the page prints it.
Precision is the right ones of the given, recall the right ones of the wanted; `invented` counts given values
whose words no page holds. Lines of invoices are compared by their totals. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha1
from itertools import groupby
from pathlib import Path
from typing import Any

import penstock
from penstock.documents.fields.page_rows import DocumentText
from penstock.documents.fields.read import by_rules
from penstock.documents.fields.schema import FieldSchema
from penstock.documents.fields.values import dates, habit_of, numbers
from penstock.store.out import Out
from penstock_eval.field_scores import FieldCounts, PrintedText, is_same

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, all_cpu_s

HALVES = ("tune", "check")
FORMS = "acroform_forms"
SCHEMA = {
    "title": "invoice",
    "properties": {
        "invoice_number": {"type": "string"},
        "invoice_date": {"type": "string", "format": "date"},
        "due_date": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "net_total": {"type": "number"},
        "tax_amount": {"type": "number"},
        "currency": {"type": "string"},
        "lines": {
            "type": "array",
            "items": {
                "properties": {
                    "description": {"type": "string"},
                    "quantity": {"type": "number"},
                    "unit_price": {"type": "number"},
                    "line_total": {"type": "number"},
                }
            },
        },
    },
}
_AMOUNT, _DATE = r"(-?\d[\d.,' ]*\d)", r"(\d{1,4}[./-]\d{1,2}[./-]\d{1,4})"
BASELINE = {  # one expression a field, as a careful person writes it in five minutes
    "invoice_number": r"(?:invoice|rechnung|facture|factuur)\w*[\s.:#-]*"
    r"(?:no|nr|number|nummer|n°|id)?[\s.:#-]*([A-Z0-9][\w/-]*\d[\w/-]*)",
    "invoice_date": rf"(?:date|datum)\D{{0,20}}{_DATE}",
    "due_date": rf"(?:due|fällig|échéance|vervaldatum|zahlbar)\D{{0,20}}{_DATE}",
    "total": rf"(?:total|gesamt|summe|brutto|betrag)\D{{0,20}}{_AMOUNT}",
    "net_total": rf"(?:net|netto|subtotal|total ht)\D{{0,20}}{_AMOUNT}",
    "tax_amount": rf"(?:tax|vat|tva|ust|mwst|btw)[^\d]{{0,20}}{_AMOUNT}",
    "currency": r"(EUR|USD|GBP|€|\$|£)",
}
SIGNS = {"€": "EUR", "$": "USD", "£": "GBP"}


Scores = dict[str, FieldCounts]


@dataclass
class Scored:
    """The counts of one source's half by field, for ours and for the baseline."""

    ours: Scores = field(default_factory=lambda: defaultdict(FieldCounts))
    baseline: Scores = field(default_factory=lambda: defaultdict(FieldCounts))


def half_of(stem: str) -> str:
    return HALVES[int(sha1(stem.encode()).hexdigest(), 16) % 2]


# truths


def truth_of(source: str, file: Path) -> dict[str, Any]:
    if source == "zugferd_invoices":
        return _zugferd(file.with_suffix(".xml"))
    if source == "invoice2data":
        return _invoice2data(file.with_suffix(".json"))
    return _receipt(file)


def _zugferd(file: Path) -> dict[str, Any]:
    root = ET.parse(file).getroot()
    by_name: dict[str, list[ET.Element]] = defaultdict(list)
    for element in root.iter():
        by_name[_local(element)].append(element)
    head = (by_name["ExchangedDocument"] or by_name["HeaderExchangedDocument"])[0]
    lines = by_name["IncludedSupplyChainTradeLineItem"]
    return {
        "invoice_number": _text(head, "ID"),
        "invoice_date": _iso(_text(head, "DateTimeString")),
        "due_date": _iso(_text(by_name["DueDateDateTime"][0], "DateTimeString"))
        if by_name["DueDateDateTime"]
        else None,
        "total": _number(by_name["GrandTotalAmount"]),
        "net_total": _number(by_name["TaxBasisTotalAmount"]),
        "tax_amount": _number(by_name["TaxTotalAmount"]),
        "currency": by_name["InvoiceCurrencyCode"][0].text if by_name["InvoiceCurrencyCode"] else None,
        "lines": [float(total) for line in lines if (total := _text(line, "LineTotalAmount"))],
    }


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: ET.Element, name: str) -> str | None:
    return next((one.text.strip() for one in element.iter() if _local(one) == name and one.text), None)


def _iso(digits: str | None) -> str | None:
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}" if digits and len(digits) >= 8 else None


def _number(elements: list[ET.Element]) -> float | None:
    return float(elements[0].text) if elements and elements[0].text else None


def _invoice2data(file: Path) -> dict[str, Any]:
    value = json.loads(file.read_text("utf-8"))
    value = value[0] if isinstance(value, list) else value
    names = {
        "invoice_number": "invoice_number", "invoice_date": "date", "due_date": "date_due", "total": "amount",
        "net_total": "amount_untaxed", "tax_amount": "amount_tax", "currency": "currency",
    }  # fmt: skip
    return {ours: value.get(theirs) for ours, theirs in names.items()}


def _receipt(file: Path) -> dict[str, Any]:
    rows = (file.parent / "truth.tsv").read_text("utf-8").splitlines()[1:]
    for name, _, date, _, total in (row.split("\t") for row in rows):
        if name == file.name:
            day = "-".join(reversed(date.split("."))) if date else None
            return {"invoice_date": day, "total": float(total) if total else None}
    return {}


# scores


def score(values: dict[str, Any], truth: dict[str, Any], text: DocumentText, counts: Scores) -> None:
    said = PrintedText(text)
    for name in BASELINE:
        wanted = truth.get(name)
        if wanted is None or not said.holds(wanted):
            continue
        given = values.get(name)
        counts[name] += FieldCounts(
            given is not None, 1, is_same(given, wanted), given is not None and not said.holds(given)
        )
    if truth.get("lines"):
        wanted_lines = Counter(total for total in truth["lines"] if said.holds(total))
        given_lines = Counter(line.get("line_total") for line in values.get("lines") or [])
        del given_lines[None]
        right = (wanted_lines & given_lines).total()
        counts["lines"] += FieldCounts(given_lines.total(), wanted_lines.total(), right)


def _widgets(file: Path) -> dict[str, str]:
    """Returns what was typed into a form, by what the form calls it."""
    return {
        one["label"] or re.sub(r"[\W_]+", " ", one["name"]).strip() or one["name"]: one["value"]
        for one in json.loads(file.read_text("utf-8"))
        if one["type"] == "/Tx" and one["name"] and isinstance(one["value"], str) and one["value"].strip()
    }


def score_form(truth: dict[str, str], text: DocumentText, counts: Scored) -> None:
    """Each form has a schema of its own: a text for each field that is filled in."""
    if not truth:
        return
    said = PrintedText(text)
    printed = "\n".join(row.text for row in text.rows)
    schema = {"properties": {name: {"type": "string", "title": name} for name in truth}}
    values = by_rules(FieldSchema.parse("form", json.dumps(schema)), text).values
    for name, wanted in truth.items():
        match = re.search(
            rf"{re.escape(name)}[\s:.]*([^\n]+?)(?:  |$)", printed, re.IGNORECASE | re.MULTILINE
        )
        for found, own in ((values[name], counts.ours), (match and match[1], counts.baseline)):
            own["values"] += FieldCounts(
                found is not None, 1, is_same(found, wanted), found is not None and not said.holds(found)
            )


def baseline(text: DocumentText) -> dict[str, Any]:
    """Returns the first match of each expression in the plain text."""
    said = "\n".join(row.text for row in text.rows)
    habit = habit_of(row.text for row in text.rows)
    found: dict[str, Any] = {}
    for name, expression in BASELINE.items():
        match = re.search(expression, said, re.IGNORECASE)
        if match is None:
            continue
        words = match[1].strip()
        if name.endswith("date"):
            day = next(dates(words, habit), None)
            found[name] = day.value.isoformat() if day else None
        elif name in ("total", "net_total", "tax_amount"):
            number = next(numbers(words, habit), None)
            found[name] = float(number.value) if number else None
        else:
            found[name] = SIGNS.get(words, words)
    return found


def read(data: Path, source: str, out: Path, layout: str) -> None:
    for _ in penstock.parse(str(data / "devset" / source), out=str(out), layout=layout):
        pass


def scored_source(data: Path, source: str, out: Path) -> Iterator[tuple[str, Scored]]:
    texts = {
        document: DocumentText.of(pages)
        for document, pages in groupby(Out(out).read_pages(), key=lambda page: page.document)
    }
    halves = {half: Scored() for half in HALVES}
    if source == FORMS:
        for document, text in texts.items():
            file = data / "devset" / source / document
            score_form(_widgets(file.with_suffix(".json")), text, halves[half_of(file.stem)])
        yield from halves.items()
        return
    for found in penstock.extract(str(out), SCHEMA, fresh=True):
        file = data / "devset" / source / found.document
        truth = truth_of(source, file)
        here, text = halves[half_of(file.stem)], texts[found.document]
        assert found.extraction is not None
        score(found.extraction.values, truth, text, here.ours)
        score(baseline(text), truth, text, here.baseline)
    yield from halves.items()


def table(name: str, counts: Scores) -> dict[str, Any]:
    whole = figures(sum(counts.values(), FieldCounts()))
    print(f"  {name:10}", whole)
    for one, each in counts.items():
        print(f"    {one:16}", figures(each))
    return {"all": whole, **{one: figures(each) for one, each in counts.items()}}


def figures(counts: FieldCounts) -> dict[str, float]:
    shares = {"precision": 0.0, "recall": 0.0, **counts.scores()}
    return {**{name: round(value, 3) for name, value in shares.items()}, **asdict(counts)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--work", type=Path, default=None, help="keeps what was read")
    parser.add_argument("--layout", default="rules")
    parser.add_argument("--source", action="append")
    given = parser.parse_args()
    sources = given.source or ["zugferd_invoices", "invoice2data", "receipts_de", FORMS]
    work = given.work or Path(tempfile.mkdtemp())
    result: dict[str, Any] = {"layout": given.layout}
    for source in sources:
        out = work / f"{source}-{given.layout}"
        read(given.data, source, out, given.layout)
        began = all_cpu_s()
        for half, scored in scored_source(given.data, source, out):
            print(source, half)
            result[f"{source} {half}"] = {
                "ours": table("extract", scored.ours), "baseline": table("baseline", scored.baseline),
            }  # fmt: skip
        result[f"{source} cpu_s"] = round(all_cpu_s() - began, 2)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
