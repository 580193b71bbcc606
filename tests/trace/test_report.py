"""The profile's words and page: what they say of a run, and that they bear any run."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from penstock.errors import StoreError, UsageError
from penstock.trace import report
from penstock.trace.bounds import Limits, bounds
from penstock.trace.cost import cost

SECONDS = 40.0


def stage(name: str, busy: float, starved: float, blocked: float, **more: Any) -> dict[str, Any]:
    busy_s = busy * SECONDS
    made = {
        "name": name, "workers": 1, "overlap": 1, "process": False, "items": 80, "calls": 80, "failed": 0,
        "restarts": 0, "open_s": 0.4, "busy": busy, "starved": starved, "blocked": blocked, "busy_s": busy_s,
        "items_per_s": 2.0, "capacity_per_s": 80 / busy_s if busy_s else None, "batch_fill": 1.0,
        "p50_ms": 61.0, "p95_ms": 140.0,
    }  # fmt: skip
    return {**made, **more}


def profile(**more: Any) -> dict[str, Any]:
    stages = [
        stage("load", 0.31, 0.08, 0.61, process=True, workers=2),
        stage("recognise", 0.97, 0.03, 0.0, calls=10, batch_fill=0.92, open_s=2.0),
        stage("compose", 0.12, 0.88, 0.0),
    ]
    bins = {one["name"]: [[one["busy"], one["starved"], one["blocked"]]] * 40 for one in stages}
    made = {
        "version": 1, "started": "2026-11-15T10:21:07+09:00", "seconds": SECONDS, "items": 78, "failed": 2,
        "skipped": 0, "executor": "local", "command": "penstock parse in -o out",
        "hardware": {"cpu": "A CPU", "cores": 2, "memory_gb": 23.5, "gpus": []}, "peak_rss_mb": 812.3,
        "stages": stages, "timeline": {"bin_s": 1.0, "stages": bins}, "bottleneck": "recognise",
    }  # fmt: skip
    return {**made, **more}


def nothing_ran() -> dict[str, Any]:
    idle = stage("load", 0.0, 1.0, 0.0, items=0, calls=0, batch_fill=None, p50_ms=None, p95_ms=None)
    timeline = {"bin_s": 1.0, "stages": {"load": []}}
    return profile(stages=[idle], items=0, failed=0, seconds=0.0, timeline=timeline, bottleneck=None)


def test_the_sentence_names_the_bottleneck_who_waits_for_it_and_how_full_batches_are() -> None:
    told = report.finding(profile())
    assert told == (
        "Bottleneck: recognise, busy 97 %; load blocked 61 %; compose starved 88 %. Batches 92 % full."
    )
    assert report.bottleneck_sentence(profile()).startswith(told)


def test_a_stage_that_takes_one_item_a_call_has_no_word_on_batches() -> None:
    told = report.finding(profile(bottleneck="load"))
    assert told == "Bottleneck: load, busy 31 %; compose starved 88 %."


def test_idle_cores_are_counted_by_cpu_time_where_it_is_known() -> None:
    hardware = {"cpu": "A CPU", "cores": 8, "memory_gb": 16.0, "gpus": []}
    assert report.advice(profile(hardware=hardware)).startswith("About 6.6 of 8 cores did not work")
    assert report.advice(profile(hardware=hardware, cpu_s=200.0)).startswith("About 3.0 of 8 cores did not")
    assert report.advice(profile(hardware=hardware, cpu_s=310.0)).startswith("No core sits idle")
    assert "2 pages/s, 2 failed, 5.0 of 8 cores used, peak" in report.render_text(
        profile(hardware=hardware, cpu_s=200.0)
    )


def test_a_run_too_short_to_fill_the_pipe_tells_what_a_longer_one_could_do() -> None:
    stages = [
        stage("load", 0.99, 0.0, 0.0),
        stage("recognise", 0.4, 0.6, 0.0, overlap=3, items=4, busy_s=3.9),
    ]
    stages[1]["capacity_per_s"] = 3.1
    short = profile(stages=stages, items=4, failed=0, seconds=6.0, cpu_s=5.6)
    assert report.finding(short) == (
        "Too few pages to fill the pipe. Most time went into recognise, 1.0 s a page."
    )
    assert (
        report.advice(short) == "A longer run of such pages could go at 1.43 pages/s."
    )  # 2 cores, 1.4 s each
    long = profile(stages=stages, items=400, seconds=600.0, cpu_s=560.0)
    assert report.finding(long).startswith("Bottleneck: recognise, busy 40 %")


def test_a_run_in_which_everything_failed_names_no_bottleneck_and_promises_nothing() -> None:
    failed = profile(items=0, failed=6)
    assert report.bottleneck_sentence(failed) == "Nothing could be read. See failures/ for the reasons."
    assert report.projection(failed) == {}


def test_busy_cores_ask_for_another_engine() -> None:
    stages = profile()["stages"]
    stages[0] = stage("load", 0.8, 0.0, 0.2)
    assert "faster engine for recognise" in report.advice(profile(stages=stages))


def test_a_gpu_asks_for_overlap_or_another_gpu() -> None:
    made = profile(hardware={"cpu": "A CPU", "cores": 64, "memory_gb": 512.0, "gpus": ["H200"]})
    assert "another GPU" in report.advice(made)


def test_empty_batches_ask_to_be_filled() -> None:
    stages = profile()["stages"]
    stages[1]["batch_fill"] = 0.3
    assert report.advice(profile(stages=stages)).startswith("Let batches fill")


def test_a_starved_source_is_named() -> None:
    stages = [stage("load", 0.2, 0.8, 0.0), stage("recognise", 0.5, 0.5, 0.0)]
    assert report.advice(profile(stages=stages)).startswith("load itself waited for input")


def test_a_run_that_was_mostly_opening_says_so() -> None:
    assert "Opening the models took 2.0 s of 5.0 s" in report.advice(profile(seconds=5.0))


def test_the_projection_pays_for_opening_once() -> None:
    assert report.projection(profile()) == {
        10_000: pytest.approx(2.0 + 10_000 * 38.0 / 80),
        40_781: pytest.approx(2.0 + 40_781 * 38.0 / 80),
    }


def test_a_run_in_which_nothing_happened_still_reports() -> None:
    made = nothing_ran()
    assert report.projection(made) == {}
    assert report.bottleneck_sentence(made).startswith("Nothing ran.")
    assert "0 pages" in report.render_text(made)
    assert "Nothing ran." in report.render_html(made)


def test_photos_are_not_called_pages() -> None:
    made = profile(unit="photo", skipped=3)
    short = profile(unit="photo", items=2, failed=0, stages=[stage("detect", 0.3, 0.7, 0.0, items=2)])
    short["bottleneck"] = "detect"
    told = [report.render_text(made, price=2.0), report.render_html(made), report.bottleneck_sentence(short)]
    assert "78 photos in 40 s" in told[0]
    assert "a million photos" in told[0].lower()
    assert "such photos could go at" in told[2]
    assert not [text for text in told if re.search(r"\bpages?\b(?!=)", text)]


def test_a_profile_without_stages_still_reports() -> None:
    made = profile(stages=[], timeline={"bin_s": 1.0, "stages": {}}, bottleneck=None)
    assert "Nothing ran." in report.render_text(made)
    assert "Nothing ran." in report.render_html(made)


def test_the_text_stays_within_fifteen_lines_and_a_terminals_width() -> None:
    many = [stage(f"stage{number}", number / 20, 1 - number / 20, 0.0) for number in range(20)]
    told = report.render_text(profile(stages=many, bottleneck="stage19", skipped=12)).splitlines()
    assert len(told) <= 15
    assert max(len(line) for line in told) <= 110
    assert "stage19" in told[-1]


def test_the_text_tells_the_totals_and_the_projection() -> None:
    told = report.render_text(profile(skipped=1200))
    assert "78 pages in 40 s, 1,200 done before, 2 pages/s, 2 failed, peak memory 812 MB." in told
    assert "At this rate: 10,000 pages in 1 h 19 min, 40,781 pages in 5 h 23 min." in told


def watched(**more: Any) -> dict[str, Any]:
    """A run that had a card and two servers."""
    ramp = [min(1.0, second / 8) for second in range(39)]
    card = {
        "index": 0, "name": "NVIDIA H200", "load": {"mean": 0.93, "peak": 1.0}, "memory_peak_mb": 131_072.0,
        "memory_total_mb": 143_771.0, "power_w": {"mean": 588.0, "peak": 701.0}, "energy_wh": 6.5,
    }  # fmt: skip
    server = {
        "url": "http://127.0.0.1:8000", "looks": 40, "missed": 0, "running": {"mean": 480.0, "peak": 512.0},
        "waiting": {"mean": 12.0, "peak": 90.0}, "kv": {"mean": 0.41, "peak": 0.62}, "kv_tokens": 900_000,
        "prefix_hit_share": 0.02, "mm_hit_share": 0.0, "mean_step_tokens": 3_100.0, "requests": 320,
        "prompt_tokens": 260_000, "cached_tokens": 0, "generation_tokens": 30_800, "preemptions": 0,
    }  # fmt: skip
    line = {"running": [960 * one for one in ramp], "waiting": [20.0, None, 180.0] * 13}
    made = profile(
        gpu={
            "source": "NVML", "cards": [card, {**card, "index": 1}], "energy_wh": 13.0,
            "timeline": {"bin_s": 1.0, "load": [ramp, ramp[::-1]]},
        },
        servers={
            "each": [server, server],
            "timeline": {"bin_s": 1.0, **line, "kv": [[0.6 * one for one in ramp], []]},
        },
        **more,
    )  # fmt: skip
    limits = [Limits(1_024, 32_768)] * 2
    made["bounds"] = bounds(made["servers"]["each"], limits, 1_024, made["gpu"])
    made["cost"] = cost(made)
    return made


def test_cards_and_servers_take_six_lines_of_the_text() -> None:
    before = report.render_text(profile()).splitlines()
    told = report.render_text(watched()).splitlines()
    assert len(told) == len(before) + 1 + 6
    assert max(len(line) for line in told) <= 140
    assert told[-6:] == [
        "GPU: 2 × NVIDIA H200, busy 93 %, peak memory 128.00 GB, 1,176 W, 13.0 Wh.",
        "2 servers: running 960 (peak 1,024), waiting 24 (peak 180), KV cache 41 % (peak 62 %).",
        "640 requests, 520,000 tokens in, 61,600 out, prefix cache hits 2 %, picture cache hits 0 %.",
        "At once: 80 prompts a step, 1,024 allowed in flight, 1,980 by KV cache, 2,048 sequences.",
        "The client's limit of 1,024 rules: raise --in-flight to 1,980.",
        "A million pages: 264 GPU hours, 154 kWh; a page: 6,667 tokens in, 790 tokens out.",
    ]
    assert "660 at 2.5 an hour" in report.render_text(watched(), price=2.5)


def test_what_bounds_the_servers_is_the_advice_for_the_stage_that_asks_them() -> None:
    made = watched()
    made["bounds"]["stage"] = "recognise"
    assert report.advice(made) == made["bounds"]["sentence"]
    assert report.render_text(made).count(made["bounds"]["sentence"]) == 1
    made["bounds"]["stage"] = "load"
    assert report.advice(made) != made["bounds"]["sentence"]


def test_a_price_tells_what_a_machine_without_a_card_costs() -> None:
    told = report.render_text(profile(), price=0.5).splitlines()
    assert told[-1] == "A million pages: 132 hours of this machine, 65.97 at 0.5 an hour."


def test_the_page_draws_what_was_watched() -> None:
    text = report.render_html(watched())
    page = Page(text)
    assert page.open == []
    assert page.fetched == []
    svgs = [svg for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL) if 'class="chart"' in svg]
    assert len(svgs) == 3
    for svg in svgs:
        ElementTree.fromstring(svg)
        drawn = re.findall(r'class="line \w+" d="([^"]*)"', svg)
        assert all(0 <= float(number) <= 300 for path in drawn for number in re.findall(r"[\d.-]+", path))
    for told in ("GPU load", "KV cache", "13.0 Wh", "tokens out a page", "raise --in-flight"):
        assert told in text
    assert "Cards and servers" not in report.render_html(profile())


def test_what_servers_and_cards_are_called_is_escaped() -> None:
    made = watched()
    evil = '<script>alert("$HOME & co")</script>'
    made["gpu"]["cards"][0]["name"] = made["servers"]["each"][0]["url"] = made["bounds"]["sentence"] = evil
    text = report.render_html(made)
    assert "<script" not in text
    assert Page(text).open == []


class Page(HTMLParser):
    """Collects what a browser would fetch or run, and the tags left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "action")]
        self.fetched += [tag] if tag in ("script", "link", "iframe", "object") else []
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that closes itself."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_else() -> None:
    text = report.render_html(profile())
    page = Page(text)
    assert page.open == []
    assert page.fetched == []
    assert not re.findall(r"@import|https?://|url\((?!#)", text)


