"""Other projects' own clients, from the package index, ask our service and understand what it answers.

The document is our sample; what it says is written here by hand. `make test-clients` installs the clients. Of
Open WebUI and RAGFlow (as deepdoc-lib has it), the files of their loaders ask, without the rest of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.guard.keys import KeyOwner, hash_of
from tests.support.running_service import SAMPLE, Client, free_port
from tests.support.waiting import wait_until
from tests.with_clients.ask import KEY

TYPESCRIPT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
ASK = Path(__file__).parent / "ask.py"
NAME = "보고서 1.pdf"
WAYS = ("mistral", "mistral_files", "docling", "docling_polling", "docling_serve_client", "glmocr", "zai")
LOADERS = ("external", "docling", "mistral", "paddleocr", "mineru")  # Open WebUI's that can ask any address


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
    folder, port = tmp_path_factory.mktemp("clients"), free_port()
    keys = folder / "keys.json"
    keys.write_text(json.dumps([asdict(KeyOwner(name="all", sha256=hash_of(KEY)))]))
    command = [
        "serve",
        str(folder / "out"),
        "--recipe",
        "documents",
        "--keys",
        str(keys),
        "--port",
        str(port),
    ]
    service = subprocess.Popen([sys.executable, "-m", "penstock", *command])
    client = Client(f"http://127.0.0.1:{port}")
    try:
        wait_until(lambda: _is_up(client), 300)
        yield client
    finally:
        service.send_signal(signal.SIGINT)
        service.wait(60)


def _is_up(client: Client) -> bool:
    with contextlib.suppress(OSError):
        return client("/health")[0] == 200
    return False


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(SAMPLE, tmp_path_factory.mktemp("document") / NAME))


@pytest.mark.parametrize("way", WAYS)
def test_a_client_gets_the_right_answer(way: str, service: Client, python: Path) -> None:
    told = asked(python, way, service.url)
    _is_the_sample(told)
    CHECKS.get(way, lambda _: None)(told)


@pytest.mark.parametrize("loader", LOADERS)
def test_open_webuis_loader_gets_the_right_answer(
    loader: str, service: Client, python: Path, document: Path
) -> None:
    _is_the_sample(asked(python, f"open_webui_{loader}", service.url, document))


def test_ragflows_parser_finds_the_texts_and_their_places(
    service: Client, python: Path, document: Path
) -> None:
    told = asked(python, "ragflow", service.url, document)
    _is_the_sample(told)
    assert set(told["kinds"]) >= {"text", "table"}
    for [page], left, right, top, bottom in told["places"]:
        width, height = told["sizes"][page]
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height


def test_the_typescript_client_gets_the_right_answer(service: Client, document: Path) -> None:
    ask = TYPESCRIPT / "test" / "ask.mjs"
    done = subprocess.run(
        ["node", ask, service.url, KEY, document], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    _is_the_sample({**told, "markdown": told["markdown"].removeprefix("<!-- page 1 -->\n\n")})
    assert told["markdown"].startswith(told["first"].rstrip()) and told["regions"] > 3
    assert told["states"][-1] == "done" and not told["left"]
    assert told["picture"][0] == "image/jpeg" and told["picture"][1] > 500
    assert told["error"][:2] == [True, 404]
    assert told["unasked"].endswith("Is `penstock serve` running there?")
    assert told["unread"] == [404, "There is no document 'no.pdf'."]


def test_the_typescript_client_refuses_wrong_calls_when_it_is_compiled(python: Path) -> None:
    tsc = TYPESCRIPT / "node_modules" / ".bin" / "tsc"
    done = subprocess.run([tsc, "-p", TYPESCRIPT / "test"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_nothing_of_what_they_uploaded_is_left(service: Client) -> None:
    assert service("/v1/files", Authorization=f"Bearer {KEY}")[1]["data"] == []


def _is_the_sample(told: dict[str, Any]) -> None:
    assert told["pages"] == 4
    assert told["markdown"].startswith("# The Pipe That Feeds the Turbines\n")
    assert "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다" in told["markdown"]


def asked(python: Path, way: str, url: str, file: Path = SAMPLE) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, ASK, way, url, file], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
