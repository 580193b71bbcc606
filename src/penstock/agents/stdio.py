"""The MCP server over standard input and output, where every request gets an answer.

The SDK drops a line that it cannot read, and the agent waits for ever. Half of a character (a lone surrogate,
as of a cut emoji) is such a line: here it is read with a question mark. Any other gets an error.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from penstock.serve.errors import writable

Received = SessionMessage | Exception
TextFile = anyio.AsyncFile[str]


async def serve_stdio(
    server: MCPServer[Any], stdin: TextFile | None = None, stdout: TextFile | None = None
) -> None:
    """Serves one client until its end. Without files: this process's own input and output."""
    inner = server._lowlevel_server  # the SDK has no other way to give it streams
    forward, readable = anyio.create_memory_object_stream[Received](0)
    async with stdio_server(stdin, stdout) as (received, write), anyio.create_task_group() as tasks:
        tasks.start_soon(_relay, received, forward, write)
        async with readable:
            await inner.run(readable, write, inner.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _relay(received: Any, forward: MemoryObjectSendStream[Received], write: Any) -> None:
    """Hands on what came; answers what the SDK could not read."""
    async with received, forward:
        async for message in received:
            read = repaired(message) if isinstance(message, ValidationError) else message
            if isinstance(read, types.JSONRPCError):
                await write.send(SessionMessage(read))
            else:
                await forward.send(read)


def repaired(exc: ValidationError) -> SessionMessage | types.JSONRPCError:
    """Returns the message of a line that could not be read, or the error that answers it."""
    given = exc.errors()[0]["input"]
    try:
        parsed = json.loads(given) if isinstance(given, str) else given
        line = writable(json.dumps(parsed, ensure_ascii=False))
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        return _error(parsed, types.INVALID_REQUEST, "This is no request of JSON-RPC 2.0.")
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "This is no JSON.")


def _error(parsed: Any, code: int, message: str) -> types.JSONRPCError:
    id = parsed.get("id") if isinstance(parsed, dict) else None
    id = writable(id) if isinstance(id, str) else id if isinstance(id, int) else None
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=message))
