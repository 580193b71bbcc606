"""`penstock index`: makes a run searchable."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from penstock.cli.options import AsJson, Out, of_running, with_options
from penstock.trace.phrases import plural


@with_options()
def index(
    out: Out,
    rebuild: Annotated[bool, of_running(help="Discard the index and build it again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build or update the search index of a run: its words, and its vectors where it has some."""
    from penstock.passes.index import index_out

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
