"""`penstock enrich`: summaries and keywords for the tables and pictures of a run."""

from __future__ import annotations

from typing import Any

from penstock.cli.options import AsJson, Out, Quiet, with_options
from penstock.options.passes import ENRICH


@with_options(*ENRICH)
def enrich(
    out: Out,
    given: dict[str, Any],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write summaries and keywords for tables and pictures; `export --to docjson` shows them.

    A block whose model does not answer keeps the rules' words; --retry-failed tries them again.
    """
    from penstock.cli.running.enrich import enrich_run

    enrich_run(out, given, as_json=as_json, quiet=quiet)
