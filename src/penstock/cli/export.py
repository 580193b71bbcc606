"""`penstock export`: the files people read, written again from a run's rows."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from penstock.cli.options import AsJson, Config, CropNames, Log, LogLevel, Out, words


def export(
    out: Out,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="Comma-separated: md, jsonl, docjson, docling, content_list, html, chunks,"
            " searchable-pdf, overlays.",
        ),
    ] = "md,jsonl",
    password: Annotated[
        str | None, typer.Option(help="Password of encrypted PDFs, whose pages are drawn again.")
    ] = None,
    crop_names: CropNames = None,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
) -> None:
    """Write Markdown, JSON lines, searchable PDFs or overlays from a run's rows."""
    from penstock.errors import UsageError
    from penstock.exports.export import export as write
    from penstock.exports.export import formats

    if not words(to):
        raise UsageError("--to names no format.", f"Choose from: {', '.join(formats())}.")
    written = [str(path) for path in write(out, words(to), password, crop_names)]
    print(json.dumps(written, ensure_ascii=False) if as_json else "\n".join(written))
