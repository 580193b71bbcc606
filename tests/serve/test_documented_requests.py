"""The requests that docs/how-to/integrations.md gives for Dify and n8n, sent to a service with a key."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.passes.parse import ParseOptions
from penstock.serve.guard.keys import KeyOwner, KeyRing, hash_of
from penstock.serve.reading.service import Service
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from tests.conftest import REPO
from tests.support.made_pdf import pdf, text
from tests.support.runnable_docs import code_blocks
from tests.support.running_service import Client, Running

KEY = "pk_of-the-tests"
BLOCKS = code_blocks(REPO / "docs" / "how-to" / "integrations.md")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    keys = KeyRing([KeyOwner(name="all", sha256=hash_of(KEY))])
    with (
        Service(tmp_path_factory.mktemp("out") / "out", fake()) as service,
        Running(service, keys=keys, reading=ParseOptions(inputs=(), recipe=FAKE)) as client,
    ):
        yield client


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf([text("one"), text("two")]))
    return path


def test_difys_request_gets_markdown(service: Client, document: Path) -> None:
    [command] = [block.code for block in BLOCKS if block.code.startswith("curl ")]
    here = command.replace("http://penstock:8080", service.url).replace("pk_…", KEY)
    done = subprocess.run(
        ["bash", "-c", here], cwd=document.parent, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.startswith("<!-- page 1 -->") and "<!-- page 2 -->" in done.stdout, done


def test_n8ns_node_sends_what_the_service_takes(service: Client, document: Path) -> None:
    [node] = [
        json.loads(block.code)["nodes"][0]["parameters"] for block in BLOCKS if block.language == "json"
    ]
    asked = "&".join(f"{one['name']}={one['value']}" for one in node["queryParameters"]["parameters"])
    [sent] = node["bodyParameters"]["parameters"]
    url = node["url"].replace("http://penstock:8080", service.url)
    command = ["curl", "-sS", "-X", node["method"], "-F", f"{sent['name']}=@{document}", f"{url}?{asked}"]
    without = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "key" in json.loads(without.stdout)["error"]
    done = subprocess.run(
        [*command, "-H", f"Authorization: Bearer {KEY}"], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.startswith("<!-- page 1 -->"), done
