"""`penstock search`: questions to a run's index."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.options import AsJson, Config, Log, LogLevel, Out, of_input, of_servers

WEIGHTS_HELP = "Weights of sources: text=1,image=1,region=1,bm25=1,region_bm25=1,chunk_bm25=1."


def search(
    out: Out,
    question: Annotated[str, typer.Argument(help="What you want to know.", metavar="QUESTION")],
    top: Annotated[int, typer.Option("--top", "-k", help="Number of pages to show.", min=1)] = 10,
    document: Annotated[list[str] | None, of_input(help="Search only this document. Repeatable.")] = None,
    pages: Annotated[str | None, of_input(help="Search only these pages, from 1: 3-9 or 1,4,7-.")] = None,
    label: Annotated[
        list[str] | None, of_input(help="Search only regions with this label. Repeatable.")
    ] = None,
    section: Annotated[
        list[str] | None, of_input(help="Search only under titles with these words. Repeatable.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help=WEIGHTS_HELP)] = None,
    api_key: Annotated[str | None, of_servers(help="API key of the server that embedded the run.")] = None,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
) -> None:
    """Find pages by words and by meaning, with the region and the words that answer."""
    from penstock.cli.running.search import Wanted, answer

    answer(out, question, Wanted(top, document, pages, label, section, weights, api_key), as_json)