def test_the_page_tells_what_the_text_tells() -> None:
    text = report.render_html(profile())
    for told in (
        "Bottleneck: <em>recognise</em>, busy 97 %",
        "812 MB",
        "40,781",
        "A CPU, 2 cores",
        "2 processes",
    ):
        assert told in text
    assert "prefers-color-scheme: dark" in text


def test_the_pictures_are_well_formed_and_stay_in_their_lanes() -> None:
    made = profile(seconds=39.3)
    made["timeline"]["stages"]["load"][3] = [9.0, 9.0, 9.0]  # a span counted past its bin
    svgs = re.findall(r"<svg.*?</svg>", report.render_html(made), re.DOTALL)
    assert len(svgs) == 2 + 3
    for svg in svgs:
        ElementTree.fromstring(svg)
    timeline = next(svg for svg in svgs if 'class="timeline"' in svg)
    assert "nan" not in timeline
    ys = [float(y) for y in re.findall(r"V(-?[\d.]+)", timeline)]
    assert min(ys) >= -0.1
    xs = [float(x) for x in re.findall(r"H(-?[\d.]+)", timeline)]
    assert max(xs) <= 960


def test_a_long_run_does_not_make_a_large_page() -> None:
    made = profile(seconds=40_000.0)
    for name in made["timeline"]["stages"]:
        made["timeline"]["stages"][name] = [[0.5, 0.3, 0.2]] * 40_000
    assert len(report.render_html(made)) < 200_000


