"""What was found by a schema: its rows below OUT/extracted, and the file of JSON lines next to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.documents.fields.extraction import ExtractedDocument, Extraction, FoundField, RefusedValue
from penstock.store.atomic_files import replacing
from penstock.store.ledger import Ledger
from penstock.store.out import Out
from penstock.store.schema import FAILURE, KEY, Rows, failure_from, failure_row

FOLDER = "extracted"
SCHEMA = pa.schema(
    [
        *KEY,
        ("num_failed_regions", pa.int32()),
        ("extraction", pa.string()),  # JSON
        ("shortfall", FAILURE),
    ]
)


def home_of(schema_name: str) -> str:
    """Returns the folder of a schema's ledger, below OUT."""
    return f"{FOLDER}/{schema_name}"


def _columns(item: ExtractedDocument) -> dict[str, Any]:
    found = json.dumps(asdict(item.extraction), ensure_ascii=False) if item.extraction else None
    return {"extraction": found, "shortfall": failure_row(item.shortfall)}


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    found = _extraction(json.loads(row["extraction"])) if row["extraction"] else None
    return {"extraction": found, "shortfall": failure_from(row["shortfall"])}


def _extraction(value: dict[str, Any]) -> Extraction:
    fields = (FoundField(**{**one, "locators": tuple(one["locators"])}) for one in value["fields"])
    return Extraction(
        values=value["values"],
        fields=tuple(fields),
        refused=tuple(RefusedValue(**one) for one in value["refused"]),
        missing=tuple(value["missing"]),
        model=value["model"],
    )


EXTRACTED: Rows[ExtractedDocument] = Rows(SCHEMA, ExtractedDocument, _columns, _fields)


def read_extracted(out: Out, schema_name: str, ids: Iterable[str]) -> Iterator[ExtractedDocument]:
    """Yields the documents of these ids that have a row, in the order of the ids."""
    ledger = Ledger(out / home_of(schema_name), EXTRACTED)
    entries = ledger.entries()
    return (ledger.item(entries[id]) for id in ids if id in entries)


def write_extracted(out: Out, schema_name: str, documents: Iterable[ExtractedDocument]) -> Path:
    """Writes one line of JSON a document. A reader sees the old file or the new one, never half."""
    target = out / FOLDER / f"{schema_name}.jsonl"
    with replacing(target, out) as file:
        for item in documents:
            file.write(json.dumps(extracted_row(item), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    return target


def extracted_row(item: ExtractedDocument) -> dict[str, Any]:
    """Returns a document's line: its values, and what proves each."""
    where = {"document": item.document, "locator": str(item.locator)}
    problem = item.failure or item.shortfall
    said = f"{problem.message} {problem.advice}".rstrip() if problem else ""
    if item.extraction is None:
        return {**where, "values": None, "problem": said}
    found = asdict(item.extraction)
    return {**where, "values": found.pop("values"), **found, "problem": said}
