"""`penstock doctor`: what this machine has, what each recipe would use, what is missing."""

from __future__ import annotations

from penstock.cli.options import AsJson, with_options


@with_options()
def doctor(as_json: AsJson = False) -> None:
    """Show what works on this machine, and how to get the rest. Exits with 1 if a recipe lacks something."""
    from penstock.cli.running.doctor import show_machine

    show_machine(as_json)
