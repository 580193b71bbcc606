"""A run's spans on disk, and the trace that viewers open."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import StoreError, UsageError
from penstock.passes.prepared_run import write_profile
from penstock.trace.chrome import SpanLog, write_trace
from penstock.trace.profile import (
    CardProfile,
    GpuProfile,
    GpuTimeline,
    HardwareFacts,
    Profile,
    ServersProfile,
    ServersTimeline,
)
from penstock.trace.spans import Laps, Span, StageInfo, Trace
from tests.support.command import here


def events(path: Path, phase: str) -> list[dict[str, Any]]:
    return [event for event in json.loads(path.read_text("utf-8"))["traceEvents"] if event["ph"] == phase]


def test_spans_become_rows_of_time_for_each_worker(tmp_path: Path) -> None:
    now = [100.0]
    with SpanLog(tmp_path / "trace.jsonl", clock=lambda: now[0]) as log:
        trace = Trace(clock=lambda: now[0], sink=log)
        load, read = Laps(trace, "load", "load-0"), Laps(trace, "읽기", "읽기-0")
        now[0] = 100.5
        load.lap("open")
        read.lap("starved")
        now[0] = 101.0
        load.lap("run", items=2)
    assert write_trace(tmp_path, tmp_path / "out.json") == 3
    names = [event["args"]["name"] for event in events(tmp_path / "out.json", "M") if "name" in event["args"]]
    assert names == ["load", "load-0", "읽기", "읽기-0", "machine"]
    opened, starved, ran = events(tmp_path / "out.json", "X")
    assert (opened["ts"], opened["dur"], opened["name"]) == (0, 500_000, "open")
    assert (ran["ts"], ran["dur"], ran["args"]) == (500_000, 500_000, {"items": 2})
    assert (opened["pid"], opened["tid"]) == (ran["pid"], ran["tid"]) != (starved["pid"], starved["tid"])


def test_what_was_watched_becomes_counters(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text("")
    profile = Profile(
        gpu=GpuProfile(cards=(CardProfile(3),), timeline=GpuTimeline(2.0, ((0.5, None, 1.0),))),
        servers=ServersProfile(timeline=ServersTimeline(2.0, (4.0,), (0.0,), ((0.25,),))),
    )
    assert write_trace(tmp_path, tmp_path / "out.json", profile) == 0
    counted = [(e["name"], e["ts"], e["args"]["value"]) for e in events(tmp_path / "out.json", "C")]
    assert counted == [
        ("GPU 3 load, %", 0, 50.0), ("GPU 3 load, %", 4_000_000, 100.0), ("requests running", 0, 4.0),
        ("requests waiting", 0, 0.0), ("KV cache 0, %", 0, 25.0),
    ]  # fmt: skip


def test_a_killed_run_leaves_a_trace_that_can_be_read(tmp_path: Path) -> None:
    good = '["load","load-0","run",0.0,1.0,1]\n'
    (tmp_path / "trace.jsonl").write_text(good + "{}\nnull\n" + good + '["load","load-0","ru')
    assert write_trace(tmp_path, tmp_path / "out.json") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "trace.jsonl"]


def test_the_log_is_bounded_and_counts_what_it_drops(tmp_path: Path) -> None:
    log = SpanLog(tmp_path / "trace.jsonl", max_bytes=200)
    for _ in range(100):
        log(Span("load", "load-0", "run", 0.0, 1.0, 1))
    log.close()
    log.close()
    log(Span("load", "load-0", "run", 0.0, 1.0, 1))
    lines = (tmp_path / "trace.jsonl").read_text().splitlines()
    assert 0 < len(lines) < 8
    assert log.dropped == 101 - len(lines)


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    with SpanLog(tmp_path / "trace.jsonl") as log:

        def work(number: int) -> None:
            for at in range(300):
                log(Span("load", f"load-{number}", "run", float(at), 0.5, 1))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert write_trace(tmp_path, tmp_path / "out.json") == 1_200


def test_the_file_is_opened_with_the_first_span(tmp_path: Path) -> None:
    with SpanLog(tmp_path / "out" / "trace.jsonl") as log:
        assert not (tmp_path / "out").exists()  # it is the run's to make, or to clear
        log(Span("load", "load-0", "run", 0.0, 1.0, 1))
    assert (tmp_path / "out" / "trace.jsonl").read_text().count("\n") == 1


def test_a_log_that_cannot_be_written_says_so_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with SpanLog(tmp_path / "file" / "trace.jsonl") as log:
        for _ in range(3):
            log(Span("load", "load-0", "run", 0.0, 1.0, 1))
    assert log.dropped == 3
    assert log.trouble.startswith("Cannot write")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").symlink_to("/dev/full")
    with SpanLog(tmp_path / "trace.jsonl") as log:
        log(Span("load", "load-0", "run", 0.0, 1.0, 1))
    assert "No space left" in log.trouble


def test_troubles_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no trace\.jsonl\. Run .* --trace"):
        write_trace(tmp_path, tmp_path / "out.json")
    (tmp_path / "trace.jsonl").write_text("")
    with pytest.raises(StoreError, match=r"Cannot write .*out\.json: No such file"):
        write_trace(tmp_path, tmp_path / "gone" / "out.json")


def test_the_command_writes_the_trace_and_tells_a_price(tmp_path: Path) -> None:
    with SpanLog(tmp_path / "trace.jsonl") as log:
        trace = Trace(sink=log)
        Laps(trace, "load", "load-0").lap("run", items=1)
    hardware = HardwareFacts(cpu="A CPU", cores=2)
    write_profile(replace(trace.profile([StageInfo("load")]), items=1, hardware=hardware), tmp_path)
    target = tmp_path / "out.json"
    command = ["profile", tmp_path, "--trace", target, "--price", "2"]
    done = here(*command)
    assert done.returncode == 0, done.stderr
    assert "1 span;" in done.stdout
    assert " at 2 an hour." in done.stdout
    assert len(events(target, "X")) == 1
    done = here(*command, "--json")
    assert json.loads(done.stdout)["cost"]["price"] == 2
