"""What a real vLLM answers and refuses, as the client tells it."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
import pytest

from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm.server import ManagedServer
from penstock.errors import EngineError, OpenError
from tests.with_vllm.tiny import PLAIN, PROMPT, picture

pytestmark = pytest.mark.timeout(900)  # the first test waits for the server


@pytest.fixture(scope="module")
def client(server: ManagedServer) -> Iterator[ChatClient]:
    with ChatClient([server.url], PLAIN, limit=8) as made:
        yield made


def ask(client: ChatClient, image: bytes, tokens: int = 8) -> Answer | EngineError:
    return client.ask([ChatRequest(image, PROMPT, tokens)])[0]


def ask_alone(server: ManagedServer, image: bytes, tokens: int) -> str:
    """The same question without any of our client's code."""
    url = "data:image/jpeg;base64," + base64.b64encode(image).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": PROMPT}]
    body = {"messages": [{"role": "user", "content": content}], "max_tokens": tokens, **PLAIN.sampling}
    request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=120) as response:
        text: str = json.load(response)["choices"][0]["message"]["content"]
        return text


def test_answers_are_what_the_server_alone_returns(server: ManagedServer, client: ChatClient) -> None:
    pictures = [picture(280 + 28 * n, 140, n) for n in range(4)]
    outcomes = client.ask([ChatRequest(image, PROMPT, 24) for image in pictures])
    assert [outcome.text for outcome in outcomes if isinstance(outcome, Answer)] == [
        ask_alone(server, image, 24) for image in pictures
    ]
    assert len({outcome.text for outcome in outcomes if isinstance(outcome, Answer)}) > 1
    assert all(o.completion_tokens == 24 and o.prompt_tokens > 50 for o in outcomes if isinstance(o, Answer))


def test_a_streamed_answer_is_the_same(server: ManagedServer, client: ChatClient) -> None:
    image = picture(300, 200, 5)
    whole = ask(client, image, 40)
    streaming = replace(RECOGNISERS["glm-ocr"], grow=1, stream_above=1)
    with ChatClient([server.url], streaming) as other:
        streamed = ask(other, image, 40)
    assert isinstance(whole, Answer)
    assert isinstance(streamed, Answer)
    assert (streamed.text, streamed.completion_tokens) == (whole.text, 40)
    assert streamed.finish_reason == "length"


def test_a_loop_is_cut_while_it_streams(server: ManagedServer) -> None:
    only = {"temperature": 0.0, "allowed_token_ids": [ord("E") - ord("!")]}  # the tokenizer's first is "!"
    loops = replace(RECOGNISERS["glm-ocr"], grow=1, stream_above=1, sampling=only, again=only)
    with ChatClient([server.url], loops) as client:
        answer = ask(client, picture(112, 112), 1_900)
        stats = client.stats()
    assert isinstance(answer, Answer)
    assert answer.finish_reason == "repetition"
    assert answer.attempts == 2
    assert answer.text == "E"
    assert stats["loops_cut"] == 2
    assert stats["completion_tokens"] < 2 * 1_900  # it did not wait for the end


def test_a_picture_over_the_context_is_scaled_and_read(client: ChatClient) -> None:
    answer = ask(client, picture(2_000, 2_000))
    assert isinstance(answer, Answer)
    assert answer.attempts == 2
    assert "takes 5066 tokens, and the server's context holds 2048" in answer.notes[0]
    assert 1_000 < answer.prompt_tokens <= 2_040


def test_a_picture_over_the_decoders_limit_is_scaled_and_read(client: ChatClient) -> None:
    huge = cv2.imencode(".png", np.zeros((13_500, 13_500), np.uint8))[1].tobytes()
    answer = ask(client, huge)
    assert isinstance(answer, Answer), answer
    assert "182250000 pixels" in answer.notes[0]


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (b"%PDF-1.7 not a picture", "cannot decode the picture: Failed to load image: cannot identify"),
        (b"", "cannot decode the picture"),
        (picture(320, 200)[:-66], "image file is truncated"),
        (picture(2_000, 4), "cannot take a picture of 2000 x 4 pixels"),
        (picture(9_000, 28), "cannot take a picture of 9000 x 28 pixels"),
    ],
)
def test_a_picture_it_cannot_take_is_a_sentence(client: ChatClient, image: bytes, words: str) -> None:
    outcome = ask(client, image)
    assert isinstance(outcome, EngineError)
    assert words in outcome.message
    assert len(outcome.message) < 400


def test_an_unknown_model_is_a_sentence(server: ManagedServer) -> None:
    words = "`nope` does not exist. Valid aliases: glm-ocr"
    with ChatClient([server.url], PLAIN, model="nope") as client, pytest.raises(OpenError, match=words):
        ask(client, picture(100, 100))


def test_a_budget_beyond_the_context_is_clamped_and_told(client: ChatClient) -> None:
    answer = ask(client, picture(900, 900), 4_000)
    assert isinstance(answer, Answer)
    assert answer.finish_reason == "length"
    assert answer.prompt_tokens + answer.completion_tokens == 2_048
    assert "cut off" in answer.notes[-1]


def test_more_than_it_runs_at_once_waits_in_its_queue(server: ManagedServer) -> None:
    with ChatClient([server.url], PLAIN, limit=32) as client:
        outcomes = client.ask([ChatRequest(picture(150, 80, n), PROMPT, 16) for n in range(64)])
        stats = client.stats()
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert stats["filled"] >= 0.95
    assert stats["servers"][0]["model"] == "glm-ocr"


def test_a_real_vllm_tells_how_sure_it_is_and_writes_the_same(
    server: ManagedServer, client: ChatClient
) -> None:
    image = picture(300, 200, 7)
    bare = ask(client, image, 24)
    streaming = replace(PLAIN, stream_above=1)
    answers = []
    for reader in (PLAIN, streaming):
        with ChatClient([server.url], reader, logprobs=True) as sure:
            answers.append(ask(sure, image, 24))
    for answer in answers:
        assert isinstance(answer, Answer) and isinstance(bare, Answer)
        assert answer.text == bare.text
        assert answer.sureness is not None
        assert 0 < answer.sureness.least <= answer.sureness.mean <= 1
