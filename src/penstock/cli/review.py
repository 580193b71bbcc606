"""`penstock review`: what a person should look at, and what they put right."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.options import AsJson, Out, of_output, with_options


@with_options()
def review(
    out: Out,
    most: Annotated[int, typer.Option("--top", "-k", help="Number of places to show.", min=1)] = 20,
    at: Annotated[
        str | None, of_output(help="A place, as its locator: show its history, or correct it with --text.")
    ] = None,
    text: Annotated[str | None, of_output(help="What stands at the place in truth; it is kept.")] = None,
    who: Annotated[str | None, of_output(help="Name of who corrects; your login by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what a person should look at, worst first, and correct it."""
    from penstock.cli.running.review import show

    show(out, most, at, text, who, as_json)
