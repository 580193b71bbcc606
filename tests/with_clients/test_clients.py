"""Other projects' own clients, from the package index, ask our service and understand what it answers.

The document is our sample; what it says is written here by hand. `make test-clients` installs the clients.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.passes.parse import ParseOptions
from penstock.serve.service import Service
from tests.support.running_service import SAMPLE, Client, Running

ASK = Path(__file__).parent / "ask.py"
WAYS = ("mistral", "docling", "docling_polling", "docling_serve_client", "glmocr", "zai")


def _has_pictures(told: dict[str, Any]) -> None:
    assert told["images"]
    assert all(told["images"])
    assert all(width and height for width, height in told["sizes"])


def _is_a_docling_document(told: dict[str, Any]) -> None:
    assert told["status"] == "success"
    assert told["tables"] >= 1


def _is_well(told: dict[str, Any]) -> None:
    assert (told["status"], told["health"]) == ("success", "ok")


def _has_labels(told: dict[str, Any]) -> None:
    assert set(told["labels"]) >= {"text", "table"}


CHECKS = {
    "mistral": _has_pictures,
    "docling": _is_a_docling_document,
    "docling_serve_client": _is_well,
    "glmocr": _has_labels,
    "zai": _has_labels,
}
pytestmark = pytest.mark.slow  # models are loaded, and each client takes seconds to start


@pytest.fixture(scope="module")
def python() -> Path:
    venv = os.environ.get("PENSTOCK_TEST_CLIENTS")
    if not venv:
        pytest.skip("needs other projects' clients: run `make test-clients`")
    return Path(venv) / "bin" / "python"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Iterator[Client]:
    reading = ParseOptions(inputs=())
    with (
        Service(tmp_path_factory.mktemp("out"), reading.plan()) as service,
        Running(service, reading=reading) as client,
    ):
        yield client


@pytest.mark.parametrize("way", WAYS)
def test_a_client_gets_the_right_answer(way: str, service: Client, python: Path) -> None:
    told = asked(python, way, service.url)
    assert told["pages"] == 4
    assert told["markdown"].startswith("# The Pipe That Feeds the Turbines\n")
    assert "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다" in told["markdown"]
    CHECKS.get(way, lambda _: None)(told)


def asked(python: Path, way: str, url: str) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, ASK, way, url, SAMPLE], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
