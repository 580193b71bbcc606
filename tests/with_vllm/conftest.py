"""A real vLLM server with a tiny checkpoint, started as a managed server is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engines.chat import recognisers
from penstock.engines.vllm.presets import preset
from penstock.engines.vllm.probe import Watch
from penstock.engines.vllm.server import ManagedServer
from tests.with_vllm.tiny import ENV, KEY, NAME, NARROW, PLAIN, SMALL, START_S


@pytest.fixture(scope="session")
def checkpoints() -> Iterator[Path]:
    """The folder of tiny checkpoints that `make test-vllm` makes."""
    venv = os.environ.get("PENSTOCK_TEST_VLLM")
    if not venv:
        pytest.skip("needs a real vLLM: run `make test-vllm`")
    os.environ["PENSTOCK_VLLM"] = str(Path(venv) / "bin" / "vllm")
    yield Path(venv) / "checkpoints"
    del os.environ["PENSTOCK_VLLM"]


@pytest.fixture(scope="session")
def server(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedServer]:
    """One server for all tests that leave it alive."""
    made = ManagedServer(
        str(checkpoints / "tiny-glm-ocr"),
        preset("cpu"),
        extra_args=SMALL,
        log_path=tmp_path_factory.mktemp("vllm") / "server.log",
        served_name=NAME,
        env=ENV,
        deadline_s=START_S,
    )
    with made:
        yield made


@pytest.fixture(scope="session")
def fragile(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedServer]:
    """One that may be killed: it is watched closely, wants a key, encodes little and lets few wait."""
    made = ManagedServer(
        str(checkpoints / "tiny-glm-ocr"),
        preset("cpu"),
        extra_args=(*NARROW, "--max-num-queued-reqs", "4", "--trust-request-mm-kwargs"),
        log_path=tmp_path_factory.mktemp("vllm") / "fragile.log",
        served_name=NAME,
        env={**ENV, "VLLM_API_KEY": KEY},
        probe=False,  # the probe has no key
        deadline_s=START_S,
        watch=Watch(every_s=1.0, answer_s=3.0, misses=2),
    )
    with made:
        yield made


@pytest.fixture
def tiny_recogniser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recogniser `tiny`, for recipes that ask one of these servers."""
    monkeypatch.setattr(recognisers, "RECOGNISERS", {**recognisers.RECOGNISERS, "tiny": PLAIN})