def test_everything_foreign_is_escaped() -> None:
    made = copy.deepcopy(profile())
    evil = '<script>alert("$HOME & co")</script>'
    made["command"] = made["executor"] = made["started"] = evil
    made["hardware"]["cpu"] = evil
    made["hardware"]["gpus"] = [evil]
    for one in made["stages"]:
        made["timeline"]["stages"][one["name"] + evil] = made["timeline"]["stages"].pop(one["name"])
        one["name"] += evil
    made["bottleneck"] += evil
    text = report.render_html(made)
    assert "<script" not in text
    assert Page(text).open == []
    assert "&lt;script&gt;alert(&quot;$HOME &amp; co&quot;)" in text


def test_what_is_written_can_be_read_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / ".profile.html.tmp").write_text("half a page, of a run that was killed")
    report.write(profile(), tmp_path)
    assert report.read(tmp_path) == json.loads(json.dumps(profile()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile.html", "profile.json"]


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"Cannot write .*profile\.json: No such file"):
        report.write(profile(), tmp_path / "gone")
    with pytest.raises(UsageError, match=r"holds no profile\.json"):
        report.read(tmp_path)


@pytest.mark.parametrize("text", ["not json", "[]", '{"version": 99}'])
def test_a_profile_we_cannot_read_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "profile.json").write_text(text)
    with pytest.raises(UsageError, match="Run again"):
        report.read(tmp_path)
