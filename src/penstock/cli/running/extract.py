"""Finds fields for `penstock extract`, and shows what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from penstock.cli.running.progress import progress
from penstock.driver import Tally
from penstock.exports.extracted import extracted_row
from penstock.passes.extract import Extracting, extract_options, extract_work
from penstock.store.arrow import leave_pandas_out
from penstock.trace.phrases import plural


def extract_run(out: Path, schema: Path, given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Extracts from the documents of OUT, and sets the exit code."""
    leave_pandas_out()
    extracting = extract_work(schema, extract_options(given), out)
    with progress(quiet or as_json)(extracting.work.run):
        for _ in extracting.work:
            pass
    path = extracting.write()
    if as_json:
        for item in extracting.results():
            print(json.dumps(extracted_row(item), ensure_ascii=False))
    _tell(extracting, path, quiet or as_json)


def _tell(extracting: Extracting, path: Path, quiet: bool) -> None:
    tally = extracting.work.run.tally
    for document, reason in (*tally.failures, *tally.failed_parts):
        print(f"failed: {document}: {reason}", file=sys.stderr)
    if not quiet:
        print(_summary(extracting, tally))
        print(f"Written: {path}")
    if not tally.all_well:
        print("Run again with --retry-failed.", file=sys.stderr)
        raise typer.Exit(1)


def _summary(extracting: Extracting, tally: Tally) -> str:
    found = missing = refused = 0
    for item in extracting.results():
        if item.extraction is not None:
            found += len(item.extraction.fields)
            missing += len(item.extraction.missing)
            refused += len(item.extraction.refused)
    done = plural(tally.done, "document")
    said = f", {plural(refused, 'value')} of the model refused" if refused else ""
    return (
        f"{done} read, {tally.skipped} done before: {plural(found, 'value')} found, {missing} missing{said}."
    )
