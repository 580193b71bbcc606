"""The reader of vLLM's /metrics, for every caller that needs a server's load.

    metrics = read(fetch("http://localhost:8000", deadline_s=2.0))

`fetch` uses the standard library; a client with its own connections passes its answer to `read`.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.trace import prometheus

MAX_BYTES = 16 * 2**20  # an answer is 50 kB; more than this is no /metrics

RUNNING, WAITING, KV = "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"
CACHE = "vllm:cache_config_info"
COUNTERS = {
    "requests": "vllm:request_success_total",
    "prompt_tokens": "vllm:prompt_tokens_total",
    "cached_tokens": "vllm:prompt_tokens_cached_total",
    "generation_tokens": "vllm:generation_tokens_total",
    "preemptions": "vllm:num_preemptions_total",
    "prefix_queries": "vllm:prefix_cache_queries_total",
    "prefix_hits": "vllm:prefix_cache_hits_total",
    "mm_queries": "vllm:mm_cache_queries_total",
    "mm_hits": "vllm:mm_cache_hits_total",
    "step_tokens": "vllm:iteration_tokens_total_sum",
    "steps": "vllm:iteration_tokens_total_count",
}
_NAMES = (RUNNING, WAITING, KV, *COUNTERS.values())


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses to be sent elsewhere: a redirect is an HTTPError like any other."""

    def redirect_request(self, *_: object) -> None:
        return None


# no proxy: the client that sends the requests uses none either
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirects)


@dataclass(frozen=True, slots=True)
class VllmMetrics:
    """What a server says of itself now, summed over its engines."""

    running: float
    waiting: float
    kv_use: float | None  # share of the KV cache in use, the mean of its engines
    counters: Mapping[str, float]  # by the names in COUNTERS, since the server started

    @property
    def tokens(self) -> float:
        """All tokens read and written so far."""
        return self.counters.get("prompt_tokens", 0.0) + self.counters.get("generation_tokens", 0.0)


def read(text: bytes) -> VllmMetrics | None:
    """None if the text does not tell how many requests run or wait: it is not vLLM's."""
    found = prometheus.values(text, _NAMES)
    if not found[RUNNING] and not found[WAITING]:
        return None
    return VllmMetrics(
        running=sum(found[RUNNING]),
        waiting=sum(found[WAITING]),
        kv_use=sum(found[KV]) / len(found[KV]) if found[KV] else None,
        counters={name: sum(found[metric]) for name, metric in COUNTERS.items() if found[metric]},
    )


def kv_tokens(text: bytes) -> int | None:
    """The tokens that the KV cache has room for: what the server says, or what its blocks hold."""
    for row in prometheus.labels(text, CACHE):
        tokens = row.get("kv_cache_size_tokens", "")
        if tokens.isdigit():
            return int(tokens)
        blocks, size = row.get("num_gpu_blocks", ""), row.get("block_size", "")
        if blocks.isdigit() and size.isdigit():
            return int(blocks) * int(size)
    return None


def fetch(server: str, deadline_s: float) -> bytes:
    """Returns the whole text of `server`/metrics. Raises OSError if it is not there within the deadline.

    An HTTPError (which is an OSError) tells the status of a server that refuses.
    """
    try:
        return _whole(server + "/metrics", deadline_s)
    except urllib.error.HTTPError as exc:
        exc.close()
        raise
    except (ValueError, http.client.HTTPException) as exc:  # not HTTP, or not an address
        raise OSError(f"{server}/metrics: {exc}") from exc


def _whole(url: str, deadline_s: float) -> bytes:
    end = time.monotonic() + deadline_s
    with DIRECT.open(url, timeout=deadline_s) as response:
        pieces = b""
        # a socket's timeout starts anew with every byte, so a trickle could hold us for ever
        while piece := response.read1(65_536):
            pieces += piece
            if time.monotonic() > end or len(pieces) > MAX_BYTES:
                raise TimeoutError(f"{url} did not end within {deadline_s:g} s and {MAX_BYTES} bytes")
        if len(pieces) < int(response.headers.get("Content-Length", 0)):  # read1 does not check it
            raise OSError(f"{url} ended after {len(pieces)} bytes")
        return pieces
