"""Which cards are ours, however they are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.processes import resources
from penstock.processes.resources import environment, named_gpus, visible_gpus

FIRST, SECOND = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-f00dcafe-0000-4106-c12f-20bd9faed9f6"
SLICE = "MIG-8a4c6f3e-1111-5222-9333-444455556666"


@pytest.mark.parametrize(
    ("named", "seen"),
    [
        ("0,2", ["0", "2"]),
        (f"{FIRST},{SECOND}", [FIRST, SECOND]),
        (SLICE, [SLICE]),
        (f" {FIRST} , 1", [FIRST, "1"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
    ],
)
def test_cards_are_seen_by_number_uuid_and_slice(
    monkeypatch: pytest.MonkeyPatch, named: str, seen: list[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert visible_gpus() == seen
    assert [environment(1, gpu)["CUDA_VISIBLE_DEVICES"] for gpu in seen] == seen


@pytest.mark.parametrize(
    ("named", "numbers"),
    [
        ("1", {1}),
        (SECOND, {1}),
        ("gpu-8932F937", {0}),
        (f"{FIRST},{SECOND}", {0, 1}),
        (SLICE, None),
        ("", None),
    ],
)
def test_cards_named_by_uuid_have_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, numbers: set[int] | None
) -> None:
    """What nvidia-smi prints is written in its manual; no card is here."""
    script = tmp_path / "nvidia-smi"
    script.write_text(f"#!/bin/sh\necho '0, {FIRST}'\necho '1, {SECOND}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert named_gpus() == numbers


def test_limits_of_control_groups_count_from_the_own_group_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.write_text("1:cpu:/\n0::/system.slice/penstock.service\n")
    service = tmp_path / "cgroup" / "system.slice" / "penstock.service"
    service.mkdir(parents=True)
    monkeypatch.setattr(resources, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(resources, "OWN_CGROUP", own)
    free = (resources.cores(), resources.machine_memory_mb())
    (service / "memory.max").write_text("max\n")
    (service / "cpu.max").write_text("max 100000\n")
    assert (resources.cores(), resources.machine_memory_mb()) == free
    (service.parent / "memory.max").write_text(f"{300 << 20}\n")
    (service / "cpu.max").write_text("50000 100000\n")
    assert (resources.cores(), resources.machine_memory_mb()) == (1, 300)
    (service / "memory.max").write_text(f"{200 << 20}\n")
    assert resources.machine_memory_mb() == 200
