"""The doctor says what works here and how to get the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

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
    monkeypatch.setattr("penstock.processes.confinement.landlock_version", lambda: version)
    monkeypatch.setenv("PENSTOCK_READER_MEMORY_MB", "3000")
    assert "have 3,000 MB each and no keys" in told()
    assert words in told()


def test_what_is_absent_comes_with_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PENSTOCK_VLLM", raising=False)
    monkeypatch.setattr("penstock.cli.doctor._is_installed", lambda package: package != "lancedb")
    words = told()
    assert "pip install 'penstock-pipeline[search]'" in words
    assert "with --server URL" in words
    assert "lacks vLLM (pip install 'penstock-pipeline[vllm]'), a GPU" in words
