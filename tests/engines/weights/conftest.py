"""An empty cache of models, and an index, a registry and a Hub on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engines.weights import fetch_line
from penstock.engines.weights import registry as weights
from tests.support.package_server import PackageServer, serving
from tests.support.small_models import CONTENT, IN_NPM, LAYOUT, ON_THE_HUB, OTHER, small


@pytest.fixture
def server() -> Iterator[PackageServer]:
    with serving() as made:
        yield made


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: PackageServer) -> Path:
    """An empty cache; three small models; an index, a registry and a home that are the test's."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "NPM_", "npm_", "HF_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(tmp_path / "home"),
        "PENSTOCK_CACHE": str(tmp_path / "cache"),
        "PENSTOCK_OFFLINE": "0",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": server.index,
        "NPM_CONFIG_REGISTRY": server.url,
        "HF_ENDPOINT": f"{server.url}/",
    }.items():
        monkeypatch.setenv(name, value)
    models = (small(LAYOUT, CONTENT), small(IN_NPM, OTHER), small(ON_THE_HUB, CONTENT))
    monkeypatch.setattr(weights, "MODELS", {model.name: model for model in models})
    monkeypatch.setattr(weights, "_failed", {})
    monkeypatch.setattr(fetch_line, "silent", False)
    return tmp_path / "cache" / "models"
