"""Which servers a pipeline really starts, in which order, and that all of them end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from penstock.engines.vllm.early_server import NICENESS
from penstock.engines.vllm.memory_budget import KV_FLAG
from penstock.passes.pipeline import Pipeline
from penstock.passes.pipeline_check import chosen_steps
from tests.support.embedding_server import WIDTH
from tests.support.kopub_dataset import write_dataset
from tests.support.pipeline_calls import served
from tests.support.vllm_stand_in import Life
from tests.support.waiting import wait_until

READS, EMBEDS = "GLM-OCR", "Qwen3-VL-Embedding-2B"
STEPS = chosen_steps(None, ("evaluate", "index"))
Machine = Callable[[str, int], Life]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    write_dataset(tmp_path / "set")
    return lambda name, mib: Life(tmp_path / "bin", monkeypatch, name, mib)


def test_on_a_large_card_the_one_that_embeds_starts_beside_the_two_that_read(
    tmp_path: Path, machine: Machine
) -> None:
    life = machine("NVIDIA H200", 143_771)
    pipeline = Pipeline(served(tmp_path))
    list(pipeline.run(STEPS))
    assert pipeline.state.pages["done"] == 4
    assert np.load(tmp_path / "output" / "embeddings" / "corpus_ocr_text.npy").shape == (4, WIDTH)
    told = life.brief()
    assert [told.count(f"launched {name}") for name in (READS, EMBEDS)] == [2, 1]
    assert told.index(f"launched {EMBEDS}") < told.index(f"ended {READS}")
    assert told[-1] == f"ended {EMBEDS}" and life.is_over()
    [one] = [event for event in life.events() if event.brief == f"launched {EMBEDS}"]
    assert one.value(KV_FLAG) == str(7 << 30)
    assert float(one.value("--gpu-memory-utilization")) < 0.13
    assert one.niceness == min(19, os.nice(0) + NICENESS)


def test_on_a_small_card_it_waits_until_those_that_read_have_ended(tmp_path: Path, machine: Machine) -> None:
    life = machine("NVIDIA L4", 23_034)
    list(Pipeline(served(tmp_path)).run(STEPS))
    assert life.brief() == [
        f"launched {READS}", f"ready {READS}", f"ended {READS}",
        f"launched {EMBEDS}", f"ready {EMBEDS}", f"ended {EMBEDS}",
    ]  # fmt: skip
    assert life.events()[3].value("--gpu-memory-utilization") == "0.85"


def test_memory_that_someone_else_holds_is_not_planned_with(tmp_path: Path, machine: Machine) -> None:
    life = machine("NVIDIA H200", 143_771)
    life.free(143_771 - 10_000)
    list(Pipeline(served(tmp_path)).run(STEPS))
    told = life.brief()
    assert told.index(f"launched {EMBEDS}") > max(
        n for n, line in enumerate(told) if line == f"ended {READS}"
    )


def test_one_that_cannot_start_beside_the_others_starts_when_they_have_ended(
    tmp_path: Path, machine: Machine
) -> None:
    life = machine("NVIDIA H200", 143_771)
    (life.folder / f"broken-{EMBEDS}").touch()
    pipeline = Pipeline(served(tmp_path))
    list(pipeline.run(STEPS))
    starts = [event for event in life.events() if event.brief == f"launched {EMBEDS}"]
    assert [KV_FLAG in start.words for start in starts] == [True, False]
    assert pipeline.state.embedded is not None and pipeline.state.embedded.pages == 4


def test_a_run_of_which_all_is_done_starts_no_server(tmp_path: Path, machine: Machine) -> None:
    life = machine("NVIDIA H200", 143_771)
    list(Pipeline(served(tmp_path)).run(STEPS))
    before = life.brief()
    again = Pipeline(served(tmp_path))
    list(again.run(STEPS))
    assert life.brief() == before
    assert again.state.pages == {"done": 0, "skipped": 4, "failed": 0}
    assert again.state.embedded is not None and again.state.embedded.skipped == 4


def test_pages_that_are_read_but_not_embedded_start_the_one_server(tmp_path: Path, machine: Machine) -> None:
    life = machine("NVIDIA H200", 143_771)
    list(Pipeline(served(tmp_path)).run(chosen_steps("ocr", ())))
    assert f"launched {EMBEDS}" not in life.brief()
    before = len(life.brief())
    list(Pipeline(served(tmp_path)).run(STEPS))
    assert life.brief()[before:] == [f"launched {EMBEDS}", f"ready {EMBEDS}", f"ended {EMBEDS}"]
    assert KV_FLAG not in life.events()[-1].words


def test_servers_elsewhere_leave_the_card_to_the_one_that_embeds(tmp_path: Path, machine: Machine) -> None:
    from penstock.testing.fake_server import FakeServer, serving

    life = machine("NVIDIA L4", 23_034)
    with serving(FakeServer(model="glm-ocr")) as url:
        list(Pipeline(replace(served(tmp_path), servers=(url,))).run(STEPS))
    assert life.brief() == [f"launched {EMBEDS}", f"ready {EMBEDS}", f"ended {EMBEDS}"]


@pytest.mark.parametrize("after", ["parse:", "check:"])
def test_a_pipeline_that_is_left_ends_all_that_it_started(
    tmp_path: Path, machine: Machine, after: str
) -> None:
    life = machine("NVIDIA H200", 143_771)
    lines = Pipeline(served(tmp_path)).run(STEPS)
    for line in lines:
        if after in line:
            lines.close()  # type: ignore[attr-defined]
    assert life.is_over()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_ended_while_servers_start_leaves_none(
    tmp_path: Path, machine: Machine, by: signal.Signals
) -> None:
    life = machine("NVIDIA H200", 143_771)
    for name in (READS, EMBEDS):
        (life.folder / f"slow-{name}").touch()
    words = ["run", "kopub", "--dataset", str(tmp_path / "set"), "--output-dir", str(tmp_path / "output")]
    recipe = ["--recipe", "glm-ocr", "--layout", "cdla", "--limit", "4"]
    running = subprocess.Popen([sys.executable, "-m", "penstock", *words, *recipe], stderr=subprocess.DEVNULL)
    wait_until(lambda: len(life.brief()) == 3 or running.poll() is not None, pause_s=0.05)
    running.send_signal(by)
    assert running.wait(60) != 0
    wait_until(life.is_over, pause_s=0.05)
    assert "ready" not in " ".join(life.brief())
    for name in (READS, EMBEDS):
        (life.folder / f"slow-{name}").unlink()
    pipeline = Pipeline(served(tmp_path))
    list(pipeline.run(STEPS))
    assert pipeline.state.pages["done"] == 4 and life.is_over()
