"""The profile's words: what they say of a run, and that they bear any run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.passes.prepared_run import write_profile
from penstock.trace import report
from penstock.trace.cost import with_price
from penstock.trace.phrases import duration
from penstock.trace.profile import HardwareFacts, Profile, StageTimeline
from tests.support.profiles import MACHINE, nothing_ran, profile, stage, watched


def sentences(made: Profile) -> str:
    return f"{report.finding(made)} {report.advice(made)}"


def test_the_sentence_names_the_bottleneck_who_waits_for_it_and_how_full_batches_are() -> None:
    told = report.finding(profile())
    assert told == (
        "Bottleneck: recognise, busy 97 %; load blocked 61 %; compose starved 88 %. Batches 92 % full."
    )


def test_a_stage_that_takes_one_item_a_call_has_no_word_on_batches() -> None:
    told = report.finding(profile(bottleneck="load"))
    assert told == "Bottleneck: load, busy 31 %; compose starved 88 %."


def test_idle_cores_are_counted_by_cpu_time_where_it_is_known() -> None:
    hardware = replace(MACHINE, cores=8)
    assert report.advice(profile(hardware=hardware)).startswith("About 6.6 of 8 cores did not work")
    assert report.advice(profile(hardware=hardware, cpu_s=200.0)).startswith("About 3.0 of 8 cores did not")
    assert report.advice(profile(hardware=hardware, cpu_s=310.0)).startswith("No core sits idle")
    assert "2 pages/s, 2 failed, 5.0 of 8 cores used, peak" in report.render_text(
        profile(hardware=hardware, cpu_s=200.0)
    )


def test_a_run_too_short_to_fill_the_pipe_tells_what_a_longer_one_could_do() -> None:
    stages = (
        stage("load", 0.99, 0.0, 0.0),
        stage("recognise", 0.4, 0.6, 0.0, overlap=3, items=4, busy_s=3.9, capacity_per_s=3.1),
    )
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
    assert sentences(failed) == "Nothing could be read. See failures/ for the reasons."
    assert report.projection(failed) == {}


def test_busy_cores_ask_for_another_engine() -> None:
    stages = (stage("load", 0.8, 0.0, 0.2), *profile().stages[1:])
    assert "faster engine for recognise" in report.advice(profile(stages=stages))


def test_a_gpu_asks_for_overlap_or_another_gpu() -> None:
    made = profile(hardware=HardwareFacts("", "A CPU", 64, 512.0, ("H200",)))
    assert "another GPU" in report.advice(made)


def test_empty_batches_ask_to_be_filled() -> None:
    load, recognise, compose = profile().stages
    stages = (load, replace(recognise, batch_fill=0.3), compose)
    assert report.advice(profile(stages=stages)).startswith("Let batches fill")


def test_a_starved_source_is_named() -> None:
    stages = (stage("load", 0.2, 0.8, 0.0), stage("recognise", 0.5, 0.5, 0.0))
    assert report.advice(profile(stages=stages)).startswith("load itself waited for input")


def test_a_run_that_was_mostly_opening_says_so() -> None:
    assert "Opening the models took 2.0 s of 5.0 s" in report.advice(profile(seconds=5.0))


def test_the_projection_pays_for_opening_once() -> None:
    assert report.projection(profile()) == {
        10_000: pytest.approx(2.0 + 10_000 * 38.0 / 80),
        100_000: pytest.approx(2.0 + 100_000 * 38.0 / 80),
    }


def test_a_sample_tells_how_long_the_whole_set_takes_with_hours_for_each_stage() -> None:
    made = profile(whole=40_781)
    assert report.projection(made) == {40_781: pytest.approx(2.0 + 40_781 * 38.0 / 80)}
    assert report.estimate(made) == "at this rate all 40,781 pages take 5 h 23 min"
    told = report.render_text(made)
    assert "At this rate: 40,781 pages in 5 h 23 min." in told
    [head, *rows] = told.splitlines()[-len(made.stages) - 1 :]
    assert head.endswith("for 40,781")
    for row, each in zip(rows, made.stages, strict=True):
        assert row.endswith(duration(40_781 / each.capacity_per_s))
    assert "<b>40,781</b> pages would take" in report.render_html(made)


def test_a_run_of_everything_is_no_sample() -> None:
    assert report.estimate(profile(whole=80)) == report.estimate(profile()) == ""


def test_a_run_in_which_nothing_happened_still_reports() -> None:
    made = nothing_ran()
    assert report.projection(made) == {}
    assert sentences(made).startswith("Nothing ran.")
    assert "0 pages" in report.render_text(made)
    assert "Nothing ran." in report.render_html(made)


def test_photos_are_not_called_pages() -> None:
    made = profile(unit="photo", skipped=3)
    stages = (stage("detect", 0.3, 0.7, 0.0, items=2),)
    short = profile(unit="photo", items=2, failed=0, stages=stages, bottleneck="detect")
    told = [report.render_text(with_price(made, 2.0)), report.render_html(made), sentences(short)]
    assert "78 photos in 40 s" in told[0]
    assert "a million photos" in told[0].lower()
    assert "such photos could go at" in told[2]
    assert not [text for text in told if re.search(r"\bpages?\b(?!=)", text)]


def test_a_profile_without_stages_still_reports() -> None:
    made = profile(stages=(), timeline=StageTimeline(), bottleneck="")
    assert "Nothing ran." in report.render_text(made)
    assert "Nothing ran." in report.render_html(made)


def test_the_text_stays_within_fifteen_lines_and_a_terminals_width() -> None:
    many = tuple(stage(f"stage{number}", number / 20, 1 - number / 20, 0.0) for number in range(20))
    told = report.render_text(profile(stages=many, bottleneck="stage19", skipped=12)).splitlines()
    wide = report.render_text(profile(stages=many, bottleneck="stage19", whole=10_000_000)).splitlines()
    assert len(told) <= 15 and len(wide) <= 15
    assert max(len(line) for line in (*told, *wide)) <= 110
    assert "stage19" in told[-1]


def test_the_text_tells_the_totals_and_the_projection() -> None:
    told = report.render_text(profile(skipped=1200))
    assert "78 pages in 40 s, 1,200 done before, 2 pages/s, 2 failed, peak memory 812 MiB." in told
    assert "At this rate: 10,000 pages in 1 h 19 min, 100,000 pages in 13 h 12 min." in told


def test_cards_servers_and_requests_take_nine_lines_of_the_text() -> None:
    before = report.render_text(profile()).splitlines()
    told = report.render_text(watched()).splitlines()
    assert len(told) == len(before) + 1 + 9
    assert max(len(line) for line in told) <= 140
    assert told[-9:] == [
        "GPU: 2 × NVIDIA H200, busy 93 % (median 97 %, peak 100 %), 1,176 W, 13.0 Wh.",
        "GPU memory 120 GiB, peak 128 GiB of 140.4 GiB, its bus busy 41 % (peak 72 %).",
        "GPU load while a stage worked: recognise 97 %, no stage at work 0 %.",
        "2 servers: running 960 (peak 1,024), waiting 24 (peak 180), KV cache 41 % (peak 62 %).",
        "640 requests, 520,000 tokens in, 61,600 out, prefix cache hits 2 %, picture cache hits 0 %.",
        "Requests: 640 answered, median 840 ms, 95 % 9.0 s, 99 % 1 min 12 s, 14,857 tokens/s in, 1,760 out.",
        "At once: 80 prompts a step, 1,024 allowed in flight, 1,980 by KV cache, 2,048 sequences.",
        "The client's limit of 1,024 decides: raise --in-flight to 1,980.",
        "A million pages: 264 GPU hours, 154 kWh; a page: 6,667 tokens in, 790 tokens out.",
    ]
    assert "660 at 2.5 an hour" in report.render_text(with_price(watched(), 2.5))


def test_what_bounds_the_servers_is_the_advice_for_the_stage_that_asks_them() -> None:
    found = watched().bounds
    assert found is not None
    made = replace(watched(), bounds=replace(found, stage="recognise"))
    assert report.advice(made) == found.sentence
    assert report.render_text(made).count(found.sentence) == 1
    assert report.advice(replace(made, bounds=replace(found, stage="load"))) != found.sentence


def test_a_price_tells_what_a_machine_without_a_card_costs() -> None:
    told = report.render_text(with_price(profile(), 0.5)).splitlines()
    assert told[-1] == "A million pages: 132 hours of this machine, 65.97 at 0.5 an hour."


def test_what_is_written_can_be_read_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    for made in (profile(), watched(), nothing_ran()):
        write_profile(made, tmp_path)
        assert report.read(tmp_path) == made
    assert sorted(path.name for path in tmp_path.iterdir()) == [".penstock", "profile.html", "profile.json"]


def test_a_folder_without_a_profile_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no profile\.json"):
        report.read(tmp_path)


# as it was written before `unit`, `regions` and `cpu_s` were there
OLD = {
    "version": 1, "started": "2026-11-15T10:21:07+09:00", "items": 7, "failed": 1, "skipped": 0,
    "executor": "local", "command": "penstock parse in -o out",
    "hardware": {"cpu": "A CPU", "cores": 2, "memory_gib": 23.5, "gpus": []}, "peak_rss_mb": 812.3,
    "seconds": 40.0, "bottleneck": "load",
    "timeline": {"bin_s": 0.25, "stages": {"load": [[0.2, 0.05, 0.0]]}},
    "stages": [
        {"name": "load", "workers": 1, "overlap": 1, "process": False, "items": 8, "calls": 8, "failed": 1,
         "restarts": 0, "open_s": 0.4, "busy": 0.8, "starved": 0.2, "blocked": 0.0, "busy_s": 32.0,
         "items_per_s": 0.2, "capacity_per_s": 0.25, "batch_fill": 1.0, "p50_ms": 61.0, "p95_ms": 140.0},
    ],
    "servers": {"each": [
        {"url": "http://localhost:8000", "samples": 3, "missed": 0, "running": {"mean": 2.0, "peak": 3.0}},
    ]},
}  # fmt: skip


def test_an_old_profile_is_read_and_unknown_keys_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(json.dumps({**OLD, "moon": "full"}))
    found = report.read(tmp_path)
    assert (found.unit, found.regions, found.cpu_s, found.finished) == ("page", 0, None, 8)
    assert "7 pages in 40 s" in report.render_text(found)
    assert "Bottleneck: <em>load</em>" in report.render_html(found)


def test_what_profile_json_holds_keeps_its_keys() -> None:
    def paths(value: object) -> set[str]:
        if isinstance(value, dict):
            return {f"{name}/{path}" for name, each in value.items() for path in paths(each)}
        return {path for each in value for path in paths(each)} if isinstance(value, list) else {""}

    old = paths({name: part for name, part in OLD.items() if name != "timeline"})
    assert old <= paths(watched().to_dict())
    assert not {"gpu", "servers", "bounds", "cost"} & set(profile().to_dict())


@pytest.mark.parametrize("text", ["not json", "[]", '{"version": 99}', '{"version": 1, "stages": 3}'])
def test_a_profile_we_cannot_read_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "profile.json").write_text(text)
    with pytest.raises(UsageError, match="Run again"):
        report.read(tmp_path)
