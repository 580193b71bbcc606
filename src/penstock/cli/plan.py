"""`penstock plan`: what a run would take on other cards."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.options import AsJson, Quiet, with_options
from penstock.options.option import without
from penstock.options.reading import READING
from penstock.options.running import CONVERTING, LISTING, PLANNING, PRICE

InputsOrNone = Annotated[
    list[str] | None,
    typer.Argument(help="What would be read. None: only the figures of a million pages.", metavar="INPUT..."),
]


@with_options(*PLANNING, PRICE, *READING, *without(CONVERTING, "executor"), *LISTING)
def plan(
    given: dict[str, Any],
    inputs: InputsOrNone = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what a run would take on so many cards: pages a second, hours, cost, and which stage to buy for.

    Reads some pages of the inputs here to measure, drawn by chance; --profile takes the times of an
    earlier run instead. Nothing is kept.
    """
    from penstock.cli.running.plan import show_plan

    show_plan(tuple(inputs or ()), given, as_json=as_json, quiet=quiet)
