"""The doctor says what works here and how to get the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app


def told(*flags: str) -> str:
    done = CliRunner().invoke(app, ["doctor", *flags])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_recipe_and_every_extra_is_told() -> None:
    report = json.loads(told("--json"))
    assert report["recipes"]["documents"]["missing"] == []
    assert set(report["servers"]["lacks"]) == {"glm-ocr", "paddleocr-vl", "grounded"}
    assert {"gpu", "eval", "search", "hub", "photos", "ray", "serve"} <= set(report["extras"])
    assert "dev" not in report["extras"]


def test_source_on_the_path_that_nobody_installed_is_no_crash(tmp_path: Path) -> None:
    """The package is linked into a folder of its own; its metadata stays where it is."""
    (tmp_path / "penstock").symlink_to(Path(penstock.__file__).parent)
    code = (
        "import importlib.metadata as m, sys; from penstock.errors import DISTRIBUTION\n"
        "real = m.distribution\n"
        "def found(name):\n"
        "    if name == DISTRIBUTION: raise m.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "m.distribution = found; from penstock.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    assert "Extras    unknown: penstock-pipeline is not installed, only imported" in done.stdout


def test_a_machine_with_a_card_and_vllm_would_use_a_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\necho '0, NVIDIA L4, 23034'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PENSTOCK_VLLM", "vllm")
    assert "ready, preset l4" in told()


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (0, "this system cannot keep them from writing files and from the network"),
        (1, "they cannot write files, run programs\n"),
        (4, "they cannot write files, run programs, use TCP\n"),
    ],
)
def test_it_says_what_readers_of_files_may_do(
    monkeypatch: pytest.MonkeyPatch, version: int, words: str
) -> None:
    monkeypatch.setattr("penstock.cli.running.doctor.landlock_version", lambda: version)
    monkeypatch.setenv("PENSTOCK_READER_MEMORY_MB", "3000")
    assert "have 2.9 GiB each and no keys" in told()
    assert words in told()


def test_what_is_absent_comes_with_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PENSTOCK_VLLM", raising=False)
    monkeypatch.setattr("penstock.cli.running.doctor._is_installed", lambda package: package != "lancedb")
    words = told()
    assert "pip install 'penstock-pipeline[search]'" in words
    assert "with --server URL" in words
    assert "lacks vLLM (pip install 'penstock-pipeline[vllm]'), a GPU" in words
