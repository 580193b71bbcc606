"""`penstock embed`: vectors of a run's pages, regions and queries."""

from __future__ import annotations

from typing import Any

from penstock.cli.options import AsJson, Out, Quiet, with_options
from penstock.options.passes import EMBED_ENGINE, EMBED_RUN


@with_options(*EMBED_RUN, *EMBED_ENGINE)
def embed(
    out: Out,
    given: dict[str, Any],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Embed a run's pages, their text, charts and tables. Run it again to go on where it stopped."""
    from penstock.cli.running.embed import embed_run

    embed_run(out, given, as_json=as_json, quiet=quiet)
