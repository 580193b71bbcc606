"""Streams of progress that are opened and never read hold nothing that others need."""

from __future__ import annotations

import asyncio
import socket
import threading
import urllib.parse
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

import penstock
from penstock.serve.guard.connections import ConnectionBounds
from penstock.serve.reading.service import Service
from penstock.serve.routes.event_streams import EventStreams
from penstock.serve.server import server_of
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf
from tests.support.running_service import Client, Running
from tests.support.waiting import HANGS_S, wait_until


@pytest.fixture
def few_streams(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(EventStreams.__init__, "__defaults__", (4,))
    return 4


@pytest.fixture
def client(tmp_path: Path, few_streams: int) -> Iterator[Client]:
    with Service(tmp_path, fake(seconds=0.5)) as service, Running(service) as client:
        yield client


def held(client: Client, id: str, inside: ExitStack) -> socket.socket:
    """Opens a stream and reads nothing of it."""
    address = urllib.parse.urlsplit(client.url)
    line = inside.enter_context(socket.create_connection((address.hostname or "", address.port or 0)))
    line.sendall(f"GET /v1/jobs/{id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return line


def ended(line: socket.socket) -> bool:
    """Whether a stream's last piece has come, without waiting for more."""
    line.settimeout(0.05)
    try:
        data = line.recv(1 << 20, socket.MSG_PEEK)
    except TimeoutError:
        return False
    return data.endswith(b"0\r\n\r\n")


def test_streams_beyond_the_bound_end_the_oldest_of_their_holder(client: Client) -> None:
    _, job = client("/v1/parse?name=long.pdf", pdf(["a"] * 40))
    with ExitStack() as inside:
        lines = []
        for _ in range(8):
            lines.append(held(client, job["id"], inside))
            assert lines[-1].recv(1, socket.MSG_PEEK)
        wait_until(lambda: sum(map(ended, lines)) == 4)
        assert [ended(line) for line in lines] == [True] * 4 + [False] * 4
        assert client("/health/live")[0] == 200
        assert next(penstock.Client(client.url).events(job["id"])).id == job["id"]
    client(f"/v1/jobs/{job['id']}/cancel", b"")


def test_a_client_whose_stream_was_ended_follows_its_job_to_the_end(client: Client) -> None:
    _, job = client("/v1/parse?name=short.pdf", pdf(["a"] * 6))
    with ExitStack() as inside:
        followed = penstock.Client(client.url).events(job["id"])
        states = [next(followed)]
        for _ in range(4):
            held(client, job["id"], inside)
        states += followed
    assert (states[-1].state, states[-1].done) == ("done", 6)


def test_a_crowd_of_one_holder_takes_no_stream_of_another() -> None:
    streams = EventStreams(lambda id: None, lambda state: {}, 4)
    mine = streams.opened("me")
    crowd = [streams.opened("crowd") for _ in range(20)]
    assert not mine.is_ended
    assert len(streams) == 4
    assert [one.is_ended for one in crowd] == [True] * 17 + [False] * 3


def test_a_stream_that_ends_is_counted_no_more() -> None:
    async def read() -> int:
        streams = EventStreams(lambda id: None, lambda state: {})
        async for _ in streams.events("a", "gone"):
            assert len(streams) == 1
        return len(streams)

    assert asyncio.run(read()) == 0


def test_what_nobody_reads_is_closed_at_its_deadline() -> None:
    ended = threading.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(1 << 16)
                await asyncio.sleep(0)  # others have their turn, as with the pauses between events
        finally:
            ended.set()

    app = Starlette(routes=[Route("/", lambda _: StreamingResponse(endless()))])
    server = server_of(app, ConnectionBounds(answer_s=0.2))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        with socket.create_connection(listening.getsockname()) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert ended.wait(HANGS_S)
        server.should_exit = True
        thread.join()
