"""The reader of vLLM's /metrics: what it sums, what it is not fooled by, and how it fails."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from penstock.trace import vllm_metrics

TWO_ENGINES = b"""vllm:num_requests_running{engine="0"} 3.0
vllm:num_requests_running{engine="1"} 4.0
vllm:num_requests_waiting{engine="0"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 77.0
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.4
vllm:prompt_tokens_total{engine="0"} 100
vllm:generation_tokens_total{engine="1"} 20
vllm:cache_config_info{block_size="128",kv_cache_size_tokens="None",num_gpu_blocks="500"} 1.0
"""


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "1000" if body == b"half" else str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="metrics")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_requests_add_up_over_engines_and_the_kv_use_is_their_mean() -> None:
    found = vllm_metrics.read(TWO_ENGINES)
    assert found is not None
    assert (found.running, found.waiting) == (7.0, 1.0)
    assert found.kv_use == pytest.approx(0.3)
    assert found.counters == {"prompt_tokens": 100, "generation_tokens": 20}
    assert found.tokens == 120
    assert vllm_metrics.kv_tokens(TWO_ENGINES) == 500 * 128


@pytest.mark.parametrize("text", [b"", b"process_cpu_seconds_total 1\n", b"vllm:num_requests_running oops\n"])
def test_another_servers_text_is_none(text: bytes) -> None:
    assert vllm_metrics.read(text) is None
    assert vllm_metrics.kv_tokens(text) is None


def test_the_whole_answer_is_fetched() -> None:
    with answering(200, TWO_ENGINES) as url:
        assert vllm_metrics.fetch(url, 5.0) == TWO_ENGINES


@pytest.mark.parametrize(("status", "body"), [(404, b""), (503, b"starting"), (200, b"half")])
def test_a_refusal_or_half_an_answer_is_an_os_error(status: int, body: bytes) -> None:
    with answering(status, body) as url, pytest.raises(OSError):
        vllm_metrics.fetch(url, 5.0)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://127.0.0.1:no", "nonsense"])
def test_an_address_without_a_server_is_an_os_error(url: str) -> None:
    with pytest.raises(OSError):
        vllm_metrics.fetch(url, 5.0)
