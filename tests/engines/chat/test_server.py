"""The chat client when servers are away, hung, dead or several."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from penstock.engines.chat.client import Answer, ChatClient
from penstock.testing.fake_server import FakeServer, serving
from tests.support.asking import GLM, answer_of, error_of, request, requests
from tests.support.waiting import wait_until


def test_no_server_at_all_is_a_sentence() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    with ChatClient([f"127.0.0.1:{port}"], GLM, down_s=0.5) as client:
        error = error_of(client.ask([request()])[0])
    assert "No server answered" in error.message
    assert "cannot connect" in error.message


def test_what_was_in_flight_is_answered_by_the_server_that_comes_back(fake: FakeServer) -> None:
    fake.delay_s = 0.3
    outcomes: list[Any] = []
    with serving(fake) as address:
        client = ChatClient([address], GLM, limit=16)
        asker = threading.Thread(target=lambda: outcomes.extend(client.ask(requests(40))))
        asker.start()
        wait_until(lambda: fake.running >= 16)
    wait_until(lambda: not client.stats()["servers"][0]["up"])
    fake.delay_s = 0.0
    with serving(fake, port=int(address.rpartition(":")[2])):
        asker.join()
        client.close()
    assert len({answer_of(o).text for o in outcomes}) == 40


def test_a_dead_server_is_set_aside_and_its_load_stays_away(fake: FakeServer, url: str) -> None:
    fake.delay_s = 0.05
    with ChatClient([url, "http://127.0.0.1:9"], GLM, limit=8) as client:
        outcomes = client.ask(requests(30))
        stats = client.stats()
    assert all(isinstance(o, Answer) for o in outcomes)
    assert [server["up"] for server in stats["servers"]] == [True, False]
    assert fake.peak <= 4


def test_several_servers_share_the_load(fake: FakeServer, url: str) -> None:
    other = FakeServer(delay_s=0.02)
    fake.delay_s = 0.02
    with serving(other) as second, ChatClient([url, second], GLM, limit=16) as client:
        client.ask([request()])
        wait_until(lambda: all(server["up"] for server in client.stats()["servers"]))
        client.ask(requests(100))
    assert min(len(fake.asked), len(other.asked)) > 20
    assert max(fake.peak, other.peak) <= 10  # half the limit each, one more where it is uneven


def test_a_hung_server_is_found_by_its_metrics(
    fake: FakeServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.chat.server.LOOK_S", 0.05)
    monkeypatch.setattr("penstock.engines.chat.server.LOOK_TIMEOUT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # takes connections, says nothing
        other = FakeServer()
        port = deaf.getsockname()[1]
        with ChatClient([url], GLM) as client:
            hung = client._dispatcher.servers[0]
            client.ask([request(0)])
            hung.url = f"http://127.0.0.1:{port}"  # as if it stopped in the middle of its work
            outcomes: list[Any] = []
            asker = threading.Thread(target=lambda: outcomes.extend(client.ask([request(1)])))
            asker.start()
            wait_until(lambda: "hangs" in hung.reason)
            with serving(other) as address:
                hung.url = address
                asker.join()
    assert answer_of(outcomes[0]).attempts == 2


def test_closing_ends_what_waits_with_a_reason(fake: FakeServer, url: str) -> None:
    fake.fault = lambda asked: "hang"
    client = ChatClient([url], GLM, limit=2)
    outcomes: list[Any] = []
    asker = threading.Thread(target=lambda: outcomes.extend(client.ask(requests(5))))
    asker.start()
    wait_until(lambda: client.stats()["in_flight"] == 2)
    client.close()
    client.close()
    asker.join(timeout=300)
    assert len(outcomes) == 5
    assert all("closed" in error_of(o).message for o in outcomes)
    assert "closed" in error_of(client.ask([request()])[0]).message
