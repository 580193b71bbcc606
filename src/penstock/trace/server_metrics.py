"""What model servers say of themselves while a run uses them, read once a second from /metrics.

Counters are taken from the first answer to the last, so a server that ran before counts from where it
stood, and one that was restarted goes on. What other clients ask of it meanwhile is counted as well.
"""

from __future__ import annotations

import http.client
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from penstock.trace import prometheus
from penstock.trace.bounds import Limits
from penstock.trace.timeline import Gauge, Timeline, added

DEADLINE_S = 2.0  # for one look; an idle server takes some ms, a busy front end up to a second
MOST_BYTES = 16 * 2**20  # an answer is 50 kB; more than this is no /metrics

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
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # as the client asks them

Listener = Callable[[str, Limits, int], None]
_listeners: list[Listener] = []
_listening = threading.Lock()


def announce(url: str, command: Sequence[str] = (), in_flight: int = 0) -> None:
    """Tells the watch of this process, if there is one, of a server that was started for its run.

    `command` is what it was started with, `in_flight` what the client allows over all its servers.
    """
    with _listening:
        listeners = list(_listeners)
    for listener in listeners:
        listener(url, Limits.of_command(command), in_flight)


def listen(listener: Listener) -> None:
    with _listening:
        _listeners.append(listener)


def unlisten(listener: Listener) -> None:
    with _listening:
        _listeners.remove(listener)


@dataclass
class _Seen:
    """What was added up over the looks."""

    running: Gauge = field(default_factory=Gauge)
    waiting: Gauge = field(default_factory=Gauge)
    kv: Gauge = field(default_factory=Gauge)
    counted: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    kv_tokens: int | None = None
    looks: int = 0
    missed: int = 0


class ServerSampler:
    """Looks at one server when told to. Used by one thread; `summary` when that has ended."""

    def __init__(
        self, url: str, number: int, timeline: Timeline, limits: Limits, deadline_s: float = DEADLINE_S
    ) -> None:
        self.url = url
        self.limits = limits
        self.alive = True  # until it turns out to have no metrics
        self._number = number
        self._timeline = timeline
        self._deadline_s = deadline_s
        self._seen = _Seen()

    def look(self, at: float) -> None:
        self._seen.looks += 1
        try:
            text = fetch(self.url + "/metrics", self._deadline_s)
        except urllib.error.HTTPError as exc:
            self.alive = exc.code >= 500  # starting, or behind a proxy that waits for it
            exc.close()
            text = b""
        except (OSError, ValueError, http.client.HTTPException):  # not up, gone, slow, half an answer
            text = b""
        if not self._take(text, at):
            self._seen.missed += 1

    def close(self) -> None:
        """No connection is held between two looks."""

    def summary(self) -> dict[str, Any]:
        seen = self._seen
        counted = {name: seen.counted[name] for name in COUNTERS if name in seen.counted}
        return {
            "url": _without_password(self.url),
            "looks": seen.looks,
            "missed": seen.missed,
            "running": seen.running.summary(),
            "waiting": seen.waiting.summary(),
            "kv": seen.kv.summary(),
            "kv_tokens": seen.kv_tokens,
            "prefix_hit_share": _share(counted.pop("prefix_hits", None), counted.pop("prefix_queries", None)),
            "mm_hit_share": _share(counted.pop("mm_hits", None), counted.pop("mm_queries", None)),
            "mean_step_tokens": _share(counted.pop("step_tokens", None), counted.pop("steps", None)),
            **{name: round(value) for name, value in counted.items()},
        }

    def _take(self, text: bytes, at: float) -> bool:
        found = prometheus.values(text, _NAMES)
        if not found[RUNNING]:
            return False
        running, waiting = sum(found[RUNNING]), sum(found[WAITING])
        numbers = {f"running/{self._number}": running, f"waiting/{self._number}": waiting}
        use = sum(found[KV]) / len(found[KV]) if found[KV] else None  # one number for each engine
        if use is not None:
            numbers[f"kv/{self._number}"] = use
        self._timeline.add(at, numbers)
        if running or waiting:  # the mean is of its work; that it idled before says nothing of it
            self._weigh(running, waiting, use)
        self._count({name: sum(found[metric]) for name, metric in COUNTERS.items() if found[metric]})
        self._seen.kv_tokens = self._seen.kv_tokens or _kv_tokens(text)
        return True

    def _weigh(self, running: float, waiting: float, use: float | None) -> None:
        self._seen.running.add(running)
        self._seen.waiting.add(waiting)
        if use is not None:
            self._seen.kv.add(use)

    def _count(self, now: dict[str, float]) -> None:
        seen = self._seen
        for name, value in now.items():
            before = seen.last.get(name)
            # below what it was: restarted, and counting from 0 again
            grown = 0.0 if before is None else value - before if value >= before else value
            seen.counted[name] = seen.counted.get(name, 0.0) + grown
        seen.last |= now


def summary(samplers: Sequence[ServerSampler], timeline: Timeline) -> dict[str, Any]:
    """All servers together: each one's summary, and the sums over time. Empty if none has answered."""
    each = [sampler.summary() for sampler in samplers]
    if all(one["missed"] == one["looks"] for one in each):
        return {}

    def lines(name: str) -> list[list[float | None]]:
        return [timeline.means(f"{name}/{number}") for number in range(len(samplers))]

    return {
        "each": each,
        "timeline": {
            "bin_s": timeline.bin_s,
            "running": added(lines("running")),
            "waiting": added(lines("waiting")),
            "kv": lines("kv"),
        },
    }


def fetch(url: str, deadline_s: float) -> bytes:
    """The answer's body, whole within the deadline and of a sane size, or an OSError."""
    end = time.monotonic() + deadline_s
    with _DIRECT.open(url, timeout=deadline_s) as response:
        pieces = b""
        # a socket's timeout starts anew with every byte, so a trickle could hold us for ever
        while piece := response.read1(65_536):
            pieces += piece
            if time.monotonic() > end or len(pieces) > MOST_BYTES:
                raise TimeoutError(f"{url} did not end within {deadline_s:g} s and {MOST_BYTES} bytes")
        return pieces


def _kv_tokens(text: bytes) -> int | None:
    """Tokens the KV cache has room for: what the server says, or its blocks."""
    for row in prometheus.labels(text, CACHE):
        told = row.get("kv_cache_size_tokens", "")
        if told.isdigit():
            return int(told)
        blocks, size = row.get("num_gpu_blocks", ""), row.get("block_size", "")
        if blocks.isdigit() and size.isdigit():
            return int(blocks) * int(size)
    return None


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
