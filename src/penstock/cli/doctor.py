"""`penstock doctor`: what this machine has, what each recipe would use, what is missing, how fast it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from penstock.cli.options import AsJson, of_output, of_running, with_options
from penstock.options.option import only
from penstock.options.reading import READING
from penstock.options.running import RECIPE, SAMPLE

Bench = Annotated[
    bool,
    of_running(
        "--bench",
        help="Measure how fast this machine reads Penstock's sample, in about two minutes. Sends nothing.",
    ),
]
Figures = Annotated[
    Path | None, of_output("--out", "-o", help="With --bench: file for its figures as JSON, for an issue.")
]


@with_options(RECIPE, SAMPLE, *only(READING, "server", "model", "api_key", "preset"))
def doctor(
    given: dict[str, Any],
    bench: Bench = False,
    as_json: AsJson = False,
    out: Figures = None,
) -> None:
    """Show what works on this machine, and how to get the rest. Exits with 1 if a recipe lacks something.

    --bench then measures the built-in recipe, layout and embedding; and --recipe, if it names another one:
    with the servers of --server, or with one that is started here.
    """
    from penstock.cli.running.bench import show_doctor

    show_doctor(given, bench=bench, as_json=as_json, out=out)
