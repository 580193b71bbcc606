"""The chat client against a server that misbehaves on demand."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import cv2
import numpy as np
import pytest

from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.sureness import sureness_of, tokens_of
from penstock.errors import OpenError
from penstock.testing.fake_server import Asked, FakeServer, by_chance
from tests.support.asking import GLM, answer_of, error_of, picture, request, requests


def test_answers_come_in_the_order_of_the_questions(fake: FakeServer, url: str) -> None:
    asked = [request(seed, width=28 * (seed + 1), height=56) for seed in range(20)]
    with ChatClient([url], GLM) as client:
        outcomes = client.ask(asked)
    assert [f"{28 * (n + 1)}x56" in answer_of(o).text for n, o in enumerate(outcomes)] == [True] * 20
    assert {a.body["model"] for a in fake.asked} == {"fake"}  # it asked the server for its name


def test_the_request_is_the_sdks(fake: FakeServer, url: str) -> None:
    with ChatClient([url], GLM) as client:
        client.ask([request(tokens=77)])
    body = fake.asked[0].body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    settings = {"max_tokens": 77, "temperature": 0.0, "top_p": 1e-05, "top_k": 1, "repetition_penalty": 1.1}
    assert {key: body[key] for key in settings} == settings
    assert body["messages"][0]["content"][0]["image_url"]["url"].startswith("data:image/jpeg;base64,")


def test_a_prompt_with_quotes_and_hangul_arrives_whole(fake: FakeServer, url: str) -> None:
    prompt = 'Say "글자" \\ \n and </table>'
    with ChatClient([url], GLM) as client:
        client.ask([replace(request(), prompt=prompt)])
    assert fake.asked[0].prompt == prompt


def test_many_threads_share_one_limit(fake: FakeServer, url: str) -> None:
    fake.delay_s = 0.2
    with ChatClient([url], GLM, limit=16) as client:
        threads = [
            threading.Thread(target=client.ask, args=([request(100 * t + n) for n in range(20)],))
            for t in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = client.stats()
    assert fake.peak == 16
    assert stats["answered"] == 160
    assert stats["in_flight"] == stats["waiting"] == 0
    assert stats["filled"] >= 0.95  # whenever as many were ready


def test_the_longest_go_first(fake: FakeServer, url: str) -> None:
    with ChatClient([url], GLM, limit=1, dynamic=False) as client:
        client.ask([request(n, cost=float(n), width=28 * (n + 1)) for n in range(12)])
    widths = [asked.width for asked in fake.asked]
    assert widths == sorted(widths, reverse=True)


def test_identical_pictures_are_asked_once(fake: FakeServer, url: str) -> None:
    fake.delay_s = 0.05
    with ChatClient([url], GLM) as client:
        outcomes = client.ask([request(1), request(2), request(1), request(1)])
        later = client.ask([request(2), replace(request(2), prompt="Table Recognition:")])
        stats = client.stats()
    assert len(fake.asked) == 3
    assert outcomes[0].text == outcomes[2].text == outcomes[3].text  # type: ignore[union-attr]
    assert [answer_of(o).attempts for o in outcomes] == [1, 1, 0, 0]
    assert answer_of(later[0]).attempts == 0
    assert stats["shared"] == 3


@pytest.mark.parametrize("fault", ["429", "503"])
def test_a_full_server_is_asked_for_less_until_it_copes(fake: FakeServer, url: str, fault: str) -> None:
    fake.fault = lambda asked: fault if fake.running >= 8 else None
    fake.delay_s = 0.1
    with ChatClient([url], GLM, limit=64) as client:
        outcomes = client.ask(requests(200))
        stats = client.stats()
    assert all(isinstance(o, Answer) for o in outcomes)
    assert stats["busy"] > 0
    assert stats["limit"] < 64
    assert max(answer_of(o).attempts for o in outcomes) == 1  # being turned away is not an attempt


def test_faults_by_chance_lose_nothing(fake: FakeServer, url: str) -> None:
    fake.fault = by_chance({"500": 0.1, "drop": 0.05, "429": 0.05, "garbage": 0.05})
    with ChatClient([url], GLM, retries=20) as client:
        outcomes = client.ask(requests(150))
    texts = [answer_of(o).text for o in outcomes]
    assert len(set(texts)) == 150


def test_a_server_error_that_stays_becomes_a_sentence(fake: FakeServer, url: str) -> None:
    fake.fault = lambda asked: "500"
    with ChatClient([url], GLM, retries=2) as client:
        error = error_of(client.ask([request()])[0])
    assert "HTTP 500" in error.message
    assert "Internal server error" in error.message
    assert len(fake.asked) == 3


def test_a_picture_that_is_none_is_a_sentence_at_once(fake: FakeServer, url: str) -> None:
    with ChatClient([url], GLM) as client:
        bad, empty, good = client.ask(
            [ChatRequest(b"%PDF-1.7", "x", 8), ChatRequest(b"", "x", 8), ChatRequest(picture(), "x", 8)]
        )
        stats = client.stats()
    assert "cannot decode the picture" in error_of(bad).message
    assert "cannot decode the picture" in error_of(empty).message
    assert isinstance(good, Answer)
    assert stats["retries"] == 0


@pytest.mark.parametrize(("name", "value"), [("max_model_len", 512), ("encoder_tokens", 300)])
def test_a_picture_too_large_is_scaled_and_asked_again(
    fake: FakeServer, url: str, name: str, value: int
) -> None:
    setattr(fake, name, value)
    with ChatClient([url], GLM) as client:
        answer = answer_of(client.ask([request(width=1400, height=1400)])[0])
    assert answer.attempts == 2
    assert "Scaled to" in answer.notes[0]
    assert str(value) in answer.notes[0]
    assert 0.3 * value < fake.asked[-1].tokens <= value  # no smaller than it must be


def test_a_caller_may_scale_in_its_own_way(fake: FakeServer, url: str) -> None:
    fake.max_model_len = 512
    seen: list[float] = []

    def smaller(image: bytes, scale: float) -> bytes:
        seen.append(scale)
        return picture(56, 56)

    with ChatClient([url], GLM, smaller=smaller) as client:
        answer_of(client.ask([request(width=1400, height=1400)])[0])
    assert len(seen) == 1
    assert seen[0] == pytest.approx(0.97 * (0.75 * 512 / 2516) ** 0.5)


def test_a_picture_too_thin_is_a_sentence_with_its_size(fake: FakeServer, url: str) -> None:
    with ChatClient([url], GLM) as client:
        error = error_of(client.ask([request(width=2000, height=4)])[0])
    assert "2000 x 4 pixels" in error.message


def test_a_wrong_model_and_a_wrong_key_end_the_run_with_a_sentence(fake: FakeServer, url: str) -> None:
    with (
        ChatClient([url], GLM, model="nope") as client,
        pytest.raises(OpenError, match="`nope` does not exist"),
    ):
        client.ask([request()])
    fake.api_key = "secret"
    with ChatClient([url], GLM, api_key="wrong") as client, pytest.raises(OpenError) as caught:
        client.ask([request()])
    assert "Unauthorized" in caught.value.message
    assert "--api-key" in caught.value.advice
    assert "wrong" not in str(caught.value)


def test_a_key_that_was_good_until_now_costs_only_what_was_asked_after(fake: FakeServer, url: str) -> None:
    fake.api_key = "secret"
    with ChatClient([url], GLM, api_key="secret") as client:
        answer_of(client.ask([request()])[0])
        fake.api_key = "another"
        assert "Unauthorized" in error_of(client.ask([request(1)])[0]).message


def test_a_loop_is_cut_while_it_streams_and_asked_again(fake: FakeServer, url: str) -> None:
    fake.fault = lambda asked: "loop" if asked.body["temperature"] == 0 else None
    with ChatClient([url], GLM) as client:
        answer = answer_of(client.ask([request(tokens=8_000)])[0])
        stats = client.stats()
    assert answer.text.endswith(fake.asked[-1].text)
    assert answer.attempts == 2
    assert "repeated itself" in answer.notes[0]
    assert stats["loops_cut"] == 1
    assert fake.asked[1].body["temperature"] > 0


def test_what_loops_twice_is_kept_up_to_the_loop(fake: FakeServer, url: str) -> None:
    fake.says = lambda asked: "The title. " + "row, " * 5_000
    with ChatClient([url], GLM) as client:
        streamed = answer_of(client.ask([request(tokens=8_000)])[0])
        whole = answer_of(client.ask([request(1, tokens=1_000)])[0])
    for answer in (streamed, whole):
        assert answer.text.startswith("The title. row,")
        assert len(answer.text) < 30
        assert answer.finish_reason == "repetition"
        assert "cut where that began" in answer.notes[-1]


def test_an_answer_cut_off_is_asked_again_with_more_tokens(fake: FakeServer, url: str) -> None:
    words = " ".join(str(n) for n in range(200))
    fake.says = lambda asked: words
    with ChatClient([url], GLM) as client:
        answer = answer_of(client.ask([request(tokens=16)])[0])
    assert answer.text == words
    assert [asked.max_tokens for asked in fake.asked] == [16, 64, 256]
    assert answer.finish_reason == "stop"


def test_what_does_not_fit_the_context_says_so(fake: FakeServer, url: str) -> None:
    fake.says = lambda asked: " ".join(str(n) for n in range(2_000))
    fake.max_model_len = 256
    with ChatClient([url], GLM) as client:
        answer = answer_of(client.ask([request(tokens=64)])[0])
    assert answer.finish_reason == "length"
    assert "cut off at 240 tokens" in answer.notes[-1]
    assert len(fake.asked) == 2


def test_a_budget_beyond_the_context_is_asked_for_what_fits(fake: FakeServer, url: str) -> None:
    fake.max_model_len = 256
    with ChatClient([url], GLM) as client:
        answer_of(client.ask([request(tokens=8_192)])[0])
    assert fake.asked[0].max_tokens == 256


def test_streamed_and_whole_answers_are_the_same(fake: FakeServer, url: str) -> None:
    fake.says = lambda asked: "표 안의 글자 <td>7</td>\n" * 3 + asked.text
    with ChatClient([url], GLM) as client:
        whole = answer_of(client.ask([request(tokens=1_000)])[0])
    with ChatClient([url], GLM) as client:
        streamed = answer_of(client.ask([request(tokens=1_100)])[0])
    assert [asked.stream for asked in fake.asked] == [False, True]
    assert streamed.text == whole.text
    assert streamed.completion_tokens == whole.completion_tokens > 0
    assert streamed.prompt_tokens == whole.prompt_tokens > 0


def test_a_stream_that_breaks_off_is_asked_again(fake: FakeServer, url: str) -> None:
    fake.fault = lambda asked: "cut" if asked.number == 0 else None
    with ChatClient([url], GLM) as client:
        answer = answer_of(client.ask([request(tokens=2_000)])[0])
    assert answer.text == fake.asked[0].text
    assert answer.attempts == 2


def test_a_request_that_hangs_is_asked_again(fake: FakeServer, url: str) -> None:
    fake.fault = lambda asked: "hang" if asked.number == 0 else None
    with ChatClient([url], GLM, timeout_s=3.0) as client:
        answer = answer_of(client.ask([request()])[0])
    assert answer.attempts == 2


def test_a_request_that_always_hangs_is_a_sentence(fake: FakeServer, url: str) -> None:
    fake.fault = lambda asked: "hang"
    with ChatClient([url], GLM, timeout_s=0.1, retries=1) as client:
        error = error_of(client.ask([request()])[0])
    assert "2 attempts" in error.message
    assert "no answer in time" in error.message


def test_a_large_picture_is_encoded_and_sent_without_a_warning(fake: FakeServer, url: str) -> None:
    fake.max_model_len = 1 << 20
    fake.encoder_tokens = 1 << 20
    big = cv2.imencode(".png", np.random.default_rng(0).integers(0, 255, (900, 900, 3), np.uint8))[
        1
    ].tobytes()
    assert len(big) > 2_000_000
    with ChatClient([url], GLM) as client:
        answer = answer_of(client.ask([ChatRequest(big, "x", 64)])[0])
    assert "900x900" in answer.text


def test_nothing_asked_is_nothing_answered(url: str) -> None:
    with ChatClient([url], GLM) as client:
        assert client.ask([]) == []


def test_a_fault_gets_what_the_server_understood(fake: FakeServer, url: str) -> None:
    seen: list[Asked] = []
    fake.fault = lambda asked: seen.append(asked)  # type: ignore[func-returns-value]
    with ChatClient([url], GLM) as client:
        client.ask([request()])
    assert seen == fake.asked


@pytest.mark.parametrize("tokens", [77, 2_000])  # whole, and streamed
def test_an_answer_says_how_sure_the_model_was_of_its_tokens(fake: FakeServer, url: str, tokens: int) -> None:
    fake.logprob, fake.says = -0.25, lambda asked: "one\n" + "two and three\n" * 3
    with ChatClient([url], GLM, logprobs=True) as client:
        [outcome] = client.ask([request(tokens=tokens)])
    sure = answer_of(outcome).sureness
    assert sure is not None and fake.asked[0].stream is (tokens == 2_000)
    assert (sure.mean, sure.least) == pytest.approx((math.exp(-0.25), math.exp(-0.25)))
    assert len(sure.lines) == 4


def test_a_server_that_tells_no_logprobs_is_asked_without_them(fake: FakeServer, url: str) -> None:
    fake.logprob = None
    with ChatClient([url], GLM, logprobs=True) as client:
        outcomes = client.ask(requests(6))
        later = client.ask([request(99)])
    assert all(answer_of(outcome).sureness is None for outcome in (*outcomes, *later))
    assert "logprobs" not in fake.asked[-1].body


def test_nobody_pays_for_logprobs_who_does_not_want_them(fake: FakeServer, url: str) -> None:
    with ChatClient([url], GLM) as client:
        [outcome] = client.ask([request()])
    assert answer_of(outcome).sureness is None and "logprobs" not in fake.asked[0].body


@pytest.mark.parametrize(
    "told", [None, 7, {"content": 7}, {"content": [None, {"token": 1, "logprob": "x"}]}, {"content": [{}]}]
)
def test_logprobs_of_another_shape_are_passed_by(told: object) -> None:
    assert tokens_of({"logprobs": told}) == []


def test_what_cannot_be_is_bounded() -> None:
    sure = sureness_of(tokens_of({"logprobs": {"content": [{"token": "a", "logprob": -9999.0}]}}))
    assert sure is not None and 0 < sure.mean < 1e-8
