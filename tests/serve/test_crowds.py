"""Clients that hold connections and bodies: whoever asks something is still answered."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http.client
import json
import socket
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.waiting import wait_until

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from starlette.exceptions import HTTPException

from penstock.serve.errors import Displaced, TooSlow
from penstock.serve.guard.client_network import client_network
from penstock.serve.guard.connections import BoundedConnection, ConnectionBounds
from penstock.serve.guard.upload_deadlines import Arrival, ArrivalBounds, Arrivals, HeldBytes
from tests.support.running_service import SAMPLE, Client, Running

HALF = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Half:"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
SLOW_BODY = b"POST /v1/documents?name=slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\nabc"


@contextmanager
def served(out: Path, most_mb: int = 4, **bounds: Any) -> Iterator[Client]:
    with Service(out, fake()) as service, Running(service, most_mb, **bounds) as client:
        yield client


def line_to(client: Client, source: str = "127.0.0.1") -> socket.socket:
    address = urllib.parse.urlsplit(client.url)
    assert address.hostname and address.port
    return socket.create_connection((address.hostname, address.port), timeout=60, source_address=(source, 0))


@contextmanager
def holding(client: Client, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    with ExitStack() as open_lines:
        lines = [open_lines.enter_context(line_to(client)) for _ in range(count)]
        for line in lines:
            line.sendall(sent)
        yield lines


def all_of(line: socket.socket) -> bytes:
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := line.recv(65536):
            answer += piece
    return answer


def test_unfinished_headers_make_room_for_who_asks(tmp_path: Path) -> None:
    bounds = ConnectionBounds(max_connections=8, spared_s=0.0)
    with served(tmp_path, connections=bounds) as client, holding(client, 20, HALF) as lines:
        assert [client("/health")[0] for _ in range(12)] == [200] * 12
        answers = [all_of(line) for line in lines[:8]]
        assert {answer.split()[1] for answer in answers} == {b"503"}
        head, _, body = answers[0].partition(b"\r\n\r\n")
        assert b"retry-after: 5" in head
        assert json.loads(body)["error"]


def test_a_connection_that_is_gone_leaves_nothing_for_the_search_for_garbage(tmp_path: Path) -> None:
    """Thousands come and go between two searches: 10,000 requests once left 155,000 objects."""
    closing = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    upload = SLOW_BODY.replace(b"99999", b"3\r\nConnection: close")
    with served(tmp_path) as client:
        gc.collect()
        gc.disable()
        try:
            for sent in (closing, upload):
                with holding(client, 5, sent) as lines:
                    assert all(all_of(line) for line in lines)
            with holding(client, 5, SLOW_BODY):
                pass
            wait_until(lambda: num_connections() == 0)
        finally:
            gc.enable()


def test_new_connections_are_spared(tmp_path: Path) -> None:
    """What they ask may lie in a buffer that nobody has read yet."""
    bounds = ConnectionBounds(max_connections=2, spared_s=1000.0)
    with served(tmp_path, connections=bounds) as client, holding(client, 2, HALF):
        wait_until(lambda: client("/health")[0] == 503)


def test_connections_that_end_leave_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        for sent in (HALF, SLOW_BODY, b"no http\r\n\r\n", HEALTH) * 5:
            with holding(client, 4, sent):
                pass
        wait_until(lambda: gc.collect() >= 0 and num_connections() == 0)


def num_connections() -> int:
    return sum(isinstance(one, BoundedConnection) for one in gc.get_objects())


def test_headers_have_a_deadline(tmp_path: Path) -> None:
    bounds = ConnectionBounds(headers_s=0.2)
    with served(tmp_path, connections=bounds) as client, holding(client, 1, HALF) as [line]:
        answer = all_of(line)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert "headers" in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def test_connections_that_are_all_at_work_are_not_closed_for_others(tmp_path: Path) -> None:
    bounds = ConnectionBounds(max_connections=4)
    with served(tmp_path, connections=bounds) as client, holding(client, 4, SLOW_BODY):
        wait_until(lambda: len(list(tmp_path.glob("uploads/.incoming*"))) == 4)
        status, told = client("/health")
        assert (status, "too many connections" in told["error"]) == (503, True)


def test_one_address_has_its_share(tmp_path: Path) -> None:
    bounds = ConnectionBounds(max_per_address=2)
    with served(tmp_path, connections=bounds) as client, holding(client, 2, SLOW_BODY):
        wait_until(lambda: len(list(tmp_path.glob("uploads/.incoming*"))) == 2)
        assert client("/health")[0] == 429
        with line_to(client, "127.0.0.2") as other:
            other.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert all_of(other).startswith(b"HTTP/1.1 200 ")


def test_slow_bodies_make_room_for_uploads(tmp_path: Path) -> None:
    bounds = ArrivalBounds(max_arriving=4, slow_after_s=0.0)
    with served(tmp_path, arrivals=bounds) as client, holding(client, 4, SLOW_BODY) as lines:
        wait_until(lambda: len(list(tmp_path.glob("uploads/.incoming*"))) == 4)
        names = [client.send(f"{number}.pdf", SAMPLE.read_bytes())["name"] for number in range(2)]
        assert len(set(names)) == 2
        ended = [all_of(line) for line in lines[:1]]
        assert ended[0].startswith(b"HTTP/1.1 408 ")


def test_a_refused_upload_is_told_and_not_reset(tmp_path: Path) -> None:
    """20 MB by http.client, which reads no answer before all is sent, on a connection that is not kept."""
    bounds = ArrivalBounds(max_arriving=0)
    with served(tmp_path, 64, arrivals=bounds) as client:
        address = urllib.parse.urlsplit(client.url)
        line = http.client.HTTPConnection(address.netloc, timeout=60)
        line.request("POST", "/v1/documents?name=a", bytes(20 << 20), {"Connection": "close"})
        answer = line.getresponse()
        assert (answer.status, bool(answer.headers["Retry-After"])) == (429, True)
        assert "arriving" in json.loads(answer.read())["error"]
        line.close()


def test_what_is_no_http_is_told_in_json(tmp_path: Path) -> None:
    with served(tmp_path) as client, holding(client, 1, b"\x16\x03\x01 hello\r\n\r\n") as [line]:
        answer = all_of(line)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def test_a_body_keeps_a_pace_that_counts_only_the_clients_time() -> None:
    async def never() -> Any:
        await asyncio.sleep(1000)

    async def some() -> Any:
        return {"type": "http.request", "body": bytes(100_000), "more_body": True}

    async def asked() -> None:
        arrival = Arrival(ArrivalBounds(grace_s=0.0, min_bytes_s=1e6), "a")
        with pytest.raises(TooSlow, match="Only 0 bytes"):
            await arrival.message(never)
        quick = Arrival(ArrivalBounds(grace_s=10.0, min_bytes_s=1.0), "a")
        await quick.message(some)
        assert (quick.received, quick.is_whole, quick.is_slow) == (100_000, False, False)

    asyncio.run(asked())


def test_uploads_of_one_address_leave_room_for_others() -> None:
    async def asked() -> None:
        bounds = ArrivalBounds(max_arriving=3, max_per_address=2)
        arrivals = Arrivals(bounds)
        with ExitStack() as inside:
            told = [
                inside.enter_context(arrivals.counted(Arrival(bounds, address)))
                for address in ("a", "a", "a", "b", "b")
            ]
            assert [reason is None for reason in told] == [True, True, False, True, False]
            assert len(arrivals) == 3
        assert len(arrivals) == 0

    asyncio.run(asked())


async def arriving(arrivals: Arrivals, inside: ExitStack, address: str, received: int = 0) -> Arrival:
    arrival = Arrival(arrivals.bounds, address)
    arrival.received = received
    reason = inside.enter_context(arrivals.counted(arrival))
    assert reason is None, reason
    return arrival


async def is_displaced(arrival: Arrival) -> bool:
    async def some() -> Any:
        return {"type": "http.request", "body": b"x", "more_body": True}

    try:
        await arrival.message(some)
    except Displaced:
        return True
    return False


def test_clients_with_many_uploads_make_room_for_those_with_few() -> None:
    """As seen once: 64 uploads of four addresses, each quick enough, shut everyone else out."""

    async def asked() -> None:
        arrivals = Arrivals(ArrivalBounds())
        with ExitStack() as inside:
            crowd = [
                await arriving(arrivals, inside, f"10.0.0.{number % 4}", received=number)
                for number in range(64)
            ]
            honest = [await arriving(arrivals, inside, f"10.1.0.{number}") for number in range(20)]
            assert sum([await is_displaced(one) for one in crowd]) == 20
            assert not any([await is_displaced(one) for one in honest])
            assert len(arrivals) == 64

    asyncio.run(asked())


def test_a_client_cannot_displace_others_to_have_more_than_they() -> None:
    async def asked() -> None:
        arrivals = Arrivals(ArrivalBounds(max_arriving=8))
        with ExitStack() as inside:
            few = [await arriving(arrivals, inside, address) for address in ("a", "a", "b", "b")]
            many = [await arriving(arrivals, inside, "c") for _ in range(4)]
            with arrivals.counted(Arrival(arrivals.bounds, "c")) as refused:
                assert refused is not None
            assert not any([await is_displaced(one) for one in (*few, *many)])

    asyncio.run(asked())


def test_one_that_took_long_makes_room_when_each_client_has_one() -> None:
    async def asked() -> None:
        arrivals = Arrivals(ArrivalBounds(max_arriving=2, crowded_after_s=0.0, crowded_bytes_s=float("inf")))
        with ExitStack() as inside:
            slow = await arriving(arrivals, inside, "a", received=1)
            quick = await arriving(arrivals, inside, "b", received=1000)
            await arriving(arrivals, inside, "c")
            assert (await is_displaced(slow), await is_displaced(quick)) == (True, False)

    asyncio.run(asked())


def test_addresses_of_one_network_are_one_client() -> None:
    assert (
        client_network("2001:db8::1")
        == client_network("2001:db8::ffff:1%eth0")
        != client_network("2001:db8:1::1")
    )
    assert client_network("::ffff:10.0.0.1") == client_network("10.0.0.1") != client_network("10.0.0.2")
    assert client_network("") == ""


def test_bodies_in_memory_have_a_bound_in_all_and_small_ones_always_fit() -> None:
    bounds = ArrivalBounds(free_bytes=10, max_held_bytes=100)
    held = HeldBytes(bounds.max_held_bytes)
    first, second, small = (Arrival(bounds, "a", held) for _ in range(3))
    first.hold(100)
    with pytest.raises(HTTPException) as refused:
        second.hold(30)
    assert refused.value.status_code == 503
    small.hold(10)
    first.let_go()
    second.hold(30)


def test_a_question_of_many_values_is_refused_as_it_arrives() -> None:
    async def lists() -> Any:
        return {"type": "http.request", "body": b"[]," * 100, "more_body": True}

    async def asked() -> None:
        arrival = Arrival(ArrivalBounds(max_question_values=500), "a")
        await arrival.message(lists)
        await arrival.message(lists)
        with pytest.raises(HTTPException) as refused:
            await arrival.message(lists)
        assert refused.value.status_code == 413

    asyncio.run(asked())


@pytest.mark.slow
def test_520_half_headers_and_64_slow_bodies_stop_nobody(tmp_path: Path) -> None:
    """As seen once: 503 for everyone as long as the connections were held, and no upload at all."""
    with served(tmp_path) as client, holding(client, 520, HALF), holding(client, 64, SLOW_BODY):
        wait_until(lambda: len(list(tmp_path.glob("uploads/.incoming*"))) >= 32)
        assert [client("/health")[0] for _ in range(50)] == [200] * 50
        wait_until(lambda: client("/v1/documents?name=a.pdf", SAMPLE.read_bytes())[0] == 202)


@pytest.mark.slow
def test_200_uploads_of_20_mb_see_no_reset(tmp_path: Path) -> None:
    body = b"%PDF-1.4" + bytes(20 << 20)
    with served(tmp_path, 32) as client, ThreadPoolExecutor(200) as pool:
        told = list(pool.map(lambda n: client(f"/v1/documents?name={n}.pdf", body)[0], range(200)))
    assert set(told) <= {202, 429}
