"""`penstock embed`: vectors of a run's pages, regions and queries."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import AsJson, Config, Log, LogLevel, Out, Precision, Quiet
from penstock.cli.progress import progress

if TYPE_CHECKING:
    from penstock.passes.embed import EmbedSummary

Engine = Annotated[
    str, typer.Option(help="use (on any CPU, texts), openai (a server), qwen3-vl (transformers).")
]


def embed(
    out: Out,
    engine: Engine = "use",
    model: Annotated[
        str | None, typer.Option(help="The model's name; a server's first when not given.")
    ] = None,
    server: Annotated[str | None, typer.Option(help="Address of an embedding server.")] = None,
    queries: Annotated[
        Path | None, typer.Option(help="Questions to embed as well: jsonl, json, parquet or a line each.")
    ] = None,
    images: Annotated[
        bool | None, typer.Option("--images/--no-images", help="Embed page pictures; default: if it can.")
    ] = None,
    precision: Precision = "float32",
    dimensions: Annotated[
        int | None, typer.Option(help="Keep only the first N numbers (Matryoshka models).", min=1)
    ] = None,
    in_flight: Annotated[int | None, typer.Option(help="Requests under way at once.", min=1)] = None,
    api_key: Annotated[str | None, typer.Option(help="Key of the server.")] = None,
    password: Annotated[str | None, typer.Option(help="Password of encrypted PDFs.")] = None,
    retry_failed: Annotated[bool, typer.Option(help="Try failed pages again.")] = False,
    fresh: Annotated[bool, typer.Option(help="Forget all vectors of OUT and start over.")] = False,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Embed a run's pages, their text, charts and tables. Run it again to go on where it stopped."""
    from penstock.passes.embed import EmbedOptions, embed_out
    from penstock.store.arrow import leave_pandas_out

    leave_pandas_out()
    settings = {"model": model, "server": server, "dimensions": dimensions, "in_flight": in_flight}
    if server:  # the variable that holds a key may be set for other servers
        settings["api_key"] = api_key
    options = EmbedOptions(
        engine=engine,
        queries=queries,
        images=images,
        precision=precision,
        password=password,
        retry_failed=retry_failed,
        fresh=fresh,
        settings={key: value for key, value in settings.items() if value is not None},
    )
    _tell(embed_out(out, options, progress(quiet or as_json)), as_json, quiet)


def _tell(done: EmbedSummary, as_json: bool, quiet: bool) -> None:
    """What was embedded, and the exit code."""
    if as_json:
        print(json.dumps(done.facts(), ensure_ascii=False))
    elif not quiet:
        print(done.sentence())
        for path in done.written:
            print(f"  {path}")
    for page, reason in done.failures:
        print(f"failed: {page}: {reason}", file=sys.stderr)
    if done.failed or done.failed_before:
        raise typer.Exit(1)
