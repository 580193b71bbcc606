"""`penstock mcp`: tools for agents, over standard input and output or over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.options import of_input, of_reading, of_servers, with_options
from penstock.errors import MissingModel, install_advice
from penstock.extras import need_extra
from penstock.options.option import values_of, without
from penstock.options.reading import READING

READ = without(READING, "password")
ReadRecipe = Annotated[
    str | None, of_reading(help="Recipe that reads documents. Default: documents, where OUT is new.")
]


@with_options(*READ)
def mcp(
    given: dict[str, Any],
    out: Annotated[
        Path | None, typer.Argument(help="The folder of a run, or of a new one. Without it nothing is kept.")
    ] = None,
    allow_folder: Annotated[
        list[Path] | None, of_input(help="Folder whose files an agent may name. Repeatable.")
    ] = None,
    recipe: ReadRecipe = None,
    http: Annotated[bool, of_servers("--http", help="Answer over HTTP instead, at /mcp.")] = False,
    host: Annotated[str, of_servers(help="--http: address to listen on.")] = "127.0.0.1",
    port: Annotated[int, of_servers(help="--http: port to listen on.", min=0, max=65535)] = 8081,
    allow_host: Annotated[
        list[str] | None, of_servers(help="--http: host name that clients use; see serve. Repeatable.")
    ] = None,
    keys: Annotated[Path | None, of_servers(help="--http: file of API keys; see serve.")] = None,
    max_mb: Annotated[int, of_input("--max-mb", help="Refuse larger files.", min=1)] = 512,
) -> None:
    """Give agents tools: read documents, pages and regions, search a run, measure photos.

    Programs such as Claude Desktop and VS Code start it themselves and speak with it over standard input and
    output. An agent reads files of this machine only in the folders that you allow.
    """
    _check_installed()
    from penstock.cli.running.mcp import HttpAddress, run_tools

    over_http = HttpAddress(host, port, allow_host or [], keys) if http else None
    run_tools(out, recipe, values_of(READ, given), allow_folder or [], max_mb, over_http)


def _check_installed() -> None:
    need_extra("mcp", "The server for agents")
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError as exc:
        raise MissingModel("The package mcp 2 is not installed.", install_advice("mcp")) from exc
