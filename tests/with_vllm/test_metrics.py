"""What a real vLLM tells of itself while it works, as the profile tells it."""

from __future__ import annotations

import pytest

from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.vllm.server import ManagedServer
from penstock.trace.profile import Profile
from penstock.trace.server_metrics import announce
from penstock.trace.watch import RunWatch
from tests.with_vllm.tiny import PLAIN, PROMPT, picture

pytestmark = pytest.mark.timeout(900)  # the first test waits for the server


def test_the_watch_counts_what_the_answers_say(server: ManagedServer) -> None:
    requests = [ChatRequest(picture(320, 200, 100 + n), PROMPT, 64) for n in range(12)]
    with RunWatch(every_s=0.2) as watch, ChatClient([server.url], PLAIN, limit=8) as client:
        announce(server.url, server.command(), 8)
        answers = [answer for answer in client.ask(requests) if isinstance(answer, Answer)]
    told = watch.add_to(Profile(items=3, seconds=5.0, regions=12))
    assert told.servers and told.bounds and told.cost
    (seen,) = told.servers.each
    assert len(answers) == 12
    assert seen.requests == 12
    assert seen.prompt_tokens == sum(answer.prompt_tokens for answer in answers)
    assert seen.generation_tokens == sum(answer.completion_tokens for answer in answers)
    assert seen.running and 0 < seen.running.peak <= 4
    assert seen.kv and 0 < seen.kv.peak <= 1
    assert seen.kv_tokens and seen.kv_tokens > 2_048
    each = told.bounds.each
    assert set(each) == {"in_flight", "sequences", "kv", "step"}
    assert (each["in_flight"], each["sequences"]) == (8, 4)
    assert told.cost.generation_tokens_per_page == 256
