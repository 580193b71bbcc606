"""Embeds a run for `penstock embed`, and shows what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from penstock.cli.running.progress import progress
from penstock.options.option import values_of
from penstock.options.passes import EMBED_ENGINE, EMBED_RUN
from penstock.passes.embed import EmbedOptions, EmbedSummary, embed_out
from penstock.store.arrow import leave_pandas_out


def embed_run(out: Path, given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Embeds what OUT holds, and sets the exit code."""
    leave_pandas_out()
    settings = values_of(EMBED_ENGINE, given)
    if "server" not in settings:  # the variable that holds a key may be set for other servers
        settings.pop("api_key", None)
    options = EmbedOptions(**values_of(EMBED_RUN, given), settings=settings)
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
