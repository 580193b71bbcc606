"""Every preset gives a whole command, and every number in it a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.engine import app
from penstock.engines.vllm import log as vllm_log
from penstock.engines.vllm.deepseek_presets import page_preset
from penstock.engines.vllm.embedding_presets import embedding_preset
from penstock.engines.vllm.presets import PRESETS, Card, cards, preset, read_cards
from penstock.errors import UsageError
from penstock.telemetry import OFF


@pytest.mark.parametrize("name", PRESETS)
def test_every_flag_has_a_reason(name: str) -> None:
    for flag in (*PRESETS[name].all_flags(cores=64), *PRESETS[name].env):
        assert len(flag.why) > 10 or flag.why == "every CPU has it" or flag.why == "the same", flag


@pytest.mark.parametrize("name", PRESETS)
def test_a_server_reports_to_nobody_unless_the_user_wants_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in OFF:
        monkeypatch.delenv(variable, raising=False)
    assert OFF.items() <= PRESETS[name].environment(0).items()
    monkeypatch.setenv("VLLM_NO_USAGE_STATS", "0")
    assert PRESETS[name].environment(0)["VLLM_NO_USAGE_STATS"] == "0"


@pytest.mark.parametrize("name", PRESETS)
def test_a_full_page_picture_fits_into_one_step(name: str) -> None:
    values = {flag.name: flag.value for flag in PRESETS[name].all_flags(cores=64)}
    assert int(values["--max-num-batched-tokens"] or 0) >= 6_144
    assert int(values["--max-model-len"] or 0) >= 6_144 + 8_192


@pytest.mark.parametrize("name", [n for n in PRESETS if n != "cpu"])
def test_the_servers_of_a_card_leave_room_for_the_layout(name: str) -> None:
    values = {flag.name: flag.value for flag in PRESETS[name].all_flags(cores=64)}
    assert PRESETS[name].servers * float(values["--gpu-memory-utilization"] or 1) <= 0.9


def test_api_processes_follow_the_cores() -> None:
    assert "--api-server-count" not in preset("h200").command("m", port=1, cores=2)
    command = preset("h200").command("m", port=1, cores=64)
    assert command[command.index("--api-server-count") + 1] == "4"


def test_one_server_has_all_the_api_processes_of_its_card() -> None:
    card = Card(0, "NVIDIA H200", 150.0)
    for chosen in (embedding_preset("auto", card), page_preset("auto", card)):
        command = chosen.command("m", port=1, cores=16)
        assert command[command.index("--api-server-count") + 1] == "8"


def test_the_users_flags_replace_ours() -> None:
    command = preset("l4").command(
        "m", port=1, extra_args=["--max-num-seqs", "7", "--enable-prefix-caching"], cores=2
    )
    assert command.count("--max-num-seqs") == 1
    assert command[command.index("--max-num-seqs") + 1] == "7"
    assert "--no-enable-prefix-caching" not in command
    assert command[:3] == ["vllm", "serve", "m"]


@pytest.mark.parametrize(
    ("name", "gigabytes", "expected"),
    [
        ("NVIDIA B200", 191.5, "b200"),
        ("NVIDIA H200", 150.7, "h200"),
        ("NVIDIA H100 80GB HBM3", 85.5, "a100"),
        ("NVIDIA A100-SXM4-40GB", 42.9, "a100"),
        ("NVIDIA L4", 24.2, "l4"),
        ("NVIDIA L40S", 48.3, "a100"),
        ("NVIDIA GeForce RTX 4090", 25.7, "rtx4090"),
        ("NVIDIA GeForce RTX 4060", 8.6, "rtx4060"),
        ("NVIDIA GeForce RTX 3090", 25.7, "l4"),
    ],
)
def test_auto_goes_by_the_card(name: str, gigabytes: float, expected: str) -> None:
    assert preset("auto", Card(0, name, gigabytes)).name == expected


def test_auto_without_a_card_is_cpu_and_with_a_tiny_one_a_sentence() -> None:
    assert preset("auto").name == "cpu"
    with pytest.raises(UsageError, match="the smallest preset needs 8"):
        preset("auto", Card(1, "GT 1030", 2.1))
    with pytest.raises(UsageError, match="Known: auto, b200"):
        preset("t4")


def test_the_drivers_list_is_read() -> None:
    listing = "0, NVIDIA H200, 143771\n1, NVIDIA H200, [N/A]\nFailed to initialize NVML\n"
    found = read_cards(listing)
    assert [(card.index, round(card.memory_gb)) for card in found] == [(0, 151), (1, 0)]


def test_dry_run_prints_the_full_command_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    result = CliRunner().invoke(app, ["start", "glm-ocr", "--preset", "l4", "--dry-run"])
    assert result.exit_code == 0, result.output
    first = result.output.splitlines()[0]
    assert first.startswith("CUDA_VISIBLE_DEVICES=0 ")
    assert "serve zai-org/GLM-OCR --served-model-name glm-ocr --host 127.0.0.1 --port 8000" in first
    assert "--max-num-seqs 128" in first
    assert "# --max-num-seqs 128: " in result.output
    assert not list(tmp_path.rglob("*.json"))


def test_dry_run_as_json_lists_every_server_of_every_card() -> None:
    arguments = ["start", "--preset", "h200", "--gpu", "0,1", "--dry-run", "--json", "--", "--seed", "3"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.output)
    assert [(row["gpu"], row["url"][-4:]) for row in rows] == [
        (0, "8000"),
        (0, "8001"),
        (1, "8002"),
        (1, "8003"),
    ]
    assert all(row["command"][-2:] == ["--seed", "3"] for row in rows)
    assert rows[0]["why"]["--max-num-batched-tokens"]


def test_wrong_calls_are_sentences() -> None:
    for arguments, words in (
        (["start", "--preset", "t4", "--dry-run"], "no preset 't4'"),
        (["start", "openai", "--dry-run"], "no model of its own"),
        (["start", "--preset", "l4", "--gpu", "x", "--dry-run"], "not a list of numbers"),
        (["stop", "nobody"], "No server is called nobody"),
        (["start", "--presett", "l4", "--dry-run"], "No such option"),
    ):
        result = CliRunner().invoke(app, arguments)
        assert words in f"{result.output}{result.exception}"


CRASH = """\
(APIServer pid=7) INFO 11-15 02:34:56 [api_utils.py:286] non-default args: {'model_tag': 'm'}
(EngineCore pid=9) ERROR 11-15 02:35:10 [core.py:900] EngineCore failed to start.
(EngineCore pid=9) ERROR 11-15 02:35:10 [core.py:900] Traceback (most recent call last):
(EngineCore pid=9) ERROR 11-15 02:35:10 [core.py:900]   File "worker.py", line 3, in init
(EngineCore pid=9) ERROR 11-15 02:35:10 [core.py:900] ValueError: Free memory on device (3.1/22.0 GiB) \
on startup is less than desired GPU memory utilization (0.8, 17.6 GiB).
(APIServer pid=7) Traceback (most recent call last):
(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above.
"""


def test_the_root_cause_is_found_in_the_log() -> None:
    words, advice = vllm_log.reason(CRASH)
    assert words.startswith("ValueError: Free memory on device (3.1/22.0 GiB)")
    assert "stop it" in advice


def test_a_log_without_an_error_gives_its_last_line() -> None:
    assert vllm_log.reason("one\ntwo\n\n")[0] == "two"
    assert vllm_log.reason("")[0] == "its log is empty"
    words, advice = vllm_log.reason("usage: vllm\nvllm serve: error: unrecognized arguments: --nope\n")
    assert "unrecognized arguments: --nope" in words
    assert "does not know the flag" in advice


def test_only_the_cards_left_to_us_get_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\necho '0, NVIDIA L4, 23034'\necho '1, NVIDIA L4, 23034'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [card.index for card in cards()] == [0, 1]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert [card.index for card in cards()] == [1]
