"""Runs the tools of `penstock mcp`, over standard input and output or over HTTP."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from penstock.agents.documents import AgentDocuments
from penstock.agents.files import AllowedFiles
from penstock.agents.server import PATH, Auth, http_app, mcp_server
from penstock.agents.stdio import serve_stdio
from penstock.agents.tools import AgentTools
from penstock.cli.running.listening import address, is_open, listening_on
from penstock.errors import UsageError
from penstock.passes.parse import ParseOptions
from penstock.passes.photos import PhotoOptions
from penstock.passes.service import served_options
from penstock.serve.guard.keys import KeyRing
from penstock.serve.server import server_of
from penstock.sizes import MB


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where the tools answer over HTTP, by which names, and to which keys."""

    host: str
    port: int
    names: list[str]
    keys: Path | None


def run_tools(
    out: Path | None,
    recipe: str | None,
    settings: Mapping[str, Any],
    folders: list[Path],
    max_mb: int,
    http: HttpAddress | None,
) -> None:
    """Answers until it is stopped."""
    options = served_options(out, recipe, settings, {})
    with _folder(out) as kept, _served(kept, options, folders, max_mb * MB) as served:
        if http is None:
            _run_stdio(served)
            return
        with listening_on(http.host, http.port) as listening:
            _run_http(served, listening, _auth(listening, http.keys, http.names))


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="penstock-mcp-") as folder:
        yield Path(folder)


@contextmanager
def _served(
    out: Path, options: ParseOptions | PhotoOptions | None, folders: list[Path], max_bytes: int
) -> Iterator[MCPServer[Any]]:
    _keep_the_terminal()
    files = AllowedFiles(folders, max_bytes)
    plan = None if options is None else options.plan()
    reading = options if isinstance(options, ParseOptions) else None
    with AgentDocuments(out, plan, files, reading) as documents:
        yield mcp_server(AgentTools(documents, files), files.advice)


def _keep_the_terminal() -> None:
    """Keeps the SDK from printing every record of ours to standard error; errors of its own it may tell."""
    logging.getLogger().addHandler(logging.NullHandler())
    told = logging.StreamHandler()
    told.setLevel(logging.ERROR)
    logging.getLogger("mcp").addHandler(told)


def _run_stdio(served: MCPServer[Any]) -> None:
    if sys.stdin.isatty():
        hint = (
            "penstock mcp is started by a program that speaks with it here; for HTTP: --http. Ctrl-C ends it."
        )
        print(hint, file=sys.stderr, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        anyio.run(serve_stdio, served)


def _auth(listening: socket.socket, keys: Path | None, names: list[str]) -> Auth:
    if keys is None and is_open(listening):
        raise UsageError(
            "Everyone who reaches this address could read your files.",
            "Give keys (--keys), or listen on 127.0.0.1.",
        )
    return Auth(names=names, keys=KeyRing() if keys is None else KeyRing.open(keys))


def _run_http(served: MCPServer[Any], listening: socket.socket, auth: Auth) -> None:
    print(f"{address(listening)}{PATH} answers agents; Ctrl-C ends it.", file=sys.stderr, flush=True)
    # uvicorn raises what ended it once more when it is done: for us both are an ordinary end
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        server_of(http_app(served, auth)).run(sockets=[listening])
