"""The watch over cards and servers: what it reads, what it adds up, and that nothing it meets ends a run."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.testing.fake_server import FakeServer, serving
from penstock.trace import prometheus, vllm_metrics
from penstock.trace import server_metrics as servers
from penstock.trace.bounds import Limits
from penstock.trace.profile import MeanAndPeak, Profile
from penstock.trace.server_metrics import ServerSampler
from penstock.trace.timeline import MAX_BINS, Timeline
from penstock.trace.watch import RunWatch
from tests.support.waiting import wait_until

LABELS = '{engine="0",model_name="tiny} glm"}'


def metrics(**more: float) -> str:
    """What vLLM 0.32 writes, as far as we read it."""
    now = {
        "running": 3, "waiting": 2, "kv": 0.25, "requests": 10, "prompt": 10_000, "cached": 2_000,
        "out": 2_000, "preempted": 0, "queries": 10_000, "hits": 2_000, "mm_queries": 10, "mm_hits": 1,
        "steps": 100,
    } | more  # fmt: skip
    return f"""# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{LABELS} {float(now["running"])}
vllm:num_requests_waiting{LABELS} {float(now["waiting"])}
vllm:num_requests_waiting_by_reason{{engine="0",model_name="tiny",reason="capacity"}} 77.0
vllm:kv_cache_usage_perc{LABELS} {now["kv"]}
vllm:prefix_cache_queries_total{LABELS} {now["queries"]}
vllm:prefix_cache_queries_created{LABELS} 1.79e+09
vllm:prefix_cache_hits_total{LABELS} {now["hits"]}
vllm:mm_cache_queries_total{LABELS} {now["mm_queries"]}
vllm:mm_cache_hits_total{LABELS} {now["mm_hits"]}
vllm:num_preemptions_total{LABELS} {now["preempted"]}
vllm:prompt_tokens_total{LABELS} {now["prompt"]}
vllm:prompt_tokens_cached_total{LABELS} {now["cached"]}
vllm:generation_tokens_total{LABELS} {now["out"]}
vllm:request_success_total{{engine="0",finished_reason="stop",model_name="tiny"}} {now["requests"] - 1}
vllm:request_success_total{{engine="0",finished_reason="length",model_name="tiny"}} 1.0
vllm:request_success_total{{engine="0",finished_reason="abort",model_name="tiny"}} NaN
vllm:iteration_tokens_total_bucket{{engine="0",le="+Inf",model_name="tiny"}} 100.0
vllm:iteration_tokens_total_count{LABELS} {now["steps"]}
vllm:iteration_tokens_total_sum{LABELS} {now["steps"] * 120}
vllm:cache_config_info{{block_size="128",engine="0",kv_cache_size_tokens="None",num_gpu_blocks="500"}} 1.0
"""


@contextmanager
def answering(answer: Callable[[http.server.BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

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


def says(*texts: str, asked: list[str] | None = None) -> Callable[[http.server.BaseHTTPRequestHandler], None]:
    """One text after another, then the last again and again. `asked` gets each."""
    left = list(texts)

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        text = left.pop(0) if len(left) > 1 else left[0]
        if asked is not None:
            asked.append(text)
        body = text.encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def sampler(url: str, deadline_s: float = 5.0) -> ServerSampler:
    return ServerSampler(url, 0, Timeline(), Limits(), deadline_s)


@pytest.fixture
def without_cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("penstock.trace.gpu._Nvml.open", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))


RUN = Profile(items=5, seconds=10.0, regions=40)


def test_only_the_metrics_asked_for_are_read() -> None:
    names = ("vllm:num_requests_waiting", "vllm:request_success_total", "vllm:not_there")
    assert prometheus.values(metrics().encode(), names) == {
        "vllm:num_requests_waiting": [2.0],
        "vllm:request_success_total": [9.0, 1.0],
        "vllm:not_there": [],
    }
    rows = prometheus.labels(b'a_info{x="1",path="C:\\\\ \\"}",y=""} 1.0\n', "a_info")
    assert rows == [{"x": "1", "path": 'C:\\\\ \\"}', "y": ""}]


def test_load_is_what_runs_and_what_waits() -> None:
    load = vllm_metrics.read(metrics().encode())
    assert load is not None
    assert (load.running, load.waiting) == (3, 2)
    assert vllm_metrics.read(b"process_cpu_seconds_total 1\n") is None


def test_counters_start_where_the_server_stood_and_survive_its_restart() -> None:
    looks = [
        metrics(prompt=10_000, requests=10, hits=2_000, queries=10_000),
        metrics(prompt=16_000, requests=16, hits=5_000, queries=16_000),
        metrics(prompt=500, requests=3, hits=0, queries=500),
    ]
    with answering(says(*looks)) as url:
        one = sampler(url)
        for at in range(3):
            one.look(float(at))
    found = one.summary()
    assert (found.prompt_tokens, found.requests) == (6_500, 9)
    assert (found.busy_s, found.prompt_tokens_per_s) == (2.0, 3_250.0)  # it had work at each of three looks
    assert found.prefix_hit_share == pytest.approx(3_000 / 6_500)
    assert found.mean_step_tokens is None  # no step since the first look
    assert found.kv_tokens == 500 * 128
    assert found.running == MeanAndPeak(3.0, 3.0)
    assert found.kv == MeanAndPeak(0.25, 0.25)


def test_an_idle_server_does_not_lower_the_mean_of_its_work() -> None:
    idle = metrics(running=0, waiting=0, kv=0.0)
    with answering(says(idle, idle, metrics(running=8, waiting=0, kv=0.5))) as url:
        one = sampler(url)
        for at in range(3):
            one.look(float(at))
    assert one.summary().running == MeanAndPeak(8.0, 8.0)


def test_a_server_without_metrics_is_asked_once() -> None:
    def refuse(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_error(404)

    with answering(refuse) as url:
        one = sampler(url)
        one.look(0.0)
    assert not one.alive
    assert servers.summary([one], Timeline()) is None


def test_a_server_that_trickles_is_left_in_time() -> None:
    stop = threading.Event()

    def trickle(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not stop.wait(0.05):
            try:
                handler.wfile.write(b"# more\n")
            except OSError:
                return

    with answering(trickle) as url:
        one = sampler(url, deadline_s=0.3)
        one.look(0.0)  # comes back, although the answer never ends
        stop.set()
    assert one.alive
    assert one.summary().missed == 1


@pytest.mark.parametrize(
    "text", [b"\xff\xfe\x00", b"<html>A proxy's page</html>", b"vllm:num_requests_running oops\n"]
)
def test_an_answer_that_is_no_metrics_is_a_miss(text: bytes) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(text)

    with answering(answer) as url:
        one = sampler(url)
        one.look(0.0)
    assert one.summary().missed == 1


def test_a_broken_answer_or_a_closed_port_is_a_miss() -> None:
    def half(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nvllm:")

    with answering(half) as url:
        one = sampler(url)
        one.look(0.0)
    one.look(1.0)  # now nobody listens there
    assert one.summary().missed == 2
    assert one.alive


def test_a_password_in_the_address_is_not_told() -> None:
    assert sampler("http://me:secret@localhost:1").summary().url == "http://localhost:1"


@pytest.mark.usefixtures("without_cards")
def test_a_watch_over_nothing_has_no_thread_and_nothing_to_say() -> None:
    before = threading.active_count()
    with RunWatch() as watch:
        assert threading.active_count() == before
    assert watch.add_to(RUN) == RUN


@pytest.mark.usefixtures("without_cards")
def test_a_watch_tells_servers_bounds_and_cost() -> None:
    after = metrics(running=4, prompt=30_000, out=8_000, requests=30, cached=2_000, steps=200)
    asked: list[str] = []
    with answering(says(metrics(), after, asked=asked)) as url:
        limits = {url: Limits(max_num_seqs=4, max_num_batched_tokens=2_048)}
        with RunWatch([url, url], limits=limits, in_flight=16, every_s=0.05) as watch:
            wait_until(lambda: len(asked) >= 5)
        assert [t.name for t in threading.enumerate() if t.name.startswith("watch")] == []
    told = watch.add_to(RUN)
    assert told.servers and told.bounds and told.cost and told.gpu is None
    (server,) = told.servers.each
    assert server.requests == 20
    assert server.mean_step_tokens == 120
    assert told.bounds.each == {"in_flight": 16, "sequences": 4, "kv": 64_000 // 1_300, "step": 2}
    assert told.servers.timeline.running[0] == pytest.approx(4, abs=1)
    assert told.cost.prompt_tokens_per_page == 4_000
    assert told.cost.regions_per_page == 8


@pytest.mark.usefixtures("without_cards")
def test_a_server_that_is_started_later_is_announced() -> None:
    command = ["vllm", "serve", "model", "--max-num-seqs", "64", "--max-num-batched-tokens=8192"]
    asked: list[str] = []
    with answering(says(metrics(), metrics(requests=12, prompt=12_000), asked=asked)) as url:
        servers.announce(url, command, 32)  # nobody watches yet
        with RunWatch(every_s=0.05) as watch:
            servers.announce(url, command, 32)
            servers.announce(url, in_flight=32)
            wait_until(lambda: len(asked) >= 4)
    told = watch.add_to(RUN)
    assert told.servers and told.bounds
    assert told.bounds.each["sequences"] == 64
    assert told.bounds.each["in_flight"] == 32
    assert len(told.servers.each) == 1


@pytest.mark.usefixtures("without_cards")
def test_a_dead_server_does_not_hold_the_end_of_a_run() -> None:
    with RunWatch(["http://127.0.0.1:9"], every_s=0.05) as watch:
        pass
    assert watch.add_to(RUN) == RUN


@pytest.mark.usefixtures("without_cards")
def test_the_fake_server_is_watched_like_a_real_one() -> None:
    with serving(FakeServer()) as url, RunWatch([url], every_s=0.05) as watch:
        wait_until(lambda: watch._servers[0].summary().samples >= 3)
    told = watch.add_to(RUN)
    assert told.servers
    (server,) = told.servers.each
    assert server.missed < server.samples
    assert server.running is None  # nobody asked it anything


def test_a_long_run_keeps_a_bounded_timeline_of_true_means() -> None:
    line = Timeline()
    for second in range(10_000):
        line.add(float(second), {"load": 1.0 if second < 5_000 else 0.0})
    means = line.means("load")
    assert MAX_BINS / 2 < len(means) <= MAX_BINS
    assert line.bin_s == 64.0
    assert (means[0], means[-1]) == (1.0, 0.0)
    line.add(10_000.0, {"late": 5.0})
    assert line.means("late")[:2] == (None, None)
