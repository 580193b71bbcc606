"""`penstock profile`: where the time of a run went."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import AsJson, Out, with_options
from penstock.store.source_order import RANKS, rank_folders
from penstock.trace import cost, phrases, report
from penstock.trace.chrome import write_trace
from penstock.trace.profile import Profile
from penstock.trace.ranks import read_run


@with_options()
def profile(
    out: Out,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write a trace for chrome://tracing or ui.perfetto.dev to this file; the run must have had"
            " --trace.",
            metavar="FILE",
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(help="Price of an hour of one GPU, to tell what a million pages cost.", min=0),
    ] = None,
    pages: Annotated[
        int, typer.Option(help="Tell how long so many pages would take, with hours for each stage.", min=0)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Say where the time went, what bounds it and what to change. The picture is OUT/profile.html."""
    found = read_run(out, rank_folders(out))
    if pages:
        found = replace(found, whole=pages)
    if price is not None:
        found = cost.with_price(found, price)
    spans = None if trace is None else write_trace(out, trace, found)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    print(report.render_text(found))
    print(f"\n{_pictures(out, found)}")
    if spans is not None:
        print(
            f"Trace: {trace}, {phrases.plural(spans, 'span')}; open it at chrome://tracing or ui.perfetto.dev"
        )


def _pictures(out: Path, found: Profile) -> str:
    if not found.ranks:
        return f"Picture: {out / 'profile.html'}"
    longest = out / RANKS / found.ranks[0].name
    return f"Of each rank: {longest / 'profile.html'}, penstock profile {longest}"
