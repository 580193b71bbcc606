"""`penstock extract`: a schema's fields from the documents of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from penstock.cli.options import AsJson, Out, Quiet, of_input, with_options
from penstock.options.passes import EXTRACT

SchemaFile = Annotated[
    Path, of_input("--schema", help="JSON Schema of the fields to find.", show_default=False)
]


@with_options(*EXTRACT)
def extract(
    out: Out,
    given: dict[str, Any],
    schema: SchemaFile,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find a schema's fields in each document, each with the place that proves it.

    Rules read labels and tables; with --server a language model is asked as well, and what it says counts
    only where a page holds it. Writes OUT/extracted/SCHEMA.jsonl; --json prints it.
    """
    from penstock.cli.running.extract import extract_run

    extract_run(out, schema, given, as_json=as_json, quiet=quiet)
