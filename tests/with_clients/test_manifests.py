"""Kubernetes' own schemas take our manifest, and refuse one with a wrong word."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPO

MANIFEST = REPO / "deploy" / "kubernetes.yaml"
pytestmark = pytest.mark.slow


def validated(path: Path) -> subprocess.CompletedProcess[str]:
    venv = os.environ.get("PENSTOCK_TEST_CLIENTS")
    if not venv:
        pytest.skip("needs kubernetes-validate: run `make test-clients`")
    command = [Path(venv) / "bin" / "kubernetes-validate", "--strict", path]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_manifest_is_what_kubernetes_takes(tmp_path: Path) -> None:
    done = validated(MANIFEST)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(MANIFEST.read_text("utf-8").replace("completionMode:", "completionMood:"), "utf-8")
    assert validated(wrong).returncode != 0
