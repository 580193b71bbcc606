"""`guard/connections.py` uses what uvicorn does not promise. pyproject.toml bounds its version."""

from __future__ import annotations

import asyncio
import inspect

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState


def test_a_protocol_has_what_we_use_of_it() -> None:
    async def made() -> H11Protocol:
        config = uvicorn.Config(lambda *_: None, log_level="error")
        config.load()
        return H11Protocol(config, ServerState(), {}, asyncio.get_running_loop())

    protocol = asyncio.run(made())
    assert protocol.cycle is None
    assert protocol.client is None
    assert {"their_state"} <= set(dir(protocol.conn))
    assert isinstance(protocol.loop, asyncio.AbstractEventLoop)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("connection_made", ["transport"]),
        ("connection_lost", ["exc"]),
        ("data_received", ["data"]),
        ("eof_received", []),
        ("on_response_complete", []),
        ("pause_writing", []),
        ("resume_writing", []),
        ("send_400_response", ["msg"]),
        ("_unset_keepalive_if_required", []),
    ],
)
def test_what_we_override_or_call_is_there(name: str, parameters: list[str]) -> None:
    method = getattr(H11Protocol, name)
    assert list(inspect.signature(method).parameters)[1:] == parameters
