"""How our plugin reaches a server whose interpreter does not have us."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from penstock.engines.vllm.plugin import plugin_folder, vision_environment
from penstock.engines.vllm.presets import preset
from penstock.engines.vllm.server import ManagedServer
from penstock.engines.vllm.server_plan import reading_servers
from penstock.errors import UsageError
from tests.conftest import REPO

# what vLLM does with plugins, in an interpreter that has only its own library and the folder
LOAD = """
import sys
from importlib.metadata import entry_points
[found] = entry_points(group="vllm.general_plugins")
found.load()()
print(found.name, found.value, type(sys.meta_path[0]).__name__)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    return tmp_path


def test_a_bare_interpreter_finds_the_plugin_by_its_path(cache: Path) -> None:
    env = {**os.environ, **vision_environment("auto", {})}
    done = subprocess.run(
        [sys.executable, "-S", "-c", LOAD], env=env, cwd=cache, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["penstock_vision", "penstock.vllm_plugin:register", "_WhenImported"]
    assert done.stderr == ""


def test_the_folder_is_made_once(cache: Path) -> None:
    assert plugin_folder() == plugin_folder()
    assert [path.name for path in (cache / "vllm_plugin").iterdir()] == [plugin_folder().name]


def test_the_distribution_names_the_same_entry_point() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    [(name, value)] = project["entry-points"]["vllm.general_plugins"].items()
    [info] = plugin_folder().glob("*.dist-info")
    assert f"{name} = {value}" in (info / "entry_points.txt").read_text()


def test_a_servers_own_path_comes_first() -> None:
    server = ManagedServer("m", preset("cpu"), env={"PYTHONPATH": "/theirs"}, vision="fast")
    told = server.environment()
    assert told["PENSTOCK_VISION"] == "fast"
    assert told["PYTHONPATH"].split(os.pathsep) == ["/theirs", str(plugin_folder())]


def test_plain_reaches_a_plugin_that_is_installed() -> None:
    server = ManagedServer("m", preset("cpu"), vision="plain")
    assert server.environment()["PENSTOCK_VISION"] == "plain"
    assert "PYTHONPATH" not in server.environment()


def test_a_choice_of_servers_hands_the_tower_on() -> None:
    [choice] = reading_servers("glm-ocr", [], vision="plain")
    assert choice.managed().environment()["PENSTOCK_VISION"] == "plain"
    with pytest.raises(UsageError, match="--vision quick is not known"):
        reading_servers("glm-ocr", [], vision="quick")
