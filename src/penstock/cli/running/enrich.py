"""Writes summaries and keywords for `penstock enrich`, and shows what came of it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from penstock.cli.running.progress import progress
from penstock.driver import Tally
from penstock.passes.enrich import enrich_options, enrich_work
from penstock.store.arrow import leave_pandas_out
from penstock.trace.phrases import plural

SHOWN = 5  # reasons why blocks have less than was requested, the most frequent first


def enrich_run(out: Path, given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Enriches the blocks of OUT, and sets the exit code."""
    leave_pandas_out()
    work = enrich_work(enrich_options(given), out)
    short: Counter[str] = Counter()
    with progress(quiet or as_json)(work.run):
        for block in work:
            short.update(shortfall.message for shortfall in block.shortfalls)
    _tell(work.run.tally, short, out, as_json, quiet)


def _tell(tally: Tally, short: Counter[str], out: Path, as_json: bool, quiet: bool) -> None:
    if as_json:
        counts = {"done": tally.done, "failed": tally.failed, "skipped": tally.skipped}
        print(json.dumps({"out": str(out), **counts, "short": tally.failed_regions}, ensure_ascii=False))
    else:
        for block, reason in tally.failures:
            print(f"failed: {block}: {reason}", file=sys.stderr)
        for reason, num in short.most_common(SHOWN):
            print(f"{plural(num, 'block')} with less than was asked for: {reason}", file=sys.stderr)
        if tally.listed:
            less = f", {tally.failed_before} of them failed or short" if tally.failed_before else ""
            done = plural(tally.done, "block")
            if not quiet or less:
                print(f"{done} enriched, {tally.failed} failed, {tally.skipped} done before{less}.")
        elif not quiet:
            print(f"{out} holds no table and no picture: there is nothing to enrich.")
        if not tally.all_well:
            print("Run again with --retry-failed.", file=sys.stderr)
    if not tally.all_well:
        raise typer.Exit(1)
