"""`penstock parse`: documents to Markdown, JSON and crops."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.options import (
    FORMAT_NAMES,
    AsJson,
    CropNames,
    Quiet,
    ResultsOrNone,
    of_output,
    of_running,
    of_servers,
    some_of,
    with_options,
)
from penstock.options.reading import READING
from penstock.options.running import RUN

EXPORT_HELP = (
    f"Files to write at the end: {', '.join(FORMAT_NAMES)}."
    " Default: md,jsonl. Without OUT: md, text or jsonl."
)
Formats = Annotated[
    str | None, of_output("--export", "--to", help=EXPORT_HELP, autocompletion=some_of(*FORMAT_NAMES))
]
Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders, globs, http(s) addresses, datasets, @LIST of them, or - for standard input.",
        metavar="INPUT...",
    ),
]
Service = Annotated[
    str | None,
    of_servers("--service", help="Address of a `penstock serve` that reads the documents.", metavar="URL"),
]
DryRun = Annotated[bool, of_running(help="Print what would run, how long and how large. Run nothing.")]
ShowProfile = Annotated[bool, of_output("--profile", help="Show at the end where the time went.")]
KeepTrace = Annotated[bool, of_output(help="Keep every span, for `penstock profile --trace`.")]


@with_options(*READING, *RUN)
def parse(
    inputs: Inputs,
    given: dict[str, Any],
    out: ResultsOrNone = None,
    service: Service = None,
    export: Formats = None,
    crop_names: CropNames = None,
    dry_run: DryRun = False,
    profile: ShowProfile = False,
    trace: KeepTrace = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Turn documents into Markdown, JSON and crops. Run it again to go on where it stopped."""
    from penstock.cli.running.parse import Reading, Shown

    reading = Reading(tuple(inputs), given, crop_names, Shown(dry_run, trace, profile, as_json, quiet))
    reading.start(out, export or "", service)
