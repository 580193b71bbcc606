"""LangChain, LlamaIndex and Haystack answer a question over our sample by our packages for them.

The answer leads back to the words of its page. `make test-clients` installs the frameworks.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock
from tests.conftest import SAMPLE

FRAMEWORKS = Path(__file__).parent / "frameworks.py"
QUESTION = "What waits behind a dam above a valley?"
pytestmark = pytest.mark.slow  # each framework takes seconds to start, and reads the sample


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "out"
    list(penstock.parse(SAMPLE, out=folder, layout="rules"))
    return folder


@pytest.mark.parametrize("way", ["langchain", "llama_index", "haystack"])
def test_a_framework_answers_and_leads_back_to_the_place(way: str, out: Path) -> None:
    told = answered(way, out)
    metadata = told["metadata"]
    assert "a lake waits behind a dam" in told["text"]
    assert (metadata["source"], metadata["page"], metadata["kind"]) == (SAMPLE.name, 1, "text")
    assert told["pieces"] == len(list(penstock.open(out)[SAMPLE.name].passages()))
    there = penstock.open(out).at(metadata["locator"])
    assert there.text == told["text"]
    assert all(
        page == 1 and 0 <= left < right <= 1000 for page, left, _, right, _ in json.loads(metadata["boxes"])
    )
    assert all(isinstance(value, str | int | float) for value in metadata.values())


def answered(way: str, out: Path) -> dict[str, Any]:
    venv = os.environ.get("PENSTOCK_TEST_CLIENTS")
    if not venv:
        pytest.skip("needs other projects' frameworks: run `make test-clients`")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [Path(venv) / "bin" / "python", FRAMEWORKS, way, QUESTION, SAMPLE, out],
        capture_output=True, text=True, timeout=300, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
