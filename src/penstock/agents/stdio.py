"""The MCP server over standard input and output, where every request gets an answer.

The lines are read here (see messages.py); the SDK's own reader gets an empty file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from penstock.agents.messages import read_message

Received = SessionMessage | Exception
TextFile = anyio.AsyncFile[str]


async def serve_stdio(
    server: MCPServer[Any], stdin: TextFile | None = None, stdout: TextFile | None = None
) -> None:
    """Serves one client until its end. Without files: this process's own input and output."""
    inner = server._lowlevel_server  # the SDK has no other way to give it streams
    forward, readable = anyio.create_memory_object_stream[Received](0)
    empty = anyio.wrap_file(io.StringIO())
    with _own_input() if stdin is None else nullcontext(stdin) as lines:
        async with (
            stdio_server(empty, stdout) as (nothing, write),
            nothing,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_read, lines, forward, write)
            async with readable:
                await inner.run(readable, write, inner.create_initialization_options())
            tasks.cancel_scope.cancel()


async def _read(lines: TextFile, forward: MemoryObjectSendStream[Received], write: Any) -> None:
    """Hands on the messages; answers what is none."""
    async with forward:
        async for line in lines:
            message = read_message(line)
            if isinstance(message, types.JSONRPCError):
                await write.send(SessionMessage(message))
            else:
                await forward.send(message)


@contextmanager
def _own_input() -> Iterator[TextFile]:
    """Yields the input of this process. Until the end its children have an empty one."""
    kept = os.dup(0)
    with Path(os.devnull).open() as empty:
        os.dup2(empty.fileno(), 0)
    try:
        # not closed: a thread may still wait for a line
        yield anyio.wrap_file(os.fdopen(kept, encoding="utf-8", errors="replace", closefd=False))
    finally:
        os.dup2(kept, 0)
