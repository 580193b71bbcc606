"""`penstock mcp`: tools for agents, over standard input and output or over HTTP."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from penstock.cli.options import (
    ApiKey,
    Config,
    Cores,
    Lang,
    Log,
    LogLevel,
    Model,
    OcrDtype,
    Preset,
    Servers,
    recipe_settings,
    with_recipe_options,
)
from penstock.cli.services.listening import address, is_open, listening_on
from penstock.errors import MissingModel, UsageError, install_advice
from penstock.extras import need_extra
from penstock.sizes import MB

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from penstock.agents.server import Door
    from penstock.plan import Plan


@with_recipe_options
def mcp(
    out: Annotated[
        Path | None,
        typer.Argument(help="The folder of a run, or of one to begin; without it nothing is kept."),
    ] = None,
    allow_folder: Annotated[
        list[Path] | None, Option(help="A folder whose files an agent may name; may be repeated.")
    ] = None,
    recipe: Annotated[
        str | None, Option(help="Read documents with this pipeline; documents, where OUT is new.")
    ] = None,
    http: Annotated[bool, Option("--http", help="Answer over HTTP instead, at /mcp.")] = False,
    host: Annotated[str, Option(help="--http: address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="--http: port to listen on.", min=0, max=65535)] = 8081,
    allow_host: Annotated[list[str] | None, Option(help="--http: a name it is asked by; see serve.")] = None,
    keys: Annotated[Path | None, Option(help="--http: a file of API keys; see serve.")] = None,
    max_mb: Annotated[int, Option("--max-mb", help="Refuse larger files.", min=1)] = 512,
    lang: Lang = None,
    layout: Annotated[str | None, Option(help="How regions are found; see parse.")] = None,
    server: Servers = None,
    model: Model = None,
    preset: Preset = None,
    ocr_dtype: OcrDtype = None,
    api_key: ApiKey = None,
    cores: Cores = None,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    *,
    more: dict[str, Any],
) -> None:
    """Give agents tools: read documents, pages and regions, search a run, measure photos.

    Programs such as Claude Desktop and VS Code start it themselves and speak with it over standard input and
    output. An agent reads files of this machine only in the folders that you allow.
    """
    settings = recipe_settings(
        lang=lang, layout=layout, server=server, model=model, preset=preset, ocr_dtype=ocr_dtype,
        api_key=api_key, cores=cores, **more,
    )  # fmt: skip
    _check_installed()
    plan = _plan(out, recipe, settings)
    with _folder(out) as kept, _served(kept, plan, allow_folder or [], max_mb * MB) as served:
        if http:
            with listening_on(host, port) as listening:
                _run_http(served, listening, _door(listening, keys, allow_host or []))
        else:
            _run_stdio(served)


def _check_installed() -> None:
    need_extra("mcp", "The server for agents")
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError as exc:
        raise MissingModel("The package mcp 2 is not installed.", install_advice("mcp")) from exc


def _plan(out: Path | None, recipe: str | None, settings: dict[str, Any]) -> Plan | None:
    """None where a run is only shown: OUT has one, and nobody named a recipe."""
    from penstock.passes.parse import ParseOptions, as_begun
    from penstock.store.out import Out

    if recipe is None and out is not None and Out(out).run():
        if settings:
            word = next(iter(settings)).replace("_", "-")
            raise UsageError(f"--{word} is for reading documents.", "Name the run's recipe too: --recipe.")
        return None
    options = ParseOptions(inputs=(), recipe=recipe or "documents", settings=settings)
    return (options if out is None else as_begun(options, out)).plan()


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="penstock-mcp-") as folder:
        yield Path(folder)


@contextmanager
def _served(out: Path, plan: Plan | None, folders: list[Path], max_bytes: int) -> Iterator[MCPServer[Any]]:
    from penstock.agents.documents import AgentDocuments
    from penstock.agents.files import AllowedFiles
    from penstock.agents.server import mcp_server
    from penstock.agents.tools import AgentTools

    _keep_the_terminal()
    files = AllowedFiles(folders, max_bytes)
    with AgentDocuments(out, plan, files) as documents:
        yield mcp_server(AgentTools(documents, files), files.told)


def _keep_the_terminal() -> None:
    """Keeps the SDK from printing every record of ours to standard error; errors of its own it may tell."""
    logging.getLogger().addHandler(logging.NullHandler())
    told = logging.StreamHandler()
    told.setLevel(logging.ERROR)
    logging.getLogger("mcp").addHandler(told)


def _run_stdio(served: MCPServer[Any]) -> None:
    import anyio

    from penstock.agents.stdio import serve_stdio

    if sys.stdin.isatty():
        hint = (
            "penstock mcp is started by a program that speaks with it here; for HTTP: --http. Ctrl-C ends it."
        )
        print(hint, file=sys.stderr, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        anyio.run(serve_stdio, served)


def _door(listening: socket.socket, keys: Path | None, names: list[str]) -> Door:
    from penstock.agents.server import Door
    from penstock.serve.guard.keys import KeyRing

    if keys is None and is_open(listening):
        raise UsageError(
            "Whoever reaches this address could read your files.",
            "Give keys (--keys), or listen on 127.0.0.1.",
        )
    return Door(names=names, keys=KeyRing() if keys is None else KeyRing.open(keys))


def _run_http(served: MCPServer[Any], listening: socket.socket, door: Door) -> None:
    from penstock.agents.server import PATH, http_app
    from penstock.serve.server import server_of

    print(f"{address(listening)}{PATH} answers agents; Ctrl-C ends it.", file=sys.stderr, flush=True)
    # uvicorn raises what ended it once more when it is done: for us both are an ordinary end
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        server_of(http_app(served, door)).run(sockets=[listening])
