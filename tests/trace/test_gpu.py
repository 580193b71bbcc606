"""The watch over cards: NVML, nvidia-smi where there is none, and drivers that fail."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.testing import FAKE
from penstock.trace.gpu import GpuSampler
from penstock.trace.profile import GpuProfile, MeanAndPeak, Profile
from penstock.trace.timeline import Timeline
from penstock.trace.watch import RunWatch
from tests.support.command import here
from tests.support.waiting import wait_until

RUN = Profile(items=5, seconds=10.0, regions=40)


def fake_smi(folder: Path, body: str) -> None:
    script = folder / "nvidia-smi"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def smi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("penstock.trace.gpu._Nvml.open", lambda: None)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def times_asked(folder: Path) -> int:
    told = folder / "asked"
    return told.read_text().count("asked") if told.exists() else 0


def watched_cards(watch: RunWatch) -> GpuProfile:
    gpu = watch.add_to(RUN).gpu
    assert gpu is not None
    return gpu


CARDS = (
    "echo '0, NVIDIA H200, 97, 40, 131072, 143771, 600.50';"
    " echo '1, NVIDIA H200, [N/A], [N/A], 512, 143771, [N/A]'"
)


def test_nvidia_smi_is_asked_where_there_is_no_nvml(smi: Path) -> None:
    fake_smi(smi, f"echo asked >> {smi}/asked; {CARDS}")
    with RunWatch(every_s=0.05) as watch:
        wait_until(lambda: times_asked(smi) >= 4)
    told, gpu = watch.add_to(RUN), watched_cards(watch)
    first, second = gpu.cards
    assert gpu.source == "nvidia-smi"
    assert first.name == "NVIDIA H200"
    assert first.load and first.load.mean == pytest.approx(0.97)
    assert first.power_w and first.power_w.peak == 600.5
    assert first.energy_wh and first.energy_wh > 0
    assert (second.load, second.power_w, second.energy_wh) == (None, None, None)
    assert second.memory_peak_mb == 512
    assert told.cost and told.cost.cards == 1
    assert gpu.timeline.load[0][0] == pytest.approx(0.97)


# what nvidia-smi said, second by second: load, memory bus, MB in use
SECONDS_OF_A_CARD = [(0, 0, 1_000), (10, 5, 9_000), (30, 20, 9_000), (95, 60, 16_000), (40, 25, 15_000)]


def test_load_bandwidth_and_memory_have_their_mean_median_and_peak_by_phase(smi: Path) -> None:
    lines = [f"0, NVIDIA L4, {load}, {bus}, {used}, 23034, 60.0" for load, bus, used in SECONDS_OF_A_CARD]
    (smi / "lines").write_text("\n".join(lines) + "\n")
    fake_smi(smi, f'echo asked >> {smi}/asked; sed -n "$(wc -l < {smi}/asked)p" {smi}/lines')
    at_work = iter([[], ["load", "doclayout"], ["doclayout"], ["doclayout", "ask"], ["ask"]])
    sampler = GpuSampler(Timeline(), lambda: next(at_work))
    for second in range(len(lines)):
        sampler.look(float(second))
    found = sampler.summary()
    assert found is not None
    [card] = found.cards
    assert card.load == MeanAndPeak(pytest.approx(0.35), 0.95)
    assert card.load_p50 == 0.30
    assert card.bandwidth == MeanAndPeak(pytest.approx(0.22), 0.60)
    assert (card.memory_mean_mb, card.memory_peak_mb, card.memory_total_mb) == (10_000, 16_000, 23_034)
    phases = {phase.name: phase for phase in found.phases}
    assert {name: phase.samples for name, phase in phases.items()} == {
        "": 1, "load": 1, "doclayout": 3, "ask": 2,
    }  # fmt: skip
    assert phases["doclayout"].load == MeanAndPeak(pytest.approx(0.45), 0.95)
    assert phases["ask"].bandwidth == MeanAndPeak(pytest.approx(0.425), 0.60)
    assert phases[""].memory_mb == MeanAndPeak(1_000, 1_000)


def test_only_the_cards_we_may_use_are_told(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_smi(smi, f"echo asked >> {smi}/asked; {CARDS}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with RunWatch(every_s=0.05) as watch:
        wait_until(lambda: times_asked(smi) >= 3)
    assert [card.index for card in watched_cards(watch).cards] == [1]


@pytest.mark.parametrize(
    "body", ["echo 'NVIDIA-SMI has failed'; exit 9", "echo 'No devices were found'", "exit 0"]
)
def test_a_driver_that_fails_is_not_asked_for_ever(smi: Path, body: str) -> None:
    fake_smi(smi, f"echo asked >> {smi}/asked; {body}")
    with RunWatch(every_s=0.01) as watch:
        wait_until(lambda: not any(t.name == "watch-gpu" for t in threading.enumerate()))
    assert times_asked(smi) == 3
    assert watch.add_to(RUN) == RUN


def test_nvml_counts_energy_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Error(Exception):
        pass

    class Library:
        """The calls of nvidia-ml-py that we make."""

        NVMLError = Error
        energy = 1_000_000
        ended = False

        def nvmlInit(self) -> None: ...
        def nvmlShutdown(self) -> None:
            self.ended = True

        def nvmlDeviceGetCount(self) -> int:
            return 1

        def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
            return index

        def nvmlDeviceGetName(self, _: int) -> bytes:
            return b"NVIDIA B200"

        def nvmlDeviceGetUtilizationRates(self, _: int) -> Any:
            return type("Rates", (), {"gpu": 40, "memory": 9})

        def nvmlDeviceGetMemoryInfo(self, _: int) -> Any:
            return type("Memory", (), {"used": 2**30, "total": 2**37})

        def nvmlDeviceGetPowerUsage(self, _: int) -> int:
            raise Error("not supported")

        def nvmlDeviceGetTotalEnergyConsumption(self, _: int) -> int:
            self.energy += 3_600_000  # mJ: one watt hour
            return self.energy

    library = Library()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with RunWatch(every_s=0.05) as watch:
        wait_until(lambda: library.energy > 10_000_000)
    gpu = watched_cards(watch)
    (card,) = gpu.cards
    assert (gpu.source, card.name) == ("NVML", "NVIDIA B200")
    assert card.bandwidth and card.bandwidth.mean == pytest.approx(0.09)
    assert card.load and card.load.mean == pytest.approx(0.4)
    assert card.power_w is None
    assert card.energy_wh and card.energy_wh >= 1
    assert card.memory_peak_mb == 1024
    assert library.ended


def test_a_parse_writes_what_was_watched_into_its_profile(smi: Path, tmp_path: Path) -> None:
    fake_smi(smi, CARDS)
    out = tmp_path / "out"
    sample = Path(penstock.__file__).parent / "sample" / "sample.pdf"
    done = here("parse", sample, "-o", out, "--recipe", FAKE, "--profile")
    assert done.returncode == 0, done.stderr
    assert "GPU: 2 × NVIDIA H200, busy 97 %" in done.stdout
    profile = json.loads((out / "profile.json").read_text("utf-8"))
    assert profile["cost"]["cards"] == 1
    assert profile["regions"] >= 0
    [first, _] = profile["gpu"]["cards"]
    assert (first["load_p50"], first["bandwidth"]["peak"], first["memory_mean_mb"]) == (0.97, 0.4, 131_072)
    assert {phase["name"] for phase in profile["gpu"]["phases"]} <= {
        "",
        "load",
        "fake_layout",
        "fake_recognise",
    }
    assert "Cards and servers" in (out / "profile.html").read_text("utf-8")
