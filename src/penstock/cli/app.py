"""The `penstock` command: its verbs, and how an error ends it.

Exit codes: 0 all well; 1 some items failed, and are listed; 2 the call or the machine was wrong.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli import doctor, export, models, parse, profile
from penstock.errors import PenstockError

INTERRUPTED = 130  # what shells say of Ctrl-C

app = typer.Typer(
    name="penstock",
    help="Pages and photos in, structured, searchable, measured data out.",
    epilog="Example: penstock parse report.pdf -o out",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("parse", epilog="Example: penstock parse scans/ report.pdf -o out --lang ko,en")(parse.parse)
app.command("export", epilog="Example: penstock export out --to md,jsonl,searchable-pdf")(export.export)
app.command("profile", epilog="Example: penstock profile out")(profile.profile)
app.command("doctor", epilog="Example: penstock doctor --json")(doctor.doctor)
app.add_typer(models.app, name="models")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Pages and photos in, structured, searchable, measured data out."""


def main() -> None:
    """Runs the command line. Every error of ours is one sentence on standard error."""
    try:
        app()
    except PenstockError as exc:
        print(f"penstock: {exc}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("penstock: stopped. Run the same command again to go on from here.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away, as `head` does
        sys.exit(1)
