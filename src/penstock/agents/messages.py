"""Messages of JSON-RPC as agents send them: those that cannot be answered as they are get an error.

The SDK takes a request whose id is neither a string nor a whole number for a notification, and drops a line
that it cannot read: the agent would wait for ever. Half of a character (a lone surrogate, as of a cut emoji)
is read with a question mark.
"""

from __future__ import annotations

import json

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from penstock.serve.errors import writable


def read_message(line: str) -> SessionMessage | types.JSONRPCError:
    """Returns the message of a line, or the error that answers it."""
    try:
        parsed = json.loads(line)
        if (refusal := refused_id(parsed)) is not None:
            return refusal
        repaired = writable(json.dumps(parsed, ensure_ascii=False)) if "\\u" in line else line
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(repaired, by_name=False))
    except ValidationError:
        return _error(_id_of(parsed), types.INVALID_REQUEST, "This is no request of JSON-RPC 2.0.")
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "This is no JSON.")


def refused_body(body: bytes) -> str | None:
    """Returns the error that answers a body. What is no JSON is left to the SDK, which says so."""
    try:
        error = refused_id(json.loads(body))
    except (ValueError, RecursionError):
        return None
    return error.model_dump_json() if error is not None else None


def refused_id(parsed: object) -> types.JSONRPCError | None:
    """Returns the error for a request whose id no answer can bear; without an id it wants no answer."""
    if not isinstance(parsed, dict) or "method" not in parsed or "id" not in parsed:
        return None
    if _id_of(parsed) is not None:
        return None
    return _error(None, types.INVALID_REQUEST, "An id must be a string or a whole number.")


def _id_of(parsed: object) -> str | int | None:
    id = parsed.get("id") if isinstance(parsed, dict) else None
    if isinstance(id, str):
        return writable(id)
    return id if isinstance(id, int) and not isinstance(id, bool) else None


def _error(id: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=message))
