"""What the chat client goes by: addresses, refusals, the limit of requests in flight."""

from __future__ import annotations

import pytest

from penstock.engines.chat.address import base_url
from penstock.engines.chat.client import ChatClient
from penstock.engines.chat.errors import understand
from penstock.engines.chat.limit import Fill, Limit
from penstock.engines.chat.recognisers import recogniser
from penstock.errors import UsageError
from penstock.trace import vllm_metrics
from tests.support.asking import GLM


def test_addresses_are_understood_in_every_form() -> None:
    for address in ("h:8000", "http://h:8000/", "http://h:8000/v1", "http://h:8000/v1/chat/completions"):
        assert base_url(address) == "http://h:8000"
    assert base_url("https://x.org/llm/v1/") == "https://x.org/llm"
    with pytest.raises(UsageError, match="not the address"):
        base_url("ftp://x")
    with pytest.raises(UsageError, match="No server"):
        ChatClient([], GLM)


def test_an_unknown_recogniser_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="glm-ocr"):
        recogniser("nope")


@pytest.mark.parametrize(
    ("status", "body", "remedy", "words"),
    [
        (400, b'{"error":{"message":"Non-base64 digit found","code":400}}', "none", "Non-base64"),
        (401, b'{"error":"Unauthorized"}', "none", "Unauthorized"),
        (404, b'{"detail":"Not Found"}', "none", "Not Found"),
        (422, b'{"detail":[{"msg":"field required"},{"msg":"bad"}]}', "none", "field required; bad"),
        (502, b"<html><h1>Bad Gateway</h1></html>", "again", "Bad Gateway"),
        (503, b"", "wait", "HTTP 503"),
        (
            500,
            b'{"error":{"message":"Image size (400000000 pixels) exceeds limit of 178956970 pixels, could be '
            b'decompression bomb DOS attack."}}',
            "shrink",
            "400000000 pixels",
        ),
        (
            400,
            b'{"error":{"message":"At most 1 image(s) may be provided in one prompt."}}',
            "none",
            "At most 1",
        ),
    ],
)
def test_refusals_in_every_shape_are_understood(status: int, body: bytes, remedy: str, words: str) -> None:
    refusal = understand(status, body)
    assert refusal.remedy == remedy
    assert words in refusal.reason


def test_retry_after_is_honoured() -> None:
    assert understand(429, b"", "7").retry_after_s == 7.0
    assert understand(429, b"", "Wed, 21 Oct 2026 07:28:00 GMT").retry_after_s is None


def test_the_limit_falls_quickly_and_rises_slowly() -> None:
    limit = Limit(100)
    limit.refused(now=10.0)
    limit.refused(now=10.1)  # the same burst
    assert limit.now == 70
    for _ in range(70):
        limit.answered(0.1, was_full=True, now=11.0)
    assert limit.now == 73
    for _ in range(100):
        limit.answered(0.1, was_full=False, now=11.0)
    assert limit.now == 73


def test_the_limit_follows_the_servers_own_queue() -> None:
    limit = Limit(512)
    for second in range(3):
        limit.looked(running=128, waiting=384, now=10.0 + 2 * second)
    assert limit.now == int(0.7 * 512)
    for second in range(30):
        limit.looked(running=128, waiting=max(0, limit.now - 128), now=20.0 + 2 * second)
    assert 128 < limit.now < 260  # what runs, and at most one more round waiting
    for _ in range(20):
        limit.looked(running=limit.now, waiting=0, now=100.0)
    assert limit.now == 512


def test_answers_that_near_their_timeout_lower_the_limit() -> None:
    limit = Limit(64, timeout_s=10.0)
    for second in range(60):
        limit.answered(8.0, was_full=True, now=float(second))
    assert limit.now < 40


def test_a_fixed_limit_stays() -> None:
    limit = Limit(64, dynamic=False)
    limit.refused(now=1.0)
    assert limit.now == 64


def test_fill_counts_only_the_time_in_which_it_could_have_been_full() -> None:
    fill = Fill()
    fill.note(0, 0, 8, now=0.0)
    fill.note(4, 8, 8, now=10.0)  # ten idle seconds do not count
    fill.note(8, 4, 8, now=11.0)
    fill.note(3, 0, 8, now=14.0)
    fill.note(0, 0, 8, now=99.0)
    assert fill.ready_s == pytest.approx(4.0)
    assert fill.share == pytest.approx((0.5 + 3.0) / 4)


def test_load_is_summed_over_engines() -> None:
    text = b'# HELP x\nvllm:num_requests_running{engine="0"} 3.0\nvllm:num_requests_running{engine="1"} 4.0\n'
    text += (
        b'vllm:num_requests_waiting{engine="0"} 1.0\nvllm:num_requests_waiting_by_reason{reason="c"} 9.0\n'
    )
    found = vllm_metrics.read(text)
    assert found is not None and (found.running, found.waiting) == (7, 1)
    assert vllm_metrics.read(b"other 1.0\n") is None
