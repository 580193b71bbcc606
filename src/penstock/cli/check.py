"""`penstock check`: whether what a run wrote is complete."""

from __future__ import annotations

from typing import Annotated

from penstock.cli.options import AsJson, Out, of_running, with_options

REPAIR_HELP = "Set damaged files aside. The next run reads their pages again."


@with_options()
def check(
    out: Out,
    repair: Annotated[bool, of_running("--repair", help=REPAIR_HELP)] = False,
    as_json: AsJson = False,
) -> None:
    """Say which parts of a run are damaged or missing, by page. Exits with 1 if something is damaged."""
    from penstock.cli.running.check import check_run

    check_run(out, repair, as_json)
