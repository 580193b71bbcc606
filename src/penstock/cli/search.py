"""`penstock search`: questions to a run's index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import (
    AsJson,
    Out,
    Rerank,
    RerankKey,
    RerankModel,
    of_input,
    of_servers,
    with_options,
)

WEIGHTS_HELP = "Weights of sources: text=1,image=1,region=1,bm25=1,region_bm25=1,chunk_bm25=1."


@with_options()
def search(
    out: Out,
    question: Annotated[str, typer.Argument(help="What you want to know, or a locator.", metavar="QUESTION")],
    top: Annotated[int, typer.Option("--top", "-k", help="Number of pages to show.", min=1)] = 10,
    document: Annotated[list[str] | None, of_input(help="Search only this document. Repeatable.")] = None,
    pages: Annotated[str | None, of_input(help="Search only these pages, from 1: 3-9 or 1,4,7-.")] = None,
    label: Annotated[
        list[str] | None, of_input(help="Search only regions with this label. Repeatable.")
    ] = None,
    section: Annotated[
        list[str] | None, of_input(help="Search only under titles with these words. Repeatable.")
    ] = None,
    where: Annotated[
        list[str] | None,
        of_input(help="Search only documents for which this holds: client=Acme or date>=2024. Repeatable."),
    ] = None,
    more: Annotated[
        list[Path] | None, of_input("--out", "-o", help="Search this run as well. Repeatable.")
    ] = None,
    rerank: Rerank = "",
    rerank_model: RerankModel = "",
    rerank_key: RerankKey = None,
    weights: Annotated[str | None, typer.Option(help=WEIGHTS_HELP)] = None,
    api_key: Annotated[str | None, of_servers(help="API key of the server that embedded the run.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find pages by words and by meaning, with the region and the words that answer."""
    from penstock.cli.running.search import Wanted, answer

    wanted = Wanted(
        top, document, pages, label, section, where, weights, api_key, rerank, rerank_model, rerank_key
    )
    answer([out, *(more or [])], question, wanted, as_json)
