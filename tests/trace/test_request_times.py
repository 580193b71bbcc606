"""How long requests took: percentiles of known times, and what a client notes of a real exchange."""

from __future__ import annotations

import random

import pytest

from penstock.engines.chat.client import ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm.probe import sample_picture
from penstock.testing.fake_server import Asked, FakeServer, serving
from penstock.trace.profile import Profile
from penstock.trace.request_times import RequestTimes, summary
from penstock.trace.watch import RunWatch


def test_percentiles_are_those_of_the_times() -> None:
    times = RequestTimes()
    numbers = list(range(1, 1_001))
    random.Random(7).shuffle(numbers)
    for number in numbers:  # 10 ms to 10 s
        times.add(100.0, 100.0 + number / 100, prompt_tokens=50, completion_tokens=7)
    found = summary([times])
    assert found is not None
    assert found.answered == 1_000
    assert found.mean_s == pytest.approx(5.005)
    assert found.p50_s == pytest.approx(5.00, rel=0.012)
    assert found.p95_s == pytest.approx(9.50, rel=0.012)
    assert found.p99_s == pytest.approx(9.90, rel=0.012)
    assert found.slowest_s == pytest.approx(10.0)
    assert found.seconds == pytest.approx(10.0)
    assert (found.prompt_tokens_per_s, found.completion_tokens_per_s) == (
        pytest.approx(5_000),
        pytest.approx(700),
    )


def test_two_clients_are_one_run() -> None:
    one, two = RequestTimes(failed=1), RequestTimes(retries=2)
    one.add(10.0, 11.0, 100, 10)
    two.add(14.0, 20.0, 100, 10)
    found = summary([one, two])
    assert found is not None
    assert (found.answered, found.failed, found.retries, found.seconds) == (2, 1, 2, 10.0)
    assert (found.p50_s, found.p99_s) == (pytest.approx(1.0), pytest.approx(6.0, rel=0.012))
    assert found.prompt_tokens_per_s == pytest.approx(20.0)
    assert summary([]) is None
    assert summary([RequestTimes(failed=3)]) is None


def test_a_watched_client_tells_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.trace.gpu.open_driver", lambda: None)
    monkeypatch.setattr("penstock.engines.chat.dispatcher.FIRST_BACKOFF_S", 0.01)

    def first_breaks(asked: Asked) -> str | None:
        return "500" if asked.number == 0 else None

    server = FakeServer(fault=first_breaks)
    with RunWatch() as watch, serving(server) as url, ChatClient([url], RECOGNISERS["glm-ocr"]) as client:
        client.ask([ChatRequest(sample_picture(56 + 28 * n, 56), "x", 16) for n in range(5)])
    told = watch.add_to(Profile(items=5, seconds=1.0)).requests
    assert told is not None
    assert (told.answered, told.failed, told.retries) == (5, 0, 1)
    answered = {asked.checksum: asked for asked in server.asked}.values()
    assert told.prompt_tokens == sum(asked.tokens for asked in answered)
    assert told.completion_tokens > 0
    assert 0 < told.p50_s <= told.p95_s <= told.p99_s <= told.slowest_s
    assert told.prompt_tokens_per_s and told.prompt_tokens_per_s > 0


def test_a_client_that_nobody_watches_is_no_trouble() -> None:
    with serving(FakeServer()) as url, ChatClient([url], RECOGNISERS["glm-ocr"]) as client:
        [answer] = client.ask([ChatRequest(sample_picture(), "x", 16)])
    assert not isinstance(answer, Exception)
