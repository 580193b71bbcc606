"""`penstock index`: makes a run searchable."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from penstock.cli.options import AsJson, Config, Log, LogLevel, Out


def index(
    out: Out,
    rebuild: Annotated[bool, typer.Option(help="Forget the index and build all of it again.")] = False,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
) -> None:
    """Build or update the search index of a run: its words, and its vectors where it has some."""
    from penstock.passes.index import index_out
    from penstock.trace.phrases import plural

    built = index_out(out, rebuild)
    if as_json:
        print(json.dumps(asdict(built)))
        return
    print(
        f"{plural(built.pages, 'page')} and {plural(built.chunks, 'chunk')} in the index:"
        f" {plural(built.changed, 'page')} added or changed, {built.removed} removed."
    )
    if not any(built.vectors.values()):
        print("Only words were indexed. For search by meaning run: penstock embed OUT")
