"""Profiles of made-up runs, with numbers that are easy to add up by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.trace.bounds import Limits, bounds
from penstock.trace.cost import cost
from penstock.trace.profile import (
    CardProfile,
    GpuProfile,
    GpuTimeline,
    HardwareFacts,
    MeanAndPeak,
    PhaseProfile,
    Profile,
    RequestsProfile,
    ServerProfile,
    ServersProfile,
    ServersTimeline,
    StageProfile,
    StageTimeline,
)

SECONDS = 40.0


def stage(name: str, busy: float, starved: float, blocked: float, **more: Any) -> StageProfile:
    busy_s = busy * SECONDS
    made = {
        "name": name, "workers": 1, "overlap": 1, "process": False, "items": 80, "calls": 80, "failed": 0,
        "restarts": 0, "open_s": 0.4, "busy": busy, "starved": starved, "blocked": blocked, "busy_s": busy_s,
        "items_per_s": 2.0, "capacity_per_s": 80 / busy_s if busy_s else 0.0, "batch_fill": 1.0,
        "p50_ms": 61.0, "p95_ms": 140.0,
    }  # fmt: skip
    return StageProfile(**{**made, **more})


MACHINE = HardwareFacts(cpu="A CPU", cores=2, memory_gib=23.5)


def profile(**more: Any) -> Profile:
    stages = (
        stage("load", 0.31, 0.08, 0.61, process=True, workers=2),
        stage("recognise", 0.97, 0.03, 0.0, calls=10, batch_fill=0.92, open_s=2.0),
        stage("compose", 0.12, 0.88, 0.0),
    )
    bins = {one.name: ((one.busy, one.starved, one.blocked),) * 40 for one in stages}
    made = {
        "started": "2026-11-15T10:21:07+09:00", "seconds": SECONDS, "items": 78, "failed": 2,
        "skipped": 0, "executor": "local", "command": "penstock parse in -o out",
        "hardware": MACHINE, "peak_rss_mb": 812.3, "stages": stages, "timeline": StageTimeline(1.0, bins),
        "bottleneck": "recognise",
    }  # fmt: skip
    return Profile(**{**made, **more})


def nothing_ran() -> Profile:
    idle = stage("load", 0.0, 1.0, 0.0, items=0, calls=0, batch_fill=0.0, p50_ms=0.0, p95_ms=0.0)
    timeline = StageTimeline(1.0, {"load": ()})
    return profile(stages=(idle,), items=0, failed=0, seconds=0.0, timeline=timeline, bottleneck="")


def watched(**more: Any) -> Profile:
    """A run that had two cards and two servers."""
    ramp = tuple(min(1.0, second / 8) for second in range(39))
    card = CardProfile(
        index=0, name="NVIDIA H200", load=MeanAndPeak(0.93, 1.0), load_p50=0.97,
        bandwidth=MeanAndPeak(0.41, 0.72), memory_mean_mb=122_880.0, memory_peak_mb=131_072.0,
        memory_total_mb=143_771.0, power_w=MeanAndPeak(588.0, 701.0), energy_wh=6.5,
    )  # fmt: skip
    server = ServerProfile(
        url="http://127.0.0.1:8000", samples=40, running=MeanAndPeak(480.0, 512.0),
        waiting=MeanAndPeak(12.0, 90.0), kv=MeanAndPeak(0.41, 0.62), kv_tokens=900_000,
        prefix_hit_share=0.02, mm_hit_share=0.0, mean_step_tokens=3_100.0, requests=320,
        prompt_tokens=260_000, generation_tokens=30_800, busy_s=35.0, prompt_tokens_per_s=7_428.6,
        generation_tokens_per_s=880.0,
    )  # fmt: skip
    timeline = ServersTimeline(
        1.0,
        tuple(960 * one for one in ramp),
        (20.0, None, 180.0) * 13,
        (tuple(0.6 * one for one in ramp), ()),
    )
    phases = (
        PhaseProfile("", 4, MeanAndPeak(0.0, 0.02), None, MeanAndPeak(900.0, 1_000.0)),
        PhaseProfile("recognise", 35, MeanAndPeak(0.97, 1.0), MeanAndPeak(0.45, 0.72), None),
    )
    over_time = GpuTimeline(1.0, (ramp, ramp[::-1]))
    gpu = GpuProfile("NVML", (card, replace(card, index=1)), 13.0, over_time, phases)
    requests = RequestsProfile(
        answered=640, failed=3, retries=7, seconds=35.0, mean_s=2.4, p50_s=0.84, p95_s=9.0, p99_s=72.0,
        slowest_s=80.0, prompt_tokens=520_000, completion_tokens=61_600, prompt_tokens_per_s=14_857.1,
        completion_tokens_per_s=1_760.0,
    )  # fmt: skip
    servers = ServersProfile((server, server), timeline)
    found = bounds(servers.each, [Limits(1_024, 32_768)] * 2, 1_024, gpu)
    made = profile(gpu=gpu, servers=servers, requests=requests, bounds=found, **more)
    return replace(made, cost=cost(made))
