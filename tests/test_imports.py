"""The command line answers at once because it loads nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib

import pytest

from penstock.extras import EXTRAS
from penstock.telemetry import OFF
from tests.conftest import REPO

HEAVY = (
    "aiohttp",
    "cv2",
    "fastapi",
    "lancedb",
    "numpy",
    "onnxruntime",
    "pyarrow",
    "pydantic",
    "pypdfium2",
    "ray",
    "scipy",
    "torch",
    "transformers",
    "uvicorn",
    "vllm",
)


def loaded_after(code: str) -> list[str]:
    """The heavy modules that a fresh Python holds after these lines."""
    program = (
        "import atexit, json, sys\n"
        f"def tell(): print(json.dumps(sorted(set({HEAVY!r}) & set(sys.modules))), file=sys.stderr)\n"
        f"atexit.register(tell)\n{code}"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    return list(json.loads(shown.stderr.splitlines()[-1]))


@pytest.mark.parametrize("module", ["penstock", "penstock.cli", "penstock.cli.app"])
def test_importing_the_command_line_loads_nothing_heavy(module: str) -> None:
    assert loaded_after(f"import {module}") == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"sys.argv = {['penstock', *arguments]!r}\nfrom penstock.cli import main\nmain()"
    assert loaded_after(code) == []


def test_a_run_is_put_together_without_models_and_without_an_http_client() -> None:
    code = "import penstock.passes.parse, penstock.exports.export, penstock.exports.page_files"
    assert loaded_after(code) == ["numpy", "pyarrow"]


def test_converting_loads_neither_model_servers_nor_photos_nor_evaluation() -> None:
    """It is the first thing a program does, and each of these costs it a tenth of a second or more."""
    rooms = (
        "penstock.engines.vllm.presets",
        "penstock.photos",
        "penstock.passes.photos",
        "penstock_eval",
    )
    code = (
        f"import sys, penstock; penstock.convert; print([name for name in {rooms!r} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert ran.stdout == "[]\n"


def test_every_public_name_is_there_without_any_extra() -> None:
    """The modules of all extras are hidden; tests/slow/test_installed.py has environments without them."""
    hidden = sorted({module for modules in EXTRAS.values() for module in modules})
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden!r}))\n"
        "import penstock\nprint(all(getattr(penstock, name) for name in penstock.__all__))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert ran.stdout == "True\n", ran.stderr


@pytest.mark.parametrize("value", ["0", None])
def test_reports_are_off_before_anything_is_imported_unless_the_user_wants_them(value: str | None) -> None:
    given = {name: text for name, text in os.environ.items() if name not in OFF}
    if value is not None:
        given["ORT_DISABLE_TELEMETRY"] = value
    code = "import os, json, penstock; print(json.dumps(dict(os.environ)))"
    ran = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=300)
    found = json.loads(ran.stdout)
    assert {name: found[name] for name in OFF} == {**OFF, "ORT_DISABLE_TELEMETRY": value or "1"}


def test_the_variables_that_are_set_are_in_the_page_for_those_who_install() -> None:
    page = (REPO / "docs" / "how-to" / "install.md").read_text("utf-8")
    assert [name for name, value in OFF.items() if f"| `{name}={value}` |" not in page] == []


def test_the_extras_are_those_that_can_be_installed() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    named = set(project["optional-dependencies"]) - {"all", "dev", "docs"}
    assert set(EXTRAS) == named
    assert {name: len(modules) for name, modules in EXTRAS.items()} == {
        name: len(project["optional-dependencies"][name]) for name in named
    }
