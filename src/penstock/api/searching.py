"""Makes a run searchable, and answers questions from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from penstock.converted.python_terms import in_python_terms
from penstock.errors import UsageError
from penstock.options.typed import EmbedSettings
from penstock.passes.embed import EmbedOptions, EmbedSummary, embed_out
from penstock.passes.index import IndexSummary, index_out
from penstock.passes.search import search_out
from penstock.passes.search_runs import search_runs
from penstock.processes.background import Background
from penstock.retrieval.hits import NO_FILTERS, Filters, Hit, SearchOptions


@in_python_terms()
def embed(out: str | Path, **options: Unpack[EmbedSettings]) -> EmbedSummary:
    """Embeds a run's pages, regions and queries. `options` are the fields of `EmbedOptions`."""
    return embed_out(Path(out), EmbedOptions(**options))


@in_python_terms()
def index(out: str | Path, rebuild: bool = False) -> IndexSummary:
    """Builds or updates a run's search index."""
    return index_out(Path(out), rebuild)


@in_python_terms()
def search(
    out: str | Path | Sequence[str | Path],
    question: str,
    *,
    top: int = 10,
    filters: Filters | None = None,
    api_key: str | None = None,
    rerank: str = "",
    rerank_model: str = "",
    rerank_key: str | None = None,
) -> list[Hit]:
    """Finds pages and regions of an indexed run, or of several, best first.

    `rerank` is the address of a server with /v1/rerank that puts the best hits in order.

    for hit in penstock.search("out", "설치 방법", top=5):
        print(hit.document, hit.page, hit.snippet)
    """
    options = SearchOptions(
        top=top, filters=filters or NO_FILTERS, api_key=api_key,
        rerank=rerank, rerank_model=rerank_model, rerank_key=rerank_key,
    )  # fmt: skip
    outs = [Path(out)] if isinstance(out, str | Path) else [Path(one) for one in out]
    if not outs:
        raise UsageError("No run was named.")
    with Background() as background:
        return search_runs(
            outs, question, options, lambda run, asked: search_out(run, question, asked, background)
        ).hits
