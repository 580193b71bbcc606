"""`penstock.check`, `profile`, `models` and `run`: what the command line says, as values."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.engines.weights.registry import MODELS
from penstock.errors import UsageError
from penstock.testing import FAKE


def test_a_damaged_shard_is_found_and_set_aside(small_run: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(small_run, tmp_path / "out"))  # other tests read the run itself
    assert penstock.check(out).damages == ()
    [shard] = (out / "items").glob("*.parquet")
    shard.write_bytes(shard.read_bytes()[:-9])
    [damage] = penstock.check(out).damages
    assert damage.path == shard
    assert penstock.check(out, repair=True).damages == (damage,)
    assert penstock.check(out).damages == ()
    assert not shard.exists()


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        penstock.check(tmp_path / "nowhere")


def test_a_profile_has_a_row_for_each_stage(tmp_path: Path) -> None:
    sample = Path(penstock.__file__).parent / "sample" / "sample.pdf"
    words = ["parse", str(sample), "-o", str(tmp_path / "out"), "--recipe", FAKE, "--to", "md"]
    assert CliRunner().invoke(app, words).exit_code == 0
    profile = penstock.profile(tmp_path / "out")
    assert (profile.items, profile.unit) == (4, "page")
    assert "fake_recognise" in [stage.name for stage in profile.stages]


def test_models_are_listed_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    assert [one.model.name for one in penstock.models()] == list(MODELS)
    [one] = penstock.models(["layout-cdla"])
    assert one.state == "missing"
    with pytest.raises(UsageError, match="no model 'whisper'"):
        penstock.models(["whisper"])


def test_a_pipeline_without_pages_is_refused_before_it_begins(tmp_path: Path) -> None:
    lines: list[str] = []
    options = penstock.PipelineOptions(out=tmp_path / "out", data=tmp_path / "data", recipe="documents")
    with pytest.raises(penstock.PenstockError):
        penstock.run("pages", options, on_line=lines.append)
    with pytest.raises(UsageError):
        penstock.run("no-such-pipeline", options, on_line=lines.append)
